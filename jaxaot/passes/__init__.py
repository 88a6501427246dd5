"""Graph to graph: small pure functions from a ClosedJaxpr to a ClosedJaxpr, one in each file."""
