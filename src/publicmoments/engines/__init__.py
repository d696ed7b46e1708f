"""Who sums the bounded rows. Engines only sum: they know no noise, budget or model."""
