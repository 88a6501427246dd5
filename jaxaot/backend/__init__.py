"""What is there for one platform alone: a folder for each."""
