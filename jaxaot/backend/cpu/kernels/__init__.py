"""Rewrites of what XLA:CPU makes slow kernels of."""
