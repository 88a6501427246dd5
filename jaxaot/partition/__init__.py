"""Which values cross from the forward to the backward, and the two graphs that follow from it."""
