"""Graphs that a process before this one tuned, kept in a directory: see docs/shipping.md."""
