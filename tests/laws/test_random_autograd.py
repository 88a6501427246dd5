"""Random programs with every kind of hook, custom Functions, views, writes and several backwards agree with PyTorch.

`JAXAOT_PROGRAMS=300 pytest tests/laws/test_random_autograd.py` runs that many.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds

pytestmark = pytest.mark.oracle

VALUES = (
    ("sin", 4), ("mul", 4), ("sum", 1), ("matmul", 1), ("row", 3), ("transpose", 2), ("flat", 2), ("expand", 1),
    ("split", 1), ("detach", 1), ("again", 2), ("Exp", 3), ("Product", 3), ("Pair", 2), ("Same", 1), ("Nested", 1),
)  # fmt: skip
WRITES = (("add_", 3), ("relu_", 1), ("sin_", 2), ("assign", 3), ("Scale", 2), ("quiet", 1), ("data", 1))
HOOKS = (
    ("tensor", 3), ("change", 3), ("pre", 2), ("post", 2), ("leaf", 2), ("leaf pre", 1), ("leaf post", 1),
    ("accumulated", 2), ("multi", 1), ("any", 1), ("retain", 3), ("remove", 2),
)  # fmt: skip
BACKWARDS = (("backward", 4), ("inputs", 2), ("grad", 3), ("recorded", 2), ("zero", 1))


class Step(NamedTuple):
    """One statement: what it does, to which values, with a number, and whether saved tensors are packed meanwhile."""

    kind: str
    first: int
    second: int
    number: float
    is_packed: bool


def make_steps(seed: int, n: int = 16) -> list[Step]:
    """Returns the statements of a random program; the last is a backward."""
    rng = random.Random(seed)
    groups = (VALUES, WRITES, HOOKS, BACKWARDS)

    def step(group: Any) -> Step:
        kinds, weights = zip(*group, strict=True)
        kind = rng.choices(kinds, weights)[0]
        return Step(kind, rng.randrange(12), rng.randrange(12), rng.choice([0.5, -0.7, 1.3]), rng.random() < 0.25)

    steps = [step(rng.choices(groups, (8, 4, 6, 2))[0]) for _ in range(n)]
    return [*steps, step(HOOKS), step(BACKWARDS[:3]), step(BACKWARDS[:1])]


def make_functions(lib: Any) -> Any:
    """Returns custom Functions: one saves its result, one its arguments, one has two results, one writes, …"""

    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.scale = scale
            result = (x * scale).exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0] * ctx.scale, None

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y.mean()

        @staticmethod
        def backward(ctx, gradient):
            x, y = ctx.saved_tensors
            need_x, need_y = ctx.needs_input_grad
            own = (gradient * x).sum() / y.numel()
            return gradient * y.mean() if need_x else None, own * (y * 0 + 1) if need_y else None

    class Pair(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x)
            return x.sin(), x * 3

        @staticmethod
        def backward(ctx, first, second):
            (x,) = ctx.saved_tensors
            found = None if first is None else first * x.cos()
            if second is not None:
                found = second * 3 if found is None else found + second * 3
            return found

    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    class Nested(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.tanh()

        @staticmethod
        def backward(ctx, gradient):
            return Product.apply(gradient, ctx.saved_tensors[0])

    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            ctx.mark_dirty(x)
            return x.mul_(factor)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor, None

    return {f.__name__: f for f in (Exp, Product, Pair, Same, Nested, Scale)}


def plain(value: Any) -> Any:
    """Tensors within lists and tuples as arrays."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None else np.asarray(value.detach().tolist(), np.float64)


class Refused(Exception):
    """PyTorch refuses a backward because what was saved was written since."""


