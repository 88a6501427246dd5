"""The mutable facade: tensors, the storages that they share, and how operations reach them."""

import importlib as _importlib

_importlib.import_module("jaxaot.facade.members.methods")  # a tensor has its methods, whatever is imported first
_importlib.import_module("jaxaot.facade.marks.einops_backend")
