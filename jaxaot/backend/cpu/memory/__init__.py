"""Graphs as several executables, and what the allocator keeps."""
