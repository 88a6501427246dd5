"""`ja.autograd.graph`: hooks on what the tape saves (`torch.autograd.graph`)."""

from __future__ import annotations

from jaxaot.autograd.saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from jaxaot.autograd.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
from jaxaot.tensor.saved import SavedTensor as SavedTensor
