"""Ops that return views, and their copies."""
