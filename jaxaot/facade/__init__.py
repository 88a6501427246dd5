"""The mutable facade: tensors, the storages that they share, and how operations reach them."""

import importlib as _importlib

for _name in ("members.methods", "gradients.leaves", "nodes.nodes"):  # a tensor has these, whatever is imported first
    _importlib.import_module(f"jaxaot.facade.{_name}")
