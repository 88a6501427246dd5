"""Decides: a tensor program becomes a functional graph and plans."""