class Run:
    """A program as it runs with one of the libraries.

    Attributes:
      log: What hooks saw, and what statements gave, each with a name.
    """

    def __init__(self, lib: Any, leaves: Any, *, is_logging: bool = True):
        self.lib, self.leaves = lib, leaves
        self.functions = make_functions(lib)
        self.values = [leaf * (1 + i) for i, leaf in enumerate(leaves)]
        self.handles: list[Any] = []
        self.retained: list[Any] = []
        self.kept: list[Any] = []
        self.log: list[tuple[str, Any]] = []
        self.is_logging = is_logging

    def note(self, name: str, *given: Any) -> None:
        if self.is_logging:
            self.log.append((name, plain(given)))

    def run(self, steps: list[Step]) -> list[Any]:
        """Returns what the values and gradients are in the end."""
        for number, step in enumerate(steps):
            around = self.packing() if step.is_packed else contextlib.nullcontext()
            try:
                with around:
                    self.do(f"{number} {step.kind}", step)
            except RuntimeError as error:
                if "modified by an inplace operation" in str(error):
                    raise Refused(number) from error
                self.log.append((f"{number} {step.kind} is refused", None))
        for handle in self.handles:
            handle.remove()
        shown = [*self.values, *(t.grad for t in (*self.leaves, *self.retained))]
        return [None if t is None else t.detach() for t in shown]

    def packing(self) -> Any:
        """Hooks on saved tensors that change no value."""
        return self.lib.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t * 0.5)

    def do(self, name: str, step: Step) -> None:
        values = self.values
        a, b = values[step.first % len(values)], values[step.second % len(values)]
        leaf = self.leaves[step.first % len(self.leaves)]
        if step.kind in dict(VALUES):
            values.extend(self.made(step, a, b))
        elif step.kind in dict(WRITES):
            self.write(step, a, b, leaf)
        elif step.kind in dict(HOOKS):
            self.register(name, step, a, b, leaf)
        else:
            self.go_back(name, step, a, leaf)

    def made(self, step: Step, a: Any, b: Any) -> list[Any]:
        """Returns new values, or views."""
        functions = self.functions
        like_a = b if b.shape == a.shape else b.mean()
        match step.kind:
            case "sin":
                return [(a * step.number).sin()]
            case "mul":
                return [a * like_a]
            case "sum":
                return [a.sum() * 0.3]
            case "matmul" if a.ndim == 2:
                return [a @ a.t()]
            case "row" if a.ndim:
                return [a[-1]]
            case "transpose" if a.ndim == 2:
                return [a.t()]
            case "flat" if a.is_contiguous():
                return [a.view(-1)]
            case "expand" if a.ndim == 1:
                return [a.expand(2, a.shape[0])]
            case "split" if a.ndim and a.shape[0] > 1:
                return [a[:1], a[1:]]
            case "detach":
                return [a.detach()]
            case "again":
                return [a.clone().requires_grad_() if not a.requires_grad else a.tanh()]
            case "Exp":
                return [functions["Exp"].apply(a.tanh(), step.number)]
            case "Product":
                return [functions["Product"].apply(a, b)]
            case "Pair":
                return list(functions["Pair"].apply(a))
            case "Same":
                return [functions["Same"].apply(a).clone()]  # PyTorch refuses to read the view after a write
            case "Nested":
                return [functions["Nested"].apply(a)]
        return [a + step.number]

    def write(self, step: Step, a: Any, b: Any, leaf: Any) -> None:
        like_a = b if b.shape == a.shape else b.mean()
        match step.kind:
            case "add_":
                a.add_(like_a, alpha=step.number)
            case "relu_":
                a.relu_()
            case "sin_":
                a.sin_()
            case "assign" if a.ndim:
                a[0] = a[-1].detach() * step.number + like_a.mean()
            case "Scale":
                self.functions["Scale"].apply(a, step.number)
            case "quiet":
                with self.lib.no_grad():
                    leaf.mul_(0.9)
            case "data" if a._base is None and not any(v._base is a for v in self.values):
                # for views it is a new node in PyTorch, without their hooks
                a.detach().mul_(0.9)

    def register(self, name: str, step: Step, a: Any, b: Any, leaf: Any) -> None:
        look = lambda *given: self.note(name, *given)

        def change(gradient: Any) -> Any:
            self.note(name, gradient)
            return gradient * step.number

        def change_first(gradients: Any) -> Any:
            self.note(name, *gradients)
            return tuple(None if g is None else g * step.number for g in gradients)

        def sink() -> Any:
            self.kept.append(self.lib.autograd.graph.get_gradient_edge(leaf).node)
            return self.kept[-1]

        a.grad_fn, b.grad_fn  # noqa: B018 - raises for a view that must not be used; PyTorch crashes if that is hooked
        match step.kind:
            case "tensor":
                self.handles.append(a.register_hook(look))
            case "change":
                self.handles.append(a.register_hook(change))
            case "pre" if a.grad_fn is not None:
                self.handles.append(a.grad_fn.register_prehook(change_first))
            case "post" if a.grad_fn is not None:  # what views get beside gradients differs
                self.handles.append(a.grad_fn.register_hook(lambda gi, go: self.note(name, *go)))
            case "leaf":
                self.handles.append(leaf.register_hook(change))
            case "leaf pre":
                self.handles.append(sink().register_prehook(change_first))
            case "leaf post":
                self.handles.append(sink().register_hook(lambda gi, go: self.note(name, *go)))
            case "accumulated":
                self.handles.append(leaf.register_post_accumulate_grad_hook(lambda p: self.note(name, p, p.grad)))
            case "multi" | "any" if a.requires_grad and b.requires_grad and a is not b:  # `grad` refuses leaves there
                mode = "any" if step.kind == "any" else "all"
                register = self.lib.autograd.graph.register_multi_grad_hook
                given = look if mode == "all" else lambda g: self.note(name)  # which gradient comes first is not said
                self.handles.append(register((a, b), given, mode=mode))
            case "retain":
                a.retain_grad()
                self.retained.append(a)
            case "remove" if self.handles:
                self.handles[step.first % len(self.handles)].remove()

    def go_back(self, name: str, step: Step, a: Any, leaf: Any) -> None:
        lib, values = self.lib, self.values
        loss = sum((v * (1 + 0.1 * i)).sum() for i, v in enumerate(values[step.second % 3 :]))
        match step.kind:
            case "backward":
                loss.backward(lib.tensor(step.number), retain_graph=True)
            case "inputs":
                loss.backward(inputs=[a, leaf] if a.requires_grad else [leaf], retain_graph=True)
            case "grad" | "recorded":
                is_recorded = step.kind == "recorded"
                wanted = [leaf, a] if a.requires_grad else [leaf]
                found = lib.autograd.grad(
                    loss, wanted, retain_graph=True, create_graph=is_recorded, allow_unused=True
                )  # fmt: skip
                self.note(name, *found)
                if is_recorded:
                    values.extend(g * 0.1 for g in found if g is not None)
            case "zero":
                if leaf.grad is not None:
                    leaf.grad.zero_()


