"""Graphs as one program for each core."""
