"""Leaves, backward, custom Functions, forward mode, recomputation, and checks of gradients."""
