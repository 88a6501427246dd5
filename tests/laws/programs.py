"""Random programs of views, in-place ops, assignments and metadata ops, run alike by PyTorch and by jaxaot.

A program is data: a few inputs that may share memory, and statements on numbered variables. `generate` grows one with
PyTorch as the guide (a statement that PyTorch refuses is dropped), `run` carries it out with either library.
"""

from __future__ import annotations

import dataclasses
import random
import warnings
from typing import Any

import numpy as np
from jax import dtypes


@dataclasses.dataclass(frozen=True)
class Statement:
    """`kind` on variables `operands` with `params`; appends its results to the variables."""

    kind: str
    operands: tuple[int, ...]
    params: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'v{o}' for o in self.operands)}{''.join(f', {p}' for p in self.params)})"


@dataclasses.dataclass(frozen=True)
class Program:
    """Inputs, as (shape, dtype, how) or a view of an earlier input, and statements.

    Attributes:
      inputs: `("fresh", shape, dtype)` or `("view", of, statement)`.
      statements: What is done.
      outputs: Variables that are returned.
      seed: Of the values.
      grad: Whether the fresh float inputs are products of leaves that require grad.
    """

    inputs: tuple[Any, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[int, ...]
    seed: int
    grad: bool

    def __str__(self) -> str:
        lines = [f"v{i} = {kind}" for i, kind in enumerate(self.inputs)]
        return "\n".join([*lines, *map(str, self.statements), f"return {self.outputs}"])


VIEWS = (
    "select", "slice", "narrow", "view", "reshape", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand",
    "flatten", "unflatten", "split", "chunk", "unbind", "diagonal", "movedim", "detach", "getitem", "as_strided", "T",
    "unfold", "swapaxes", "view_as", "expand_as", "mT", "ravel", "broadcast_to", "split_sizes",
    "tensor_split", "tensor_split_at", "hsplit", "view_as_real", "view_as_complex", "real", "imag", "view_dtype",
)  # fmt: skip
SPLITS = ("unbind", "split", "chunk", "detach", "split_sizes", "tensor_split", "tensor_split_at", "hsplit")
WRITES = (
    "add_", "mul_", "sub_", "add_tensor_", "mul_tensor_", "copy_", "fill_", "zero_", "setitem", "setitem_tensor",
    "sin_", "clamp_", "masked_fill_", "setitem_mask", "setitem_index", "iadd_slice", "relu_", "index_add_", "neg_",
    "setitem_list", "setitem_pair", "setitem_rows", "setitem_view", "scatter_", "scatter_add_", "index_copy_",
    "index_fill_", "addcmul_", "lerp_", "div_", "pow_", "abs_", "fill_diagonal_", "masked_fill_tensor_", "foreach_add_",
    "out_add",
    "cumsum_", "tril_", "imul", "copy_cast_", "setitem_mixed", "iadd_mixed", "setitem_mixed_tensor", "index_put_",
    "scatter_reduce_", "masked_scatter_", "put_", "foreach_scale_", "foreach_lerp_", "foreach_copy_", "out_slice",
    "setitem_bools",
)  # fmt: skip
FOREACH = ("foreach_add_", "foreach_scale_", "foreach_lerp_", "foreach_copy_")
METADATA = ("t_", "transpose_", "unsqueeze_", "squeeze_", "swapaxes_")
PURE = (
    "add", "mul", "sin", "exp_small", "sum", "sum_dim", "clone", "contiguous", "cat", "matmul", "where", "tanh",
    "gather", "index_select", "getitem_list", "getitem_pair", "flip", "roll", "cumsum", "amax", "prod", "tril",
    "repeat", "var", "norm", "compare", "masked_sum", "reshape_copy", "softmax", "mean_keep", "add_broadcast", "stack",
    "getitem_mixed", "getitem_bools", "out_fresh",
)  # fmt: skip
# with gradients PyTorch refuses most of these, and does not notice the others
STORAGE = (
    "resize_down", "resize_up", "storage_refill", "storage_trim", "set_tensor", "set_storage", "set_part", "data_set",
    "sign_bits", "out_regrown",
)  # fmt: skip
# not `x.data.mul_`: after it PyTorch computes gradients from the changed values without noticing
GRAD = ("no_grad_mul_", "no_grad_view_add_", "detach_add_")


def shape_of(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice((1, 2, 2, 3, 4)) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3))))


