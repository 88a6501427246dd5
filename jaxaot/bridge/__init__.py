"""PyTorch's own modules on JAX; each module says what it is for."""
