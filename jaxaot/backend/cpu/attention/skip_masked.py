"""Skipping what a mask discards: the half of an attention that looks ahead is not computed.

Where a mask does not depend on the inputs, such as a causal one, rows are computed in blocks, each with only the
columns that the mask leaves to some of its rows. This holds from the products before the mask to those behind the
softmax, and in the gradients. A *field* is a value with the rows and the columns of the mask. Here are the masks found,
and the blocks chosen; `masked_blocks.py` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.backend.cpu.analysis.blocks import Block, cut_in_blocks
from jaxaot.backend.cpu.analysis.fields import Fields, Graph
from jaxaot.backend.cpu.analysis.masks import Seed, seeds, small_constants
from jaxaot.backend.cpu.attention.masked_blocks import Blocked, NotUniform, Written
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import Drafts
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.rewriter import Rewriter
from jaxaot.passes.dce import dce

MAX_REFUSED = 16
"""How many fields are computed as a whole, one after the other, before the mask is left as it is."""


def skip_masked(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with masked attentions in blocks of rows, without what the mask discards.

        s: f32[256,256] = dot_general q k                     s0: f32[127,128] = dot_general q[:127] k[:128]
        m: f32[256,256] = select_n (i >= j) -1e9 s            s1: f32[129,256] = dot_general q[127:] k
        e: f32[256,256] = exp m                        →      m0 = select_n (i >= j)[:127,:128] -1e9 s0;  m1 = ...
        t: f32[256] = reduce_sum[axes=(1,)] e                 e0 = exp m0;  e1 = exp m1
        return t                                              t0 = reduce_sum e0 + 128 * e0[:,127]
                                                              t1 = reduce_sum e1
                                                              t = concatenate t0 t1
                                                              return t

    Blocks have about `min_block_rows` rows or more, and skip some part of all that the graph computes. Where what is
    outside of them is needed and no witness tells it, as with dropout, the graph stays as it is; so does one in half
    precision, whose sums would be rounded twice, and one of integers.
    """
    search = _Search(dict(small_constants(closed)))
    while (changed := search.with_fewer(closed)) is not None:
        closed = changed
    return closed


