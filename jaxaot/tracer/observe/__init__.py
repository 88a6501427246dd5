"""What a traced function reaches of Python: names, paths, guards, cells, writes, calls that differ each time."""
