"""Tensors that are made of tensors: how ops are carried out on them, their views and gradients."""
