"""Trains the demo's GPT, and measures what the compiler made of it."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from jaxaot._typing import ArrayLike
from jaxaot._util import format_bytes
from jaxaot.api import compile, trace
from jaxaot.demo.model import GPT, AdamW, Shape
from jaxaot.demo.plain import PlainTrainer
from jaxaot.demo.text import Corpus, perplexity
from jaxaot.facade.dispatch.create import from_jax, tensor
from jaxaot.facade.memory.generator import manual_seed
from jaxaot.plan.stages import Partition, Traced
from jaxaot.tape.modes import no_grad

BATCH = 8
TURN = 10  # steps of ours before plain jax.jit's turn
PLAIN_TURN = 4
PROMPT = "def "


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run of the demo found.

    Attributes:
      losses: After each step, in nats per character.
      traced: The loss function's graph.
      partition: Its forward and backward.
      step_traced: The optimizer step's graph.
      decode_traced: The graph of one character through the KV cache.
      seconds: Of each step of ours, and of plain `jax.jit`'s.
      sample: A continuation of the prompt.
      n_parameters: Of the model.
    """

    losses: list[float]
    traced: Traced
    partition: Partition
    step_traced: Traced
    decode_traced: Traced
    seconds: dict[str, list[float]]
    sample: str
    n_parameters: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the numbers as plain data, as `json` takes it."""
        plan = self.partition.plan
        return {
            "n_parameters": self.n_parameters,
            "losses": self.losses,
            "seconds": self.seconds,
            "saved_bytes": plan.saved_bytes,
            "save_all_bytes": plan.save_all_bytes,
            "n_recomputed": len(plan.recomputed),
            "sample": self.sample,
        }


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
        console.print("On two cores compiling takes about a minute, and 400 steps about two.")
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
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("tracing the loss", total=n_steps, loss="")
        traced = trace(trainer.loss, tensor(codes), tensor(targets))
        progress.update(task, description="choosing what to save")
        partition = traced.joint().partition(None, memory_budget)
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
    result = Result(losses, traced, partition, step_traced, decode_traced, seconds, sample, n_parameters)
    show(result, corpus, memory_budget, console)
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


def show(result: Result, corpus: Corpus, memory_budget: float | str | None, console: Console) -> None:
    """Prints the tables."""
    table = Table(
        "graph", "storages", "read", "written", "resized", "outputs that alias", title="Storages in each graph"
    )
    for name, traced in (
        ("loss", result.traced),
        ("optimizer step", result.step_traced),
        ("decode", result.decode_traced),
    ):
        signature = traced.signature
        counts = [sum(getattr(s, flag) for s in signature.storages) for flag in ("is_read", "is_written", "is_resized")]
        aliases = sum(o.kind not in ("plain", "constant") for o in signature.outputs)
        table.add_row(name, str(len(signature.storages)), *map(str, counts), str(aliases))
    console.print(table)
    plan = result.partition.plan
    table = Table("partition", "kept between forward and backward", "values", title="Residuals")
    table.add_row("save everything", format_bytes(plan.save_all_bytes), "all")
    chosen = "min_cut" if memory_budget is None else f"min_cut, budget {memory_budget}"
    table.add_row(chosen, format_bytes(plan.saved_bytes), str(len(plan.saved)))
    console.print(table)
    table = Table(
        "contestant", "fastest ms", "a quarter below ms", "half below ms", title="Step time, in turns in this run"
    )
    # the first steps compile, and the first of an iteration finds cold caches
    ours, plain = (
        np.percentile([s for i, s in enumerate(times) if i % turn and i > 1] or times, (0, 25, 50))
        for times, turn in ((result.seconds["jaxaot"], TURN), (result.seconds["jax.jit"], PLAIN_TURN))
    )
    table.add_row("jaxaot (loss, backward, optimizer)", *(f"{s * 1e3:.1f}" for s in ours))
    table.add_row("plain jax.jit (donated)", *(f"{s * 1e3:.1f}" for s in plain))
    table.add_row("ratio", *(f"{s:.2f}" for s in ours / plain))
    if len(result.losses) > TURN:
        console.print(table)
    else:
        console.print(f"With at most {TURN} steps there are no times to compare: most of them compile.")
    final = float(np.mean(result.losses[-10:]))
    console.print(
        f"Loss {final:.3f} nats per character (perplexity {perplexity(final):.1f}); a model without context cannot get "
        f"below the text's unigram entropy, {corpus.unigram_entropy:.3f}."
    )
    console.rule("a sampled continuation")
    console.print(result.sample, markup=False, highlight=False)
