"""Rewrites of matrix products."""
