"""Rewrites for graphs that XLA:CPU would compute wrongly, or could not compile."""
