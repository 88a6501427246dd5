"""Fills the op table: importing this module imports every module of the room, each of which adds its rows."""

import importlib
import pkgutil

import jaxaot.ops

_NAMES = [found.name for found in pkgutil.iter_modules(jaxaot.ops.__path__) if not found.ispkg]

for _name in sorted(_NAMES, key=lambda name: (name == "value_checks", name)):  # checks belong to rows that are there
    importlib.import_module(f"jaxaot.ops.{_name}")
