"""The functions of networks (`torch.nn.functional`), from the op table."""

from __future__ import annotations

from jaxaot.tensor.methods import FUNCTIONS

globals().update(FUNCTIONS["nn.functional"])
