"""What a traced function reads and writes of Python: seen while it runs, and guarded."""
