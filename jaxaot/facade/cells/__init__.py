"""Mutable places of other libraries that hold bare arrays, and tensors on them."""
