"""Archives: a function, saved to be called where its source is not; see README.md."""
