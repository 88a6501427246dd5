"""Backward kernels of fusible nodes: what a sequence of eager ops' backwards computes, as one executable.

Calling a small kernel costs more than what it computes, so a sequence that comes again and again gets a kernel of its
own. It computes what its links compute apart, and only once it was seen often: a program that runs once compiles
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.facade.kernels.grad_kernels import GradKernel
from jaxaot.facade.kernels.kernels import remember
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.tape.fusible import FusibleNodes

OFTEN = 32
"""How often a sequence is run by its links before it gets a kernel."""

_MAX_COUNTED = 4096
_MAX_KERNELS = 256

_times_seen: dict[Any, int] = {}
_fused_kernels: dict[Any, Callable[..., Sequence[Any]]] = {}


def run_fused(fusible: FusibleNodes, cotangent: Array) -> Sequence[Any] | None:
    """Returns the gradients of the edges that lead out of a sequence.

    Args:
      fusible: Nodes with links, which have not been released.
      cotangent: Of the first.

    Returns:
      The gradients, in the order of `fusible.outer_edges()`; None if the sequence was not seen often enough, or if less
      than two of its links run anything.
    """
    links: list[GradKernel] = fusible.links
    # numbers and not kernels: a key holds nothing alive
    key = (*[link.number for link in links], *fusible.positions)
    kernel = _fused_kernels.get(key)
    if kernel is None:
        n = _times_seen.get(key, 0) + 1
        if n <= OFTEN or is_tracer(cotangent) or sum(not link.passes_through for link in links) < 2:
            # under a trace the links are inlined anyway; one link that runs is a kernel already
            remember(_times_seen, key, n, _MAX_COUNTED)
            return None
        kernel = fused_kernel(links, tuple(fusible.positions), [len(node.leaves) for node in fusible.nodes])  # type: ignore[attr-defined]
        remember(_fused_kernels, key, kernel, _MAX_KERNELS)
        _times_seen.pop(key, None)
    operands = [cotangent]
    for node in fusible.nodes:
        operands += node.leaves  # type: ignore[attr-defined]
    return kernel(*operands)


def fused_kernel(
    links: Sequence[GradKernel], positions: Sequence[int], n_leaves: Sequence[int]
) -> Callable[..., Sequence[Any]]:
    """Returns a kernel that takes a cotangent and the leaves of all links to the gradients that leave the sequence."""
    pulls = [link.pull.inside for link in links]

    def fused_backward(cotangent: Array, *leaves: object) -> Sequence[Any]:
        outer: list[Any] = []
        begin = 0
        for pull, n, position in zip(pulls, n_leaves, (*positions, None), strict=True):
            gradients = list(pull(leaves[begin : begin + n], [cotangent]))
            begin += n
            if position is not None:
                # the others leave the sequence: they are gradients of edges to other nodes
                cotangent = gradients.pop(position)
            outer += gradients
        return outer

    return EagerKernel(fused_backward)


def clear_fused() -> None:
    """Forgets all kernels of sequences, and how often sequences were seen."""
    _fused_kernels.clear()
    _times_seen.clear()
