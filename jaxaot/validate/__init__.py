"""Proves that the guards of a program imply what its trace relied on."""
