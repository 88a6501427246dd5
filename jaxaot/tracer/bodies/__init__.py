"""Functions inside of a trace: bodies of control flow, pure functions, hooks."""
