"""Training steps that ask for values: `ja.compile` with 0, 1 and 3 breaks against itself without, and `torch.compile`.

    python -m benchmarks.breaks

A step of an MLP with Adam: whole; with `losses.append(loss.item())`; with a branch on the loss; with `float(loss)`, and
with three such questions. Each is called in turns with all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import jaxaot as ja
from benchmarks.dispatch import torch_backends
from benchmarks.runner import Result, arguments, find_torch, measure, report
from jaxaot.errors import RecompileWarning

KINDS = ("whole", "item kept", "branch", "one value", "three values")


def make_step(t: Any, width: int, kind: str) -> Callable[[], Any]:
    """Returns a training step of a library that has PyTorch's names, before it is compiled."""
    t.manual_seed(0)
    net = t.nn.Sequential(t.nn.Linear(width, width), t.nn.GELU(), t.nn.Linear(width, 1))
    optimizer, kept = t.optim.Adam(net.parameters(), lr=1e-3), []
    x = t.tensor(np.random.default_rng(0).normal(size=(32, width)).astype(np.float32))

    def step() -> Any:
        del kept[:]
        optimizer.zero_grad()
        output = net(x)
        if kind == "three values":
            kept.append(float(output.detach().max()))
        loss = output.square().mean()
        if kind == "branch" and loss > 1e6:
            return loss.detach()
        if kind in ("one value", "three values"):
            kept.append(float(loss))
        loss.backward()
        if kind == "three values":
            kept.append(float(net[0].bias.grad.abs().max()))
        optimizer.step()
        if kind == "item kept":
            kept.append(loss.item())
        return loss.detach()

    return step


def run(width: int, n_rounds: int) -> Result:
    """Measures all kinds of steps of one width."""
    contestants: dict[str, Callable[[], Any]] = {}
    torch = find_torch()
    for kind in KINDS:
        contestants[f"{kind}, ja.compile"] = ja.compile(make_step(ja, width, kind))
        contestants[f"{kind}, eagerly"] = make_step(ja, width, kind)
        for backend in torch_backends():
            step = make_step(torch, width, kind)
            contestants[f"{kind}, torch.compile, {backend}"] = torch.compile(step, backend=backend)
    return measure(f"a step of an MLP of width {width}", contestants, "whole, ja.compile", n_rounds=n_rounds)


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    warnings.simplefilter("ignore", RecompileWarning)
    report("Steps that ask for values", [run(width, options.rounds) for width in (64, 256)], options)


if __name__ == "__main__":
    main()
