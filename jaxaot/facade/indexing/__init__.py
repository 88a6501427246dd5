"""Indices, masks, and what stands in a trace for numbers of Python."""
