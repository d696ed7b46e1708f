"""The door: the one place that charges an account and draws noise."""