def make_leaves(lib: Any) -> tuple[Any, ...]:
    rows = [[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]]
    return tuple(lib.tensor(v, requires_grad=True) for v in (rows, rows[1], [r[::-1] for r in rows]))


def expected_of(steps: list[Step]) -> tuple[list[Step], Any, list[tuple[str, Any]]]:
    """Returns what PyTorch makes of a program, without the writes because of which it refuses a backward."""
    import torch

    steps = list(steps)
    while True:
        run = Run(torch, make_leaves(torch))
        try:
            return steps, plain(run.run(steps)), run.log
        except Refused as refused:
            number = refused.args[0]
            last = max((i for i in range(number) if steps[i].kind in dict(WRITES)), default=number)
            steps[last] = Step("remove", 0, 0, 1.0, False) if last == number else Step("retain", 0, 0, 1.0, False)


def same(found: Any, expected: Any) -> bool:
    """Whether two logs or results are equal but for rounding."""
    if isinstance(expected, (list, tuple)):
        is_list = isinstance(found, (list, tuple)) and len(found) == len(expected)
        return is_list and all(map(same, found, expected))
    if expected is None or isinstance(expected, str):
        return found == expected if found is None or isinstance(found, str) else False
    return (
        found is not None
        and found.shape == expected.shape
        and np.allclose(found, expected, rtol=2e-3, atol=2e-3, equal_nan=True)
    )


def by_hook(log: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The entries of each hook in their order; the order among independent nodes is the engine's own."""
    return sorted(log, key=lambda entry: entry[0])


@pytest.mark.parametrize("seed", seeds(20, 4))
def test_eagerly(seed):
    steps, expected, log = expected_of(make_steps(seed))
    run = Run(ja, make_leaves(ja))
    found = plain(run.run(steps))
    assert same(by_hook(run.log), by_hook(log)), differences(by_hook(run.log), by_hook(log))
    assert same(found, expected), differences(found, expected)


@pytest.mark.parametrize("seed", seeds(14, 2))
def test_in_a_compiled_function(seed):
    """The backwards are inside, and the hooks change gradients but cannot look at them.

    Where a derivative of a recorded backward does not depend on a leaf, that gets zeros there, and eagerly nothing.
    """
    steps, expected, log = expected_of(make_steps(seed))
    refused = {int(name.split()[0]) for name, _ in log if name.endswith("is refused")}
    steps = [step for number, step in enumerate(steps) if number not in refused]
    fn = ja.compile(lambda *leaves: Run(ja, leaves, is_logging=False).run(steps))
    for _ in range(2):
        found = plain(fn(*make_leaves(ja)))
        found = [None if e is None and not np.any(f) else f for f, e in zip(found, expected, strict=True)]
        assert same(found, expected) and fn.cache_info().misses == 1, differences(found, expected)


def differences(found: Any, expected: Any) -> str:
    """Returns what differs, for a message."""
    pairs = list(zip(found, expected, strict=False))
    return "\n".join(f"{a} instead of {b}" for a, b in pairs if not same(a, b)) or f"{len(found)}, {len(expected)}"
