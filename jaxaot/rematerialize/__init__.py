"""Gradients of plain JAX functions with the partition inside one program."""
