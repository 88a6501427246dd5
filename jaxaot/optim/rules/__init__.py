"""The optimizers, and how each of them changes a parameter."""
