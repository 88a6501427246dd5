"""The eager tape: nodes, edges, hooks and modes, over any values."""
