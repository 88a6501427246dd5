"""The mutable facade: tensors, the storages that they share, and how operations reach them."""

import importlib as _importlib

for _name in ("methods", "leaves", "nodes"):  # a tensor has its methods and history, whichever module is imported first
    _importlib.import_module(f"jaxaot.facade.{_name}")
