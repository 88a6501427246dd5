"""Functions whose parameters are packed once, for inference; see README.md."""