def _slice(rng: random.Random, n: int) -> slice:
    start = rng.randint(0, n)
    return slice(start, rng.randint(start, n), rng.choice((None, 1, 1, 2)))


def _mixed(rng: random.Random, size: tuple[int, ...], *, repeats: bool) -> tuple[Any, ...]:
    """Returns a random index of ints, slices, None, an ellipsis, tensors and lists, each as (kind, …).

    Args:
      rng: Decides.
      size: Of what is indexed.
      repeats: Whether an element may be shown twice.
    """
    length = rng.randint(1, max(1, min(size, default=1)))
    # of several tensors one that shows no row twice is enough
    parts: list[Any] = []
    for n in size:
        kind = rng.random()
        if kind < 0.15 and n:
            parts.append(("int", rng.randrange(-n, n)))
        elif kind < 0.35:
            parts.append(("slice", _slice(rng, n)))
        elif kind < 0.7 and n >= length:
            places = rng.choices(range(n), k=length) if repeats else rng.sample(range(n), length)
            parts.append((rng.choice(("tensor", "tensor", "list")), tuple(p - n * rng.randint(0, 1) for p in places)))
        elif kind < 0.75 and n and repeats:
            parts.append(("tensor", tuple((rng.randrange(n),) for _ in range(rng.randint(1, 2)))))
        elif kind < 0.85 and not any(part == ("ellipsis",) for part in parts):
            parts.append(("ellipsis",))
            break
        else:
            parts.append(("slice", slice(None)))
        if rng.random() < 0.15:
            parts.append(("none",))
    return tuple(parts)


