"""The demo's training step against the same math hand-written on plain `jax.jit`, its state donated.

    python -m benchmarks.demo

Contestants: the step as the demo runs it (loss, `backward()` and optimizer, each compiled), the same step inside one
`ja.compile`, and the plain twin. All start from one set of parameters and see one batch.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

import jaxaot as ja
from benchmarks.runner import arguments, measure, report
from jaxaot.demo.model import GPT, AdamW, Shape
from jaxaot.demo.plain import PlainTrainer
from jaxaot.demo.text import load_text
from jaxaot.demo.train import BATCH, Trainer


def make_model(shape: Shape) -> tuple[GPT, AdamW]:
    """Returns a model and its optimizer, the same every time."""
    ja.manual_seed(0)
    model = GPT(shape)
    return model, AdamW(list(model.parameters()))


def main() -> None:
    """Prints the table."""
    parser = arguments(__doc__)
    parser.add_argument("--budget", default=None, help="memory budget of the loss, such as 0.3 or 8MiB")
    options = parser.parse_args()
    corpus = load_text(None, 10_000)
    shape = Shape(n_characters=len(corpus.alphabet))
    codes, targets = corpus.batch(np.random.default_rng(0), BATCH, shape.context)
    budget: Any = options.budget
    with contextlib.suppress(TypeError, ValueError):  # None, or bytes as text
        budget = float(budget)

    model, optimizer = make_model(shape)
    plain = PlainTrainer(model, optimizer, 0)
    trainer = Trainer(model, optimizer, budget)
    whole_model, whole_optimizer = make_model(shape)

    @ja.compile(memory_budget=budget)
    def whole_step(codes: Any, targets: Any, rate: float) -> Any:
        whole_optimizer.zero_grad()
        loss = whole_model.loss(codes, targets)
        loss.backward()
        whole_optimizer.step(rate)
        return loss.detach()

    rate = 1e-3
    code_tensor, target_tensor = ja.tensor(codes), ja.tensor(targets)

    def three_calls() -> list[Any]:
        return [trainer.step(codes, targets, rate), *optimizer.params]

    def one_call() -> list[Any]:
        return [whole_step(code_tensor, target_tensor, rate), *whole_optimizer.params]

    def plain_call() -> list[Any]:
        return [plain.step(codes, targets, rate), *plain.state[0]]

    contestants = {"jax.jit": plain_call, "jaxaot, three calls": three_calls, "jaxaot, one call": one_call}
    result = measure("one training step", contestants, "jax.jit", n_rounds=options.rounds, round_seconds=0.3)
    report("Training step of the demo", [result], options)


if __name__ == "__main__":
    main()
