"""What a run of the demo found, and what is said of it: in ten lines on a terminal, and at the top of its report."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxaot._util import format_bytes, format_seconds
from jaxaot.demo.text import perplexity
from jaxaot.ir.roofline import eqn_picoseconds, target_now
from jaxaot.ir.walk import source_line
from jaxaot.plan.stages import Partition, Traced

TURN = 20  # steps of ours before plain jax.jit's turn
PLAIN_TURN = 3
_BARS = "▁▂▃▄▅▆▇█"


@dataclasses.dataclass(frozen=True)
class Again:
    """What the backward computes again of one line of source, over all layers.

    Attributes:
      place: The line.
      n: How many values of it are computed again.
      bytes: What they would take if they were kept.
      seconds: How long computing them takes, by the roofline of the device in use.
    """

    place: str
    n: int
    bytes: int
    seconds: float


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run of the demo found.

    Attributes:
      losses: After each step, in nats per character.
      traced: The loss function's graph.
      partition: Its forward and backward.
      everything: The same where all is kept that the backward reads, as JAX has it.
      step_traced: The optimizer step's graph.
      decode_traced: The graph of one character through the KV cache.
      seconds: Of each step of ours, and of plain `jax.jit`'s.
      bytes: What a step of each takes at most, as XLA measures it; None where it does not say.
      sample: A continuation of the prompt.
      n_parameters: Of the model.
      entropy: Of a single character of the text, in nats.
    """

    losses: list[float]
    traced: Traced
    partition: Partition
    everything: Partition
    step_traced: Traced
    decode_traced: Traced
    seconds: dict[str, list[float]]
    bytes: dict[str, int | None]
    sample: str
    n_parameters: int
    entropy: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers as plain data, as `json` takes it."""
        plan = self.partition.plan
        return {
            "n_parameters": self.n_parameters,
            "losses": self.losses,
            "seconds": self.seconds,
            "bytes": self.bytes,
            "saved_bytes": plan.saved_bytes,
            "save_all_bytes": plan.save_all_bytes,
            "n_recomputed": len(plan.recomputed),
            "recomputed": [dataclasses.asdict(line) for line in self.again()],
            "sample": self.sample,
        }

    def again(self) -> list[Again]:
        """Returns what is computed again, by line of source, the most bytes first."""
        found: dict[str, list[float]] = {}
        for value in self.partition.plan.recomputed:
            line = found.setdefault(value.source, [0, 0, 0])
            line[0] += 1
            line[1] += value.bytes
        forward, target = self.partition.forward.jaxpr.eqns, target_now()
        known = {(id(eqn.params), id(eqn.source_info)) for eqn in forward}
        for eqn in self.partition.backward.jaxpr.eqns:
            place = source_line(eqn) or ""
            if (id(eqn.params), id(eqn.source_info)) in known and place in found:
                found[place][2] += eqn_picoseconds(eqn, target) / 1e12
        lines = [Again(place, int(n), int(size), seconds) for place, (n, size, seconds) in found.items()]
        return sorted(lines, key=lambda line: -line.bytes)

    def rows(self) -> list[tuple[str, str]]:
        """Returns what was found, line by line: of what, and how much."""
        plan, again = self.partition.plan, self.again()
        kept, signature = plan.save_all_bytes, self.step_traced.signature
        lines = ", ".join(f"{line.place} {format_bytes(line.bytes)}" for line in again[:2])
        before, after = self.everything.timeline, self.partition.timeline
        final = float(np.mean(self.losses[-10:]))
        cost = format_seconds(sum(line.seconds for line in again))
        peak = after.peak
        where = "" if peak is None else f", at {peak.name} ({peak.source})"
        return [
            ("a step", self._time()),
            ("memory of a step", self._memory()),
            ("kept for backward", f"{format_bytes(plan.saved_bytes)} of the {format_bytes(kept)} that it reads"),
            (
                "peak of the loss",
                f"{format_bytes(after.peak_bytes)}{where}; {format_bytes(before.peak_bytes)} if all is kept",
            ),
            ("computed again", f"{len(plan.recomputed)} values in {cost}: {lines}" if again else "nothing"),
            ("written in place", f"{sum(s.is_written for s in signature.storages)} tensors by a step of the optimizer"),
            ("loss", f"{self.losses[0]:.2f} {_sparks(self.losses)} {final:.3f} nats a character"),
            ("in words", f"perplexity {perplexity(final):.1f}; unigram entropy {self.entropy:.3f} nats"),
        ]

    def _time(self) -> str:
        if len(self.losses) <= TURN:
            return f"{TURN} steps and fewer say nothing: most of them compile"
        # the first steps compile, and the first of a turn finds cold caches
        ours, plain = (
            np.percentile([s for i, s in enumerate(times) if i % turn and i > 1] or times, (0, 50))
            for times, turn in ((self.seconds["jaxaot"], TURN), (self.seconds["jax.jit"], PLAIN_TURN))
        )
        least, median = ours / plain
        words = f"{format_seconds(ours[0])}, plain jax.jit {format_seconds(plain[0])}"
        return f"{words}: {least:.2f} of it (medians {median:.2f})"

    def _memory(self) -> str:
        ours, plain = self.bytes["jaxaot"], self.bytes["jax.jit"]
        if ours is None or plain is None:
            return "the compiler does not say"
        return f"{format_bytes(ours)}, plain jax.jit {format_bytes(plain)}: {ours / plain:.2f} of it"


def _sparks(values: list[float], most: int = 24) -> str:
    """Returns numbers as a row of bars, each the mean of some."""
    means = [float(np.mean(part)) for part in np.array_split(values, min(most, len(values)))]
    low, high = min(means), max(means)
    return "".join(_BARS[round((len(_BARS) - 1) * (v - low) / ((high - low) or 1))] for v in means)
