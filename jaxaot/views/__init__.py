"""Lenses on arrays: which elements of a storage a tensor shows, and how they are read and written."""