class _Search:
    """The masks of a graph: all whose fields do not meet are written at once, the others in a further round.

    Attributes:
      known: The values of its small constants.
    """

    def __init__(self, known: dict[Any, Any]):
        self.known = known
        self._tried: set[Any] = set()
        self._all: list[Seed] | None = None  # those of the graph as it was given
        self._flops: int | None = None
        self._small: set[Any] = set()  # the types and axes of fields that are too little of the graph
        self._drafts = Drafts()

    def with_fewer(self, closed: ClosedJaxpr) -> ClosedJaxpr | None:
        """Returns the graph with fewer masks whose fields are computed as a whole, or None if none can go."""
        graph = Graph(closed.jaxpr, self.known)
        found = list(seeds(graph, 2 * machine().min_block_rows))
        if self._all is None:
            self._all = found
        merged = _Merged(closed)
        for seed in found:
            if seed.result in self._tried or merged.has(graph.makers.position[seed.result]):
                continue
            self._tried.add(seed.result)
            for rows, columns in (seed.axes, seed.axes[::-1]):
                written = self._skipped(closed, graph, seed, rows, columns)
                if written is None:
                    continue
                if not merged.add(written):
                    self._tried.discard(seed.result)  # once more, in the graph that the others leave
                break
        return merged.graph()

    def _skipped(self, closed: ClosedJaxpr, graph: Graph, seed: Seed, rows: int, columns: int) -> Written | None:
        """Returns the field of a mask in blocks; None if that is not possible, or does not pay."""
        mask = seed.mask if rows == seed.axes[0] else np.swapaxes(seed.mask, 0, 1)
        for discarded in seed.discards:
            kept = (mask != discarded).reshape(*mask.shape[:2], -1).any(-1)
            kind = seed.result.aval, rows, columns
            if _part_skipped(_most_blocks(kept), kept) < machine().min_skipped or kind in self._small:
                continue
            refused: set[Any] = set()
            while True:
                fields = Fields(graph, seed.result, rows, columns, refused)
                blocks = self._chosen(seed, fields, kept) if fields.are_exact else None
                if blocks is None:
                    break
                try:
                    return Blocked(closed, fields, blocks, mask.shape[1], self._drafts).written()
                except NotUniform as error:
                    if error.field is None or error.field in refused or len(refused) == MAX_REFUSED:
                        break
                    refused.add(error.field)
        return None

    def _chosen(self, seed: Seed, fields: Fields, kept: np.ndarray) -> list[Block] | None:
        """Returns in which blocks fields are to be computed: as many as pay, or None if not even two do.

        Args:
          kept: What the mask keeps, by row and column.
        """
        flops, n_steps = fields.flops(), len(fields.steps)
        two, most = _blocks(kept, 2), _most_blocks(kept)
        of_all = flops * self._n_alike(fields)
        least = machine().min_skipped_of_all * self._flops_of(fields.graph)
        if of_all * _part_skipped(most, kept) < least:
            self._small.add((seed.result.aval, *fields.axes[seed.result]))
            return None
        gained = of_all * (_part_skipped(most, kept) - _part_skipped(two, kept))
        pays = gained > max(least, n_steps * (len(most) - len(two)) * machine().flops_per_kind)
        for blocks in (most, two) if pays else (two,):
            skipped = _part_skipped(blocks, kept)
            if (
                skipped >= machine().min_skipped
                and flops * skipped > n_steps * (len(blocks) - 1) * machine().flops_per_kernel
            ):
                return blocks
        return None

    def _flops_of(self, graph: Graph) -> int:
        """Returns the FLOPs of the graph as it was given."""
        if self._flops is None:
            self._flops = sum(map(eqn_flops, graph.jaxpr.eqns))
        return self._flops

    def _n_alike(self, fields: Fields) -> float:
        """Returns how many such fields the graph had at first: XLA compiles the kernels of all of them once."""
        own = [seed.result.aval for seed in self._all or () if seed.result in fields.axes]
        return sum(seed.result.aval == own[0] for seed in self._all or ()) / own.count(own[0]) if own else 1


def _blocks(kept: np.ndarray, n_blocks: int) -> list[Block]:
    return cut_in_blocks(kept, n_blocks, machine().register_elements)


def _most_blocks(kept: np.ndarray) -> list[Block]:
    return _blocks(kept, min(machine().max_blocks, len(kept) // machine().min_block_rows))


def _part_skipped(blocks: Sequence[Block], kept: np.ndarray) -> float:
    return 1 - sum(block.n_rows * block.n_columns for block in blocks) / kept.size


class _Merged:
    """A graph with the fields of several masks in blocks, none of which is computed in the blocks of two."""

    def __init__(self, closed: ClosedJaxpr):
        self._closed = closed
        self._instead: dict[int, list[Eqn]] = {}
        self._before: dict[int, list[Eqn]] = {}

    def has(self, position: int) -> bool:
        """Returns whether an equation is written already."""
        return position in self._instead

    def add(self, written: Written) -> bool:
        """Adds fields in blocks; returns False, and adds nothing, if an equation of theirs is written already."""
        if not self._instead.keys().isdisjoint(written.instead):
            return False
        self._instead |= written.instead
        for position, eqns in written.before.items():
            self._before.setdefault(position, []).extend(eqns)
        return True

    def graph(self) -> ClosedJaxpr | None:
        """Returns the graph, or None if nothing was added."""
        if not self._instead:
            return None
        rewriter = Rewriter(self._closed)
        for i, eqn in enumerate(rewriter.equations()):
            rewriter.write(self._before.get(i, ()))
            if i in self._instead:
                rewriter.write(self._instead[i])
            else:
                rewriter.keep(eqn)
        rewriter.write(self._before.get(len(self._closed.jaxpr.eqns), ()))
        return dce(rewriter.graph())
