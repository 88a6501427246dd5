"""Executables of ops and of their gradients, and what of an op its gradient needs."""
