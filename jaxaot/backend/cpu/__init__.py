"""What is there because of XLA:CPU: rewrites of graphs, and how they are run. README.md has the table."""
