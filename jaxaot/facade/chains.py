"""Backward kernels of straight chains: what a chain of eager ops' backwards computes, as one executable.

Calling a small kernel costs more than what it computes, so a chain that comes again and again gets a kernel of its own.
It computes what its links compute apart, and only once it was seen often: a program that runs once compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._jax import is_tracer
from jaxaot.facade.kernels import GradKernel, remember
from jaxaot.lower.program import Program
from jaxaot.tape.chain import Chain

OFTEN = 32
"""How often a chain is run by its links before it gets a kernel."""

_MOST_COUNTED = 4096
_MOST_KERNELS = 256

_times_seen: dict[Any, int] = {}
_chain_kernels: dict[Any, Callable[..., Sequence[Any]]] = {}


def run_chain(chain: Chain, cotangent: Any) -> Sequence[Any] | None:
    """Returns the gradients of the edges that lead out of a chain.

    Args:
      chain: Nodes with links, which have not been released.
      cotangent: Of the first.

    Returns:
      The gradients, in the order of `chain.outer_edges()`; None if the chain was not seen often enough, or if less
      than two of its links run anything.
    """
    links: list[GradKernel] = chain.links
    key = (*[link.number for link in links], *chain.positions)
    kernel = _chain_kernels.get(key)
    if kernel is None:
        n = _times_seen.get(key, 0) + 1
        if n <= OFTEN or is_tracer(cotangent) or sum(not link.relays for link in links) < 2:
            remember(_times_seen, key, n, _MOST_COUNTED)
            return None
        kernel = chain_kernel(links, tuple(chain.positions), [len(node.leaves) for node in chain.nodes])  # type: ignore[attr-defined]
        remember(_chain_kernels, key, kernel, _MOST_KERNELS)
        _times_seen.pop(key, None)
    operands = [cotangent]
    for node in chain.nodes:
        operands += node.leaves  # type: ignore[attr-defined]
    return kernel(*operands)


def chain_kernel(
    links: Sequence[GradKernel], positions: Sequence[int], n_leaves: Sequence[int]
) -> Callable[..., Sequence[Any]]:
    """Returns a kernel that takes a cotangent and the leaves of all links to the gradients that leave the chain."""
    pulls = [link.pull.inside for link in links]

    def chain_backward(cotangent: Any, *leaves: Any) -> Sequence[Any]:
        outer: list[Any] = []
        begin = 0
        for pull, n, position in zip(pulls, n_leaves, (*positions, None), strict=True):
            gradients = list(pull(leaves[begin : begin + n], [cotangent]))
            begin += n
            if position is not None:
                cotangent = gradients.pop(position)
            outer += gradients
        return outer

    return Program(chain_backward)


def clear_chains() -> None:
    """Forgets all kernels of chains, and how often chains were seen."""
    _chain_kernels.clear()
    _times_seen.clear()
