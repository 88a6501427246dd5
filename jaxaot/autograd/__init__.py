"""The eager tape: nodes, the engine that runs them backward, and the modes that say what is recorded."""
