"""The way of an op to its tensors: read, compute, wrap or write, record."""
