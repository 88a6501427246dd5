"""The mutable facade: tensors, the storages that they share, and how operations reach them."""

import jaxaot.facade.methods  # noqa: F401  a tensor has its methods, whatever is imported first
