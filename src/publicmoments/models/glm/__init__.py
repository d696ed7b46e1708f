"""Generalised linear models: noisy gradients, and what explains them."""
