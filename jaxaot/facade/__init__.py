"""The mutable facade: tensors, the storages that they share, and how operations reach them."""

import importlib as _importlib

_importlib.import_module("jaxaot.facade.methods")  # a tensor has its methods, whichever module is imported first
