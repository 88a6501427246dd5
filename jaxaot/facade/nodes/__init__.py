"""Nodes of the tape for ops, views and writes, and what they hold."""