def _index(lib: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns what stands in the brackets for an index of `_mixed`."""
    made: list[Any] = []
    for kind, *rest in parts:
        match kind:
            case "tensor":
                made.append(lib.tensor([list(p) if isinstance(p, tuple) else p for p in rest[0]]))
            case "list":
                made.append(list(rest[0]))
            case "ellipsis":
                made.append(Ellipsis)
            case "none":
                made.append(None)
            case _:
                made.append(rest[0])
    return tuple(made)


def _reach(x: Any) -> int:
    """Returns how many bytes of its storage a tensor needs."""
    if not x.numel():
        return 0
    last = sum((n - 1) * stride for n, stride in zip(x.shape, x.stride(), strict=True))
    return (x.storage_offset() + last + 1) * x.element_size()


def propose(rng: random.Random, variables: list[Any], kinds: tuple[str, ...]) -> Statement | None:
    """Returns a random statement that looks possible, by the shapes of the variables."""
    i = rng.randrange(len(variables))
    x = variables[i]
    nd, size = x.ndim, tuple(x.shape)
    dim = rng.randrange(-nd, nd) if nd else 0
    kind = rng.choice(kinds)
    one = lambda *params: Statement(kind, (i,), params)

    def another(same_shape: bool) -> int | None:
        found = [
            j
            for j, y in enumerate(variables)
            if y.dtype == x.dtype and (tuple(y.shape) == size if same_shape else True)
        ]
        return rng.choice(found) if found else None

    match kind:
        case "select" | "unbind" | "chunk" | "split" | "tensor_split" | "tensor_split_at" | "hsplit" if not nd:
            return None
        case "tensor_split":
            return one(rng.randint(1, 3), dim)
        case "tensor_split_at":
            return one(tuple(sorted(rng.sample(range(size[dim] + 1), rng.randint(1, min(2, size[dim] + 1))))), dim)
        case "hsplit":
            return one(rng.choice((1, 2)))
        case "view_dtype":
            if x.dtype.is_floating_point or x.dtype.is_complex or x.itemsize == 8:
                return None
            return one(rng.choice(("int32", "int16", "uint8")))
        case "getitem_mixed" | "setitem_mixed" | "iadd_mixed" | "setitem_mixed_tensor":
            index = _mixed(rng, size, repeats=kind != "setitem_mixed_tensor")
            return one(index, rng.randint(-3, 3) if not x.dtype.is_floating_point else round(rng.uniform(-2, 2), 2))
        case "setitem_bools" | "getitem_bools":
            if not nd:
                return None
            return one(tuple(rng.random() < 0.5 for _ in range(size[0])), rng.randint(0, 3))
        case "index_put_" | "put_":
            n = (size[0] if kind == "index_put_" else x.numel()) if nd else 0
            return one(tuple(rng.randrange(-n, n) for _ in range(rng.randint(1, 3))), rng.randint(1, 3)) if n else None
        case "scatter_reduce_":
            if not nd or not all(size):
                return None
            return one(dim, rng.choice(("sum", "prod", "amax", "amin", "mean")), rng.random() < 0.5)
        case "foreach_scale_" | "foreach_lerp_" | "foreach_copy_":
            found = [j for j, y in enumerate(variables) if y.dtype.is_floating_point]
            return Statement(kind, tuple(rng.sample(found, rng.randint(1, min(3, len(found)))))) if found else None
        case "out_slice":
            return one(rng.randrange(size[0]), round(rng.uniform(-2, 2), 2)) if nd and size[0] else None
        case "out_fresh" | "out_regrown" if not x.dtype.is_floating_point:
            return None
        case "resize_down":
            return one(tuple(rng.randint(1, n) if n else 0 for n in size))
        case "resize_up":
            return one(rng.choice([(x.numel() + 2,), (*size, 2), (3, 4)]), rng.randint(-2, 2))
        case "storage_refill":
            is_whole = x.numel() * x.element_size() == x.untyped_storage().nbytes()
            return one() if is_whole and x.numel() else None
        case "storage_trim":
            shared = [_reach(y) for y in variables if torch_storage(y) == torch_storage(x)]
            return one(max(shared)) if max(shared) else None
        case "set_tensor" | "set_storage" | "set_part" | "data_set":
            j = another(False)
            if j is None or variables[j].numel() < 4:
                return None
            return Statement(kind, (i, j), (rng.randint(0, 1), rng.choice([(3,), (2, 1)])))
        case "sign_bits" if str(x.dtype) != "torch.float32":
            return None
        case "select":
            return one(dim, rng.randrange(-size[dim], size[dim])) if size[dim] else None
        case "slice":
            return one(dim, *(lambda s: (s.start, s.stop, s.step))(_slice(rng, size[dim]))) if nd else None
        case "narrow":
            if not nd:
                return None
            start = rng.randint(0, size[dim])
            return one(dim, start, rng.randint(0, size[dim] - start))
        case "view" | "reshape":
            return one(rng.choice([(-1,), (x.numel(),), tuple(reversed(size)), (*size, 1), (1, *size), (2, -1)]))
        case "transpose" | "transpose_" | "swapaxes_":
            return one(dim, rng.randrange(nd)) if nd else None
        case "permute":
            return one(tuple(rng.sample(range(nd), nd)))
        case "t" | "t_" | "T":
            return one() if nd <= 2 else None
        case "squeeze" | "squeeze_":
            return one() if rng.random() < 0.5 or not nd else one(dim)
        case "unsqueeze" | "unsqueeze_":
            return one(rng.randrange(-nd - 1, nd + 1)) if nd < 4 else None
        case "expand":
            return one(tuple(rng.choice((2, 3)) if n == 1 else n for n in size))
        case "flatten":
            if not nd:
                return one(0, -1)
            a, b = sorted((rng.randrange(nd), rng.randrange(nd)))
            return one(a, b)
        case "unflatten":
            return one(dim, (rng.choice((1, 2)), -1)) if nd and nd < 4 else None
        case "split":
            return one(rng.randint(1, max(size[dim], 1)), dim)
        case "chunk":
            return one(rng.randint(1, 3), dim)
        case "unbind":
            return one(dim) if size[dim] <= 4 else None
        case "diagonal":
            return one(rng.randint(-1, 1), *rng.sample(range(nd), 2)) if nd >= 2 else None
        case "movedim":
            return one(dim, rng.randrange(nd)) if nd else None
        case "unfold":
            return one(dim, rng.randint(1, size[dim]), rng.randint(1, 2)) if nd and nd < 4 and size[dim] else None
        case "swapaxes":
            return one(dim, rng.randrange(nd)) if nd else None
        case "view_as" | "expand_as":
            j = rng.randrange(len(variables))
            return Statement(kind, (i, j))
        case "mT":
            return one() if nd >= 2 else None
        case "broadcast_to":
            return one((rng.choice((1, 2)), *size)) if nd < 4 else None
        case "split_sizes":
            if not nd or size[dim] < 2:
                return None
            k = rng.randint(1, size[dim] - 1)
            return one((k, size[dim] - k), dim)
        case "setitem_list" | "getitem_list" | "index_select" | "index_copy_" | "index_fill_":
            d = 0 if "item" in kind else dim
            if not nd or not size[d]:
                return None
            picks = rng.sample(range(size[d]), rng.randint(1, size[d]))
            if "item" in kind:
                picks = [k - size[d] if rng.random() < 0.3 else k for k in picks]
            return one(d, tuple(picks), rng.randint(-2, 2))
        case "setitem_pair" | "getitem_pair":
            if nd < 2 or not all(size):
                return None
            n = rng.randint(1, 3)
            picks = tuple(rng.randrange(size[0]) for _ in range(n)), tuple(rng.randrange(size[-1]) for _ in range(n))
            return one(*picks, rng.randint(-2, 2))
        case "setitem_rows":
            return one(round(rng.uniform(-1, 1), 2)) if nd and size[0] else None
        case "setitem_view":
            return one(rng.randint(-2, 2)) if nd and size[0] else None
        case "scatter_" | "scatter_add_":
            return one(dim) if nd and all(size) else None
        case "addcmul_" | "lerp_" | "foreach_add_" | "out_add":
            j = another(True)
            if j is None or not x.dtype.is_floating_point:
                return None
            return Statement(kind, (i, j))
        case "div_" | "imul":
            return one(rng.choice((-2.0, 0.5, 1.5)) if x.dtype.is_floating_point else 2)
        case "fill_diagonal_":
            if nd < 2 or (nd > 2 and len(set(size)) > 1):
                return None
            return one(rng.randint(-2, 2), rng.random() < 0.5)
        case "tril_" | "tril":
            return one() if nd >= 2 else None
        case "copy_cast_":
            found = [j for j, y in enumerate(variables) if tuple(y.shape) == size and y.dtype != x.dtype]
            return Statement(kind, (i, rng.choice(found))) if found else None
        case "flip" | "roll" | "cumsum" | "cumsum_" | "amax" | "prod" | "var":
            return one(dim) if nd and size[dim] else None
        case "as_strided":
            # beyond what a differentiable view shows, PyTorch drops gradients and jaxaot passes them to the base
            if x.numel() < 4 or (x.requires_grad and x._base is not None):
                return None
            return one((2, 2), rng.choice([(1, 2), (2, 1)]), rng.randint(0, 1))
        case "getitem" | "setitem" | "iadd_slice":
            index: list[Any] = []
            for n in size:
                part = rng.random()
                if part < 0.3 and n:
                    index.append(rng.randrange(-n, n))
                elif part < 0.7:
                    index.append(_slice(rng, n))
                elif part < 0.8 and kind == "getitem":
                    index.append(None)
                    index.append(slice(None))
                elif part < 0.9 and Ellipsis not in index:
                    index.append(Ellipsis)
                    break
                else:
                    index.append(slice(None))
            return one(tuple(index), round(rng.uniform(-2, 2), 2))
        case "setitem_tensor":
            j = another(False)
            if j is None or not nd:
                return None
            return Statement(kind, (i, j), (rng.randrange(-size[0], size[0]) if size[0] else 0,))
        case "setitem_mask" | "masked_fill_":
            return one(round(rng.uniform(-1, 1), 2))
        case "setitem_index":
            if not nd or not size[0]:
                return None
            return one(tuple(rng.sample(range(size[0]), rng.randint(1, size[0]))), round(rng.uniform(-2, 2), 2))
        case "index_add_":
            if not nd or not size[dim]:
                return None
            return one(dim, tuple(rng.randrange(size[dim]) for _ in range(2)))
        case "gather":
            return one(dim) if nd and all(size) else None
        case "add_" | "mul_" | "sub_" | "no_grad_mul_" | "no_grad_view_add_" | "data_mul_" | "detach_add_":
            return one(round(rng.uniform(-2, 2), 2) if x.dtype.is_floating_point else rng.randint(-2, 3))
        case "add_tensor_" | "mul_tensor_" | "copy_" | "add_broadcast":
            j = another(rng.random() < 0.7)
            return None if j is None else Statement(kind, (i, j))
        case "add" | "mul" | "cat" | "where" | "stack":
            j = another(True)
            if j is None or (kind == "cat" and not nd):
                return None
            return Statement(kind, (i, j), (dim,) if kind in ("cat", "stack") else ())
        case "matmul":
            if nd != 2:
                return None
            found = [j for j, y in enumerate(variables) if y.ndim == 2 and y.shape[0] == size[1] and y.dtype == x.dtype]
            return Statement(kind, (i, rng.choice(found))) if found else None
        case "fill_":
            return one(rng.randint(-2, 2))
        case "sum_dim" | "softmax" | "mean_keep":
            return one(dim) if nd else None
        case _:
            return one()


def _overlaps_itself(variables: list[Any], statement: Statement) -> bool:
    """Whether a write reads its target's memory under another geometry: PyTorch's answer is undefined there."""
    if statement.kind not in ("add_tensor_", "mul_tensor_", "copy_", "setitem_tensor", "copy_cast_"):
        return False
    x, y = (variables[i] for i in statement.operands)
    same = (x.storage_offset(), x.stride(), x.shape) == (y.storage_offset(), y.stride(), y.shape)
    return torch_storage(x) == torch_storage(y) and (not same or statement.kind == "setitem_tensor")


def _writes_overlapping(variables: list[Any], statement: Statement) -> bool:
    """Whether a write goes to a tensor that shows memory twice: jaxaot refuses it always, PyTorch most of the time."""
    if statement.kind in VIEWS + PURE + METADATA:
        return False
    for i in statement.operands if statement.kind in FOREACH else statement.operands[:1]:
        x = variables[i]
        places = {x.storage_offset()}
        for n, stride in zip(x.shape, x.stride(), strict=True):
            places = {place + k * stride for place in places for k in range(n)}
        if len(places) < x.numel():
            return True
    return False


def _casts_beyond(variables: list[Any], statement: Statement) -> bool:
    """Whether floats that no int can hold are cast to ints: the result is undefined."""
    if statement.kind not in ("copy_cast_", "setitem_tensor"):
        return False
    x, y = (variables[i] for i in statement.operands)
    if not y.dtype.is_floating_point or x.dtype.is_floating_point or x.dtype.is_complex:
        return False
    return not bool((y.detach().abs() < 100).all())


def _aliased_foreach(variables: list[Any], statement: Statement) -> bool:
    """Whether targets of one foreach share memory and require grad: PyTorch forgets gradients of the first ones."""
    if statement.kind not in FOREACH[1:]:
        return False
    targets = [variables[i] for i in statement.operands]
    return any(t.requires_grad for t in targets) and len({torch_storage(t) for t in targets}) < len(targets)


LEFT_OUT = (_overlaps_itself, _writes_overlapping, _casts_beyond, _aliased_foreach)


def execute(lib: Any, variables: list[Any], statement: Statement) -> list[Any]:
    """Returns the new variables that a statement makes."""
    x = variables[statement.operands[0]]
    y = variables[statement.operands[1]] if len(statement.operands) > 1 else None
    p = statement.params
    match statement.kind:
        case "slice":
            made = x[(slice(None),) * (p[0] % x.ndim) + (slice(*p[1:]),)]
        case "view" | "reshape" | "permute" | "expand":
            made = getattr(x, statement.kind)(p[0])
        case "T":
            made = x.t()
        case "getitem":
            made = x[p[0]]
        case "setitem":
            x[p[0]] = p[1] if x.is_floating_point() else int(p[1])
            made = []
        case "iadd_slice":
            x[p[0]] += p[1] if x.is_floating_point() else int(p[1])
            made = []
        case "setitem_tensor":
            x[p[0]] = y
            made = []
        case "unfold" | "swapaxes":
            made = getattr(x, statement.kind)(*p)
        case "view_as" | "expand_as":
            made = getattr(x, statement.kind)(y)
        case "mT":
            made = x.mT
        case "split_sizes":
            made = x.split(list(p[0]), p[1])
        case "setitem_list":
            x[list(p[1])] = p[2]
            made = []
        case "getitem_list":
            made = x[list(p[1])]
        case "index_select":
            made = x.index_select(p[0], lib.tensor(list(p[1])))
        case "index_copy_":
            made = x.index_copy_(p[0], lib.tensor(list(p[1])), x.index_select(p[0], lib.tensor(list(p[1]))) * 2)
        case "index_fill_":
            made = x.index_fill_(p[0], lib.tensor(list(p[1])), p[2])
        case "setitem_pair":
            x[lib.tensor(list(p[0])), ..., lib.tensor(list(p[1]))] = p[2]
            made = []
        case "getitem_pair":
            made = x[lib.tensor(list(p[0])), ..., lib.tensor(list(p[1]))]
        case "setitem_rows":
            rows = x.detach().reshape(x.shape[0], -1)[:, :1].reshape(-1) > p[0] if x.numel() else x.new_zeros(0) > 0
            x[rows] = 3
            made = []
        case "setitem_view":
            x[0].unsqueeze(0)[...] = p[0]
            made = []
        case "scatter_" | "scatter_add_":
            index = (x.detach() * 0).to(lib.int64).narrow(p[0], 0, 1)
            made = getattr(x, statement.kind)(p[0], index, x.narrow(p[0], 0, 1) * 2)
        case "addcmul_":
            made = x.addcmul_(y.clone(), y.clone(), value=0.5)
        case "lerp_":
            made = x.lerp_(y.clone(), 0.25)
        case "tensor_split_at":
            made = x.tensor_split(list(p[0]), p[1])
        case "view_as_real" | "view_as_complex":
            made = getattr(lib, statement.kind)(x)
        case "real" | "imag":
            made = getattr(x, statement.kind)
        case "view_dtype":
            made = x.view(getattr(lib, p[0]))
        case "getitem_mixed":
            made = x[_index(lib, p[0])]
        case "setitem_mixed":
            x[_index(lib, p[0])] = p[1]
            made = []
        case "iadd_mixed":
            x[_index(lib, p[0])] += p[1]
            made = []
        case "setitem_mixed_tensor":
            x[_index(lib, p[0])] = x[_index(lib, p[0])] * p[1] + 1
            made = []
        case "setitem_bools":
            x[lib.tensor(list(p[0]))] = p[1]
            made = []
        case "getitem_bools":
            made = x[list(p[0])]
        case "index_put_":
            index = lib.tensor(list(p[0]))
            made = x.index_put_((index,), x[index] * p[1], accumulate=True)
        case "put_":
            index = lib.tensor(list(p[0]))
            made = x.put_(index, x.take(index) * p[1], accumulate=True)
        case "scatter_reduce_":
            index = (x.detach() * 0).to(lib.int64)
            made = x.scatter_reduce_(p[0], index, x * 2, p[1], include_self=p[2])
        case "masked_scatter_":
            made = x.masked_scatter_(x > 0, x * 3)
        case "foreach_scale_":
            lib._foreach_mul_(
                [variables[o] for o in statement.operands], [0.5 + k for k in range(len(statement.operands))]
            )
            made = []
        case "foreach_lerp_":
            targets = [variables[o] for o in statement.operands]
            lib._foreach_lerp_(targets, [t.sin() for t in targets], 0.25)
            made = []
        case "foreach_copy_":
            targets = [variables[o] for o in statement.operands]
            lib._foreach_copy_(targets, [t * 2 for t in targets])
            made = []
        case "out_slice":
            target = x.detach()[p[0] :]
            lib.mul(target.clone(), 2, out=target)
            made = []
        case "out_fresh":
            made = lib.empty(0)
            lib.exp(x.detach() * 0.1, out=made)
        case "out_regrown":
            lib.add(x, 1, out=x[:0])
            made = []
        case "resize_down":
            made = x.resize_(p[0])
        case "resize_up":
            held = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset()
            made = x.resize_(p[0])
            x.view(-1)[max(held, 0) :] = p[1]
        case "storage_refill":
            kept, storage = x.clone(), x.untyped_storage()
            n_bytes = storage.nbytes()
            storage.resize_(0)
            storage.resize_(n_bytes)
            made = x.copy_(kept)
        case "storage_trim":
            x.untyped_storage().resize_(p[0])
            made = []
        case "set_tensor":
            made = x.set_(y)
        case "set_storage":
            made = x.set_(y.untyped_storage(), y.storage_offset(), p[1])
        case "set_part":
            made = x.set_(y, y.storage_offset() + p[0], p[1], (1,) * len(p[1]))
        case "data_set":
            x.data = y.detach()
            made = []
        case "sign_bits":
            x.view(lib.int32).bitwise_xor_(-(2**31))
            made = []
        case "foreach_add_":
            lib._foreach_add_([x], [y.clone()], alpha=2)
            made = []
        case "out_add":
            with lib.no_grad():
                lib.add(y.detach().clone(), 1, out=x.detach())
            made = []
        case "div_":
            made = x.div_(p[0])
        case "imul":
            x *= p[0]
            made = []
        case "pow_":
            made = x.pow_(2)
        case "masked_fill_tensor_":
            made = x.masked_fill_(x > 0, lib.tensor(2.0).to(x.dtype))
        case "copy_cast_":
            made = x.copy_(y.detach())
        case "flip":
            made = x.flip((p[0],))
        case "roll":
            made = x.roll(1, p[0])
        case "var":
            made = (x * 1.0).var(p[0], unbiased=False)
        case "norm":
            made = (x * 1.0).norm()
        case "repeat":
            made = x.repeat(2, *[1] * x.ndim)
        case "compare":
            made = x > 0
        case "masked_sum":
            made = x.masked_fill(x < 0, 0).sum()
        case "reshape_copy":
            made = x.t().reshape(-1) if x.ndim == 2 else x.reshape(-1)
        case "setitem_mask":
            x[x > p[0]] = 1
            made = []
        case "masked_fill_":
            made = x.masked_fill_(x > p[0], 2)
        case "setitem_index":
            x[lib.tensor(list(p[0]))] = p[1] if x.is_floating_point() else int(p[1])
            made = []
        case "index_add_":
            index = lib.tensor(list(p[1]))
            made = x.index_add_(p[0], index, x.index_select(p[0], index))
        case "gather":
            made = x.gather(p[0], (x.detach() * 0).to(lib.int64))
        case "add_" | "mul_" | "sub_" | "fill_":
            made = getattr(x, statement.kind)(p[0])
        case "add_tensor_" | "mul_tensor_":
            made = getattr(x, statement.kind.replace("_tensor", ""))(y)
        case "copy_":
            made = x.copy_(y)
        case "clamp_":
            made = x.clamp_(-1, 1)
        case "add_broadcast":
            made = x + y
        case "exp_small":
            made = (x * 0.1).exp()
        case "sum_dim":
            made = x.sum(p[0])
        case "mean_keep":
            made = (x * 1.0).mean(p[0], keepdim=True)
        case "softmax":
            made = (x * 1.0).softmax(p[0])
        case "cat" | "stack":
            made = getattr(lib, statement.kind)([x, y], p[0])
        case "where":
            made = lib.where(x > 0, x, y)
        case "add" | "mul":
            made = x + y if statement.kind == "add" else x * y
        case "matmul":
            made = x @ y
        case "no_grad_mul_":
            with lib.no_grad():
                x.mul_(p[0])
            made = []
        case "no_grad_view_add_":
            with lib.no_grad():
                x.view(-1)[:1].add_(p[0])
            made = []
        case "data_mul_":
            x.data.mul_(p[0])
            made = []
        case "detach_add_":
            x.detach().add_(p[0])
            made = []
        case _:
            made = getattr(x, statement.kind)(*p)
    made = list(made) if isinstance(made, (tuple, list)) else [made]
    # an in-place op returns its target: that is not a new variable
    return [m for m in made if not any(m is v for v in variables)]


def make_inputs(lib: Any, program: Program) -> tuple[list[Any], list[Any]]:
    """Returns the inputs of a program, and the leaves behind them if gradients are wanted."""
    rng = np.random.default_rng(program.seed)
    made: list[Any] = []
    leaves: list[Any] = []
    for kind, *rest in program.inputs:
        if kind == "view":
            made += execute(lib, [made[rest[0]]], rest[1])[:1]
            continue
        shape, dtype = rest
        if dtype in ("float32", "complex64"):
            values = rng.standard_normal(shape).astype(np.float32)
            if dtype == "complex64":
                values = values + 1j * rng.standard_normal(shape).astype(np.float32)
            leaf = lib.tensor(values.tolist(), dtype=getattr(lib, dtype))
            if program.grad:
                leaf.requires_grad_()
                leaves.append(leaf)
                leaf = leaf * 1
            made.append(leaf)
        else:
            made.append(lib.tensor(rng.integers(-4, 5, shape).tolist(), dtype=getattr(lib, dtype)).reshape(shape))
    return made, leaves


def run(lib: Any, program: Program, inputs: list[Any]) -> list[Any]:
    """Returns all variables after the statements of a program."""
    variables = list(inputs)
    for statement in program.statements:
        variables += execute(lib, variables, statement)
    return variables


def generate(torch: Any, seed: int, *, grad: bool = False, n_statements: int = 8) -> Program:
    """Returns the random program of a seed: one that PyTorch runs without an error."""
    rng = random.Random(seed)
    kinds = VIEWS * 2 + WRITES * 2 + METADATA + PURE + (GRAD if grad else STORAGE * 2)
    types = ("float32",) * 8 + (("complex64",) if grad else ("complex64", "int64", "int32"))
    inputs: list[Any] = []
    for _ in range(rng.randint(1, 3)):
        inputs.append(("fresh", shape_of(rng), rng.choice(types)))
    program = Program(tuple(inputs), (), (), seed, grad)
    for _ in range(rng.randint(0, 2)):
        made, _ = make_inputs(torch, program)
        i = rng.randrange(len(inputs))
        proposal = propose(rng, [made[i]], tuple(v for v in VIEWS if v not in SPLITS))
        if proposal is None:
            continue
        try:
            if not any(v._base is not None for v in execute(torch, [made[i]], proposal)[:1]):
                continue
        except (RuntimeError, IndexError):
            continue
        inputs.append(("view", i, proposal))
        program = dataclasses.replace(program, inputs=tuple(inputs))
    statements: list[Statement] = []
    for _ in range(n_statements * 4):
        if len(statements) >= n_statements:
            break
        # run all of it anew: a refused statement may have done half of its work
        made, _ = make_inputs(torch, program)
        variables = run(torch, dataclasses.replace(program, statements=tuple(statements)), made)
        statement = propose(rng, variables, kinds)
        if statement is None or any(left_out(variables, statement) for left_out in LEFT_OUT):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # writes that PyTorch deprecates, such as to expanded tensors
                execute(torch, variables, statement)
            if grad and not _backward_works(torch, dataclasses.replace(program, statements=(*statements, statement))):
                continue
        except (RuntimeError, IndexError, ValueError, TypeError, UserWarning):
            continue
        statements.append(statement)
    made, _ = make_inputs(torch, program)
    n = len(run(torch, dataclasses.replace(program, statements=tuple(statements)), made))
    outputs = tuple(rng.sample(range(n), min(n, rng.randint(1, 4))))
    return dataclasses.replace(program, statements=tuple(statements), outputs=outputs)


def as_real(lib: Any, tensor: Any) -> Any:
    """Returns the parts of complex numbers, so that a sum has a gradient."""
    return lib.view_as_real(tensor) if tensor.is_complex() else tensor


def _backward_works(torch: Any, program: Program) -> bool:
    """Whether PyTorch can compute the gradients of a program, and the program is not refused for an in-place write."""
    inputs, _ = make_inputs(torch, program)
    variables = [v for v in run(torch, program, inputs) if v.requires_grad]
    if not variables:
        return True
    sum(as_real(torch, v).sum() for v in variables).backward()
    return True


def partition(tensors: list[Any], storage: Any) -> list[int]:
    """Returns for each tensor the number of the first one that shares its storage."""
    keys = [storage(t) for t in tensors]
    return [keys.index(key) for key in keys]


def torch_storage(tensor: Any) -> Any:
    storage = tensor.untyped_storage()
    return (storage.data_ptr(), storage._cdata)


def compare(expected: list[Any], actual: list[Any]) -> list[str]:
    """Returns every difference between PyTorch's tensors and ours."""
    problems = []
    if len(expected) != len(actual):
        return [f"{len(actual)} variables instead of {len(expected)}"]
    for i, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if tuple(e.shape) != tuple(a.shape):
            problems.append(f"v{i}: shape {tuple(a.shape)} instead of {tuple(e.shape)}")
            continue
        if e.stride() != a.stride() and e.numel():
            problems.append(f"v{i}: stride {a.stride()} instead of {e.stride()} for shape {tuple(e.shape)}")
        if e.storage_offset() != a.storage_offset():
            problems.append(f"v{i}: offset {a.storage_offset()} instead of {e.storage_offset()}")
        if e.requires_grad != a.requires_grad:
            problems.append(f"v{i}: requires_grad {a.requires_grad} instead of {e.requires_grad}")
        want, have = e.detach().numpy(), np.asarray(a.detach()._read())
        if dtypes.canonicalize_dtype(want.dtype) != have.dtype:
            problems.append(f"v{i}: dtype {have.dtype} instead of {want.dtype}")
        elif not np.allclose(want, have, rtol=1e-4, atol=1e-5, equal_nan=True):
            problems.append(f"v{i}: {have} instead of {want}")
    shared = partition(expected, lambda t: torch_storage(t) if t.numel() else id(t))
    ours = partition(actual, lambda t: id(t._storage) if t.numel() else id(t))
    if shared != ours:
        problems.append(f"sharing {ours} instead of {shared}")
    return problems
