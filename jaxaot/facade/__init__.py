"""The mutable facade: tensors, the storages that they share, and how operations reach them."""
