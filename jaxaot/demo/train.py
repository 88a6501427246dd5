"""Trains the demo's GPT, and measures what the compiler made of it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from jaxaot._typing import ArrayLike
from jaxaot.api import compile, trace
from jaxaot.demo.model import GPT, AdamW, Shape
from jaxaot.demo.plain import PlainTrainer
from jaxaot.demo.result import PLAIN_TURN, TURN, Result
from jaxaot.demo.text import Corpus
from jaxaot.facade.dispatch.create import from_jax, tensor
from jaxaot.facade.memory.generator import manual_seed
from jaxaot.plan.stages import Traced
from jaxaot.runtime.fitting import peak_bytes
from jaxaot.settings import config
from jaxaot.tape.modes import no_grad

BATCH = 8
PROMPT = "def "


def learning_rate(step: int, n_steps: int) -> float:
    """Returns a linear warm-up followed by a cosine decay."""
    warm = max(1, n_steps // 20)
    if step < warm:
        return 3e-3 * (step + 1) / warm
    return 3e-4 + 2.7e-3 * 0.5 * (1 + float(np.cos(np.pi * (step - warm) / max(1, n_steps - warm))))


class Trainer:
    """The contestant that is written on tensors: three compiled calls a step."""

    def __init__(self, model: GPT, optimizer: AdamW, memory_budget: float | str | None):
        self.model = model
        self.optimizer = optimizer
        self.loss = compile(lambda codes, targets: model.loss(codes, targets), memory_budget=memory_budget)
        self.update = compile(lambda rate: optimizer.step(rate))

    def step(self, codes: ArrayLike, targets: ArrayLike, rate: float) -> Any:
        """Carries out one training step and returns the loss."""
        self.optimizer.zero_grad()
        loss = self.loss(from_jax(codes), from_jax(targets))
        loss.backward()
        self.update(rate)
        return loss

    def taken_bytes(self) -> int | None:
        """Returns what a step takes at most, by XLA; None if it does not say. The moments are there all the time."""
        loss, update = (peak_bytes(fn.programs[0]) for fn in (self.loss, self.update))
        moments = sum(x.nbytes for x in (*self.optimizer.means, *self.optimizer.squares))
        return None if loss is None or update is None else max(loss + moments, update)


def run(
    corpus: Corpus,
    n_steps: int,
    memory_budget: float | str | None,
    seed: int,
    console: Console,
    shape: Shape | None = None,
) -> Result:
    """Trains for `n_steps`, a plain `jax.jit` twin beside it, and prints what was found."""
    manual_seed(seed)
    shape = shape or Shape(n_characters=len(corpus.alphabet))
    model = GPT(shape)
    params = list(model.parameters())
    optimizer = AdamW(params)
    trainer = Trainer(model, optimizer, memory_budget)
    plain = PlainTrainer(model, optimizer, seed)
    n_parameters = sum(p.numel() for p in params)
    console.print(f"Text: {corpus.name}, {len(corpus.codes):,} characters, {len(corpus.alphabet)} kinds")
    console.print(f"Model: GPT, {shape.n_layers} layers, width {shape.width}, {n_parameters:,} parameters")
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    seconds: dict[str, list[float]] = {"jaxaot": [], "jax.jit": []}
    codes, targets = corpus.batch(rng, BATCH, shape.context)
    if not console.is_terminal:  # where there is no bar that says so
        console.print("On two cores this takes about a minute.")
    count, loss_column = TextColumn("{task.completed}/{task.total}"), TextColumn("{task.fields[loss]}")
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(20),
        count,
        loss_column,
        TimeElapsedColumn(),
    )
    step_traced: Any = None
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with config(progress=False), bar as progress:
        task = progress.add_task("tracing the loss", total=n_steps, loss="")
        traced = trace(trainer.loss, tensor(codes), tensor(targets))
        progress.update(task, description="choosing what to save")
        joint = traced.joint()
        partition, everything = joint.partition(None, memory_budget), joint.partition("save_all")
        progress.update(task, description="compiling loss, backward, optimizer")
        for step in range(n_steps):
            codes, targets = corpus.batch(rng, BATCH, shape.context)
            rate = learning_rate(step, n_steps)
            start = time.perf_counter()
            loss = trainer.step(codes, targets, rate).item()
            params[0].untyped_storage().array.block_until_ready()  # type: ignore[union-attr]
            seconds["jaxaot"].append(time.perf_counter() - start)
            losses.append(loss)
            progress.update(task, advance=1, loss=f"loss {loss:.3f}", description="training")
            if step == 0:
                step_traced = trainer.update.trace(rate)
            if step % TURN == TURN - 1 or step == n_steps - 1:
                if not seconds["jax.jit"]:
                    progress.update(task, description="compiling the step of plain jax.jit")
                for _ in range(PLAIN_TURN):
                    start = time.perf_counter()
                    plain.step(codes, targets, rate).block_until_ready()
                    plain.state[0][0].block_until_ready()
                    seconds["jax.jit"].append(time.perf_counter() - start)
        progress.update(task, description="writing a continuation")
        sample, decode_traced = generate(model, corpus, 200, np.random.default_rng(seed))
    result = Result(
        losses, traced, partition, everything, step_traced, decode_traced, seconds,
        {"jaxaot": trainer.taken_bytes(), "jax.jit": plain.taken_bytes()}, sample, n_parameters, corpus.unigram_entropy,
    )  # fmt: skip
    show(result, console)
    return result


def generate(
    model: GPT, corpus: Corpus, n: int, rng: np.random.Generator, temperature: float = 0.7
) -> tuple[str, Traced]:
    """Returns a continuation of the prompt, character by character through the KV cache, and the graph of one step."""
    cache = model.make_cache()
    decode = compile(lambda code, place: model.decode(code, place, cache))
    codes = list(corpus.encode(PROMPT))
    n = min(n, model.shape.context - len(codes))
    logits = np.zeros(len(corpus.alphabet))
    with no_grad():
        for place in range(len(codes) + n - 1):
            out = decode(tensor([int(codes[place])]), tensor([place]))
            if place < len(codes) - 1:
                continue
            logits = out.numpy()[0].astype(np.float64) / temperature
            weights = np.exp(logits - logits.max())
            codes.append(int(rng.choice(len(weights), p=weights / weights.sum())))
        traced = decode.trace(tensor([0]), tensor([0]))
    return corpus.decode([int(c) for c in codes]), traced


def show(result: Result, console: Console) -> None:
    """Prints what was found in ten lines: eight with a title, and the beginning of the sample."""
    table = Table.grid(padding=(0, 2))
    for title, words in result.rows():
        table.add_row(title, words)
    console.print(table, highlight=False, markup=False)
    sample = "\n".join(result.sample.strip().splitlines()[:2])
    console.print(sample, markup=False, highlight=False, soft_wrap=True)
