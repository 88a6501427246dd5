"""Public transformations of tensor functions, built on the tracer."""
