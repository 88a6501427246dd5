"""Carries out: plans and executables become a call."""
