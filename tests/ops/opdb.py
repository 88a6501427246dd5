"""PyTorch's own operator samples (`op_db`), run through the facade and compared.

`python -m tests.ops.opdb [--samples N] [--measure forward,gradient,inplace,second] [NAME …]` prints the misses of the
named ops (`linalg.` selects a namespace; none selects all). `--part k/n --results FILE` runs every n-th op and keeps
what came out; `--summary FILE …` says how many ops of such files agree, and which do not.

An op is found by its name: `linalg.norm` is `ja.linalg.norm`, `bfloat16` is `ja.Tensor.bfloat16`. Forward compares
values, shapes and kinds of dtype; gradient those of all float operands for random cotangents; in place the operand
after `name_` and the errors that PyTorch raises there.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import sys
import traceback
import types
import warnings

import jax
import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import jaxaot as ja
from jaxaot.facade.dispatch.operands import clear_kernels

MEASURES = ("forward", "gradient", "inplace")
"""What is measured of every op; `second` besides, where it is asked for by name."""

OUT_OF_SCOPE = {
    "jiterator": "compiles CUDA source",
    "sparse": "sparse layouts",
    "to_sparse": "sparse layouts",
    "torch.ops.": "internal to PyTorch",
    "torch._": "internal to PyTorch",
    "_": "internal to PyTorch",
}
"""Prefix of the name → why an op is left out; operators like `__add__` are not internal."""

RANDOM = {
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential", "geometric",
    "log_normal", "multinomial", "new_empty", "new_empty_strided", "nn.functional.alpha_dropout",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.rrelu", "normal", "pca_lowrank", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "svd_lowrank", "uniform", "nn.functional.multi_head_attention_forward",
    "nn.functional.scaled_dot_product_attention",
}  # fmt: skip
"""Ops whose values are drawn, or left as they are: only shapes and dtypes are compared, unless nothing is drawn."""

TYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16, torch.bfloat16, torch.float64)
WIDE_TYPES = (torch.float64, torch.complex128)


MISSES: dict[tuple[str, str], str] = {
    ("hash_tensor", "forward"): "its result is uint64, which x64 off does not have; with x64 on it agrees",
    ("istft", "gradient"): "PyTorch has no gradient of the window where none is needed; ours is there",
    ("logcumsumexp", "gradient"): "PyTorch's float32 backward is off by 2e-3; ours agrees with float64",
    ("as_strided_scatter", "gradient"): "PyTorch 2.13 keeps the gradient where it was overwritten, and drops the rest",
    ("as_strided_scatter", "second"): "as for the gradient",
    ("istft", "second"): "as for the gradient",
    ("nn.functional.linear_cross_entropy.chunked", "second"): "PyTorch's of one row is not that of its own plain form",
    ("unravel_index", "forward"): "a sample has a dim of 2⁶³ − 1, which int32 cannot hold; with x64 on it agrees",
}
"""(op, measure) → why it does not agree on all samples. Everything else does, and the test says so."""


@dataclasses.dataclass
class Outcome:
    """What one measure of one op came to: how many samples, and the first misses."""

    n: int = 0
    n_missed: int = 0
    misses: list[str] = dataclasses.field(default_factory=list)

    def miss(self, text: str) -> None:
        self.n_missed += 1
        if len(self.misses) < 3:
            self.misses.append(text)


def is_drawn(op, sample):
    """Returns whether the values of a sample's result are drawn."""
    chance = sample.kwargs.get("dropout_p", sample.kwargs.get("p"))
    return op.name in RANDOM and chance != 0 and sample.kwargs.get("training") is not False


def full_name(op) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def why_left_out(op) -> str | None:
    """Returns why an op is not compared, or None."""
    if op.name.startswith("__") and op.name.endswith("__"):
        return None
    if op.name == "slice":
        return "internal to PyTorch"
    return next((why for prefix, why in OUT_OF_SCOPE.items() if op.name.startswith(prefix)), None)


def chosen_dtype(op):
    return next((dtype for dtype in TYPES if dtype in op.dtypes), None)


class _AsTorch:
    """The facade under the name `torch`, in which `torch.ops.aten.name.default` is `ja.name`."""

    class _Aten:
        def __getattr__(self, name):
            return types.SimpleNamespace(default=getattr(ja, name))

    ops = types.SimpleNamespace(aten=_Aten())

    def __getattr__(self, name):
        return getattr(ja, name)


def rebound(function):
    """Returns a function of PyTorch's tests, such as `lambda a, b: torch.linalg.pinv(a @ b.mT)`, on the facade."""
    scope = {
        **function.__globals__,
        "torch": _AsTorch(),
        "wrapper_set_seed": lambda op, *args, **kwargs: op(*args, **kwargs),
    }
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def find(op):
    """Returns the function or method of the facade with the name of an op."""
    if isinstance(op.op, types.FunctionType) and op.op.__module__.startswith("torch.testing"):
        return rebound(op.op)
    if op.name == "trace":
        return ja.Tensor.trace  # `ja.trace` is a stage of the compiler
    found = ja
    for part in op.name.split("."):
        found = getattr(found, part, None)
    if (found is None or isinstance(found, ja.dtype)) and "." not in op.name:  # `ja.cfloat`, as `torch.cfloat`
        found = getattr(ja.Tensor, op.name, None)
    return found


# -- values between the two libraries ----------------------------------------------------------------------------------

_MEMORY_FORMATS = {torch.channels_last: "channels_last", torch.channels_last_3d: "channels_last_3d",
                   torch.contiguous_format: "contiguous_format", torch.preserve_format: "preserve_format"}  # fmt: skip


def dtype_of(dtype):
    return getattr(ja, str(dtype).removeprefix("torch."))


def array_of(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor._is_zerotensor():
        tensor = tensor.clone()
    if tensor.dtype == torch.complex32:  # NumPy and JAX have no complex halves
        tensor = tensor.to(torch.complex64)
    if tensor.dtype == torch.bfloat16:
        return jax.numpy.asarray(tensor.float().numpy(), jax.numpy.bfloat16)
    return tensor.numpy()


def to_facade(value, leaves=None):
    """Returns a sample's value for the facade; tensors keep strides, and `leaves` collects those with gradients."""
    if isinstance(value, torch.Tensor):
        return tensor_for_facade(value, leaves)
    if isinstance(value, torch.dtype):
        return dtype_of(value)
    if isinstance(value, torch.memory_format):
        return getattr(ja, _MEMORY_FORMATS[value])
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.nn.PairwiseDistance):
        return lambda x, y: ja.nn.functional.pairwise_distance(x, y, value.norm, value.eps, value.keepdim)
    return value


def tensor_for_facade(tensor, leaves):
    plain = tensor.detach().resolve_conj().resolve_neg()
    if plain.is_contiguous() and plain.storage_offset() == 0:
        made = ja.tensor(array_of(plain))
    else:
        flat = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage())
        made = ja.tensor(array_of(flat)).as_strided(plain.size(), plain.stride(), plain.storage_offset()).detach()
    if tensor.requires_grad:
        made.requires_grad_()
        if leaves is not None:
            leaves.append((tensor, made))
    return made


def convert(tree, leaves=None):
    if isinstance(tree, (list, tuple)) and not isinstance(tree, torch.Size) and not hasattr(tree, "_fields"):
        return type(tree)(convert(item, leaves) for item in tree)
    if isinstance(tree, dict):
        return {key: convert(item, leaves) for key, item in tree.items() if not isinstance(item, torch.layout)}
    if isinstance(tree, torch.Size):
        return tuple(tree)
    return to_facade(tree, leaves)


def flat_outputs(value):
    """Returns the tensors and numbers in a result."""
    if isinstance(value, (list, tuple)) and not isinstance(value, (torch.Size, ja.Size)):
        return [leaf for item in value for leaf in flat_outputs(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat_outputs(item)]
    return [value]


def kind_of(array):
    if jax.numpy.issubdtype(array.dtype, jax.numpy.complexfloating):
        return "complex"
    if jax.numpy.issubdtype(array.dtype, jax.numpy.floating):
        return "float"
    return "bool" if array.dtype == bool else "int"


def is_low(dtype):
    """Returns whether a dtype has so few digits that two ways to the same value differ much."""
    return dtype in (torch.float16, torch.bfloat16)


def difference(expected, got, values=True, tolerance=None):
    """Returns how a result differs from PyTorch's by more than the tolerance, or than that of its dtype, or None."""
    if not isinstance(expected, torch.Tensor):
        if isinstance(expected, (torch.Size, tuple)):
            return None if tuple(expected) == tuple(got) else f"{got} instead of {tuple(expected)}"
        if isinstance(expected, torch.dtype):
            return None if np.dtype(dtype_of(expected)) == np.dtype(got) else f"{got} instead of {expected}"
        same = got == expected or (isinstance(expected, float) and np.isclose(got, expected, 1e-4, equal_nan=True))
        return None if same else f"{got!r} instead of {expected!r}"
    if not isinstance(got, ja.Tensor):
        return f"a {type(got).__name__} instead of a tensor"
    if tuple(expected.shape) != tuple(got.shape):
        return f"shape {tuple(got.shape)} instead of {tuple(expected.shape)}"
    a, b = array_of(expected), np.asarray(got.detach().jax())
    if kind_of(a) != kind_of(b):
        return f"{b.dtype} instead of {a.dtype}"
    if not values or a.size == 0:
        return None
    tolerance = tolerance or (
        2e-2 if is_low(expected.dtype) or (got.dtype.itemsize <= 2 and kind_of(a) == "float") else 3e-4
    )
    wide = np.complex128 if kind_of(a) == "complex" else np.float64
    a, b = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
    finite = np.abs(a[np.isfinite(a)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    close = np.isclose(b, a, rtol=tolerance, atol=tolerance * 0.3 * scale, equal_nan=True)
    if close.all():
        return None
    place = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{(~close).sum()} of {a.size} values, {b[place]} instead of {a[place]} at {place}"


def compare_all(expected, got, values=True):
    expected, got = flat_outputs(expected), flat_outputs(got)
    if len(expected) != len(got):
        return f"{len(got)} results instead of {len(expected)}"
    for position, (e, g) in enumerate(zip(expected, got, strict=True)):
        found = difference(e, g, values)
        if found:
            return found if len(expected) == 1 else f"result {position}: {found}"
    return None


# -- one op ------------------------------------------------------------------------------------------------------------


def shown(sample):
    text = lambda v: f"{tuple(v.shape)}" if isinstance(v, torch.Tensor) else repr(v)
    args = [pytree.tree_map(text, a) for a in (sample.input, *sample.args)]
    return f"{args} {pytree.tree_map(text, sample.kwargs)}".replace("'", "")[:300]


def error_text(error):
    made = ("<op", "_forms.py")
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if "/jaxaot/" in f.filename and not any(part in f.filename for part in made)
    ]
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:200]}{where}"


_n_samples = itertools.count(1)


def samples_of(op, requires_grad, limit, dtype=None):
    dtype = dtype or chosen_dtype(op)
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    if limit and len(samples) > limit:
        samples = [samples[round(i * (len(samples) - 1) / max(limit - 1, 1))] for i in range(limit)]
    for sample in samples:
        if next(_n_samples) % 100 == 0:
            free_executables()
        yield sample


def free_executables():
    """Drops what was compiled: executables take memory, and maps of it, of which a process has 65,530."""
    clear_kernels()
    jax.clear_caches()


def processed(result, sample):
    """Returns a result as PyTorch's tests compare it: without the signs and phases that an op leaves open."""
    process = sample.output_process_fn_grad
    return process(result) if process is not None else result


WRAPPERS = ("gradcheck_wrapper_hermitian_input", "gradcheck_wrapper_triangular_input")


def wrapped(op, fn):
    if op.gradcheck_wrapper is not None and op.gradcheck_wrapper.__name__ in WRAPPERS:
        return lambda *args, **kwargs: op.gradcheck_wrapper(fn, *args, **kwargs)
    return fn


def measure_forward(op, fn, outcome, limit):
    has_free_signs = op.name.startswith("linalg.eig") or "svd" in op.name
    for sample in samples_of(op, False, limit):
        arguments = convert((sample.input, *sample.args)), convert(sample.kwargs)
        try:
            torch.manual_seed(0)
            expected = op.op(sample.input, *sample.args, **sample.kwargs)
            if has_free_signs:
                expected = processed(expected, sample)
        except Exception:
            continue  # what PyTorch refuses is not a sample
        outcome.n += 1
        try:
            got = fn(*arguments[0], **arguments[1])
            if has_free_signs:
                got = processed(got, sample)
            found = compare_all(expected, got, values=not is_drawn(op, sample))
        except Exception as error:
            found = error_text(error)
        if found:
            outcome.miss(f"{shown(sample)}: {found}")


def gradient_difference(name, expected, got, **how):
    """Returns what is wrong about the first wrong one of some gradients, None if nothing is; None stands for zeros."""
    for position, (e, g) in enumerate(zip(expected, got, strict=True)):
        if e is None or g is None:
            other = g if e is None else e
            is_wrong = other is not None and bool((other != 0).any())
            text = f"{'not None' if e is None else 'None'}, unlike PyTorch's" if is_wrong else None
        else:
            text = difference(e, g, **how)
        if text:
            return f"{name} {position}: {text}"
    return None


def measure_gradient(op, fn, outcome, limit):
    for sample in samples_of(op, True, limit):
        leaves = []
        arguments = convert((sample.input, *sample.args), leaves), convert(sample.kwargs, leaves)
        try:
            result = wrapped(op, op.op)(sample.input, *sample.args, **sample.kwargs)
            result = flat_outputs(processed(result, sample))
            places = [i for i, r in enumerate(result) if isinstance(r, torch.Tensor) and r.requires_grad]
            if not places or not leaves:
                continue
            torch.manual_seed(1)
            cotangents = [torch.randn(result[i].shape).to(result[i].dtype) for i in places]
            expected = torch.autograd.grad(
                [result[i] for i in places], [leaf for leaf, _ in leaves], cotangents, allow_unused=True
            )
        except Exception:
            continue  # what PyTorch does not differentiate is not a sample
        outcome.n += 1
        try:
            got = wrapped(op, fn)(*arguments[0], **arguments[1])
            got = flat_outputs(processed(got, sample))
            grads = ja.autograd.grad(
                [got[i] for i in places],
                [leaf for _, leaf in leaves],
                [ja.tensor(array_of(c)) for c in cotangents],
                allow_unused=True,
            )
            found = gradient_difference("gradient", expected, grads, values=not is_drawn(op, sample))
        except Exception as error:
            found = error_text(error)
        if found:
            outcome.miss(f"{shown(sample)}: {found}")


def second_derivatives(library, results, leaves):
    """Returns the gradients of a number made of all gradients of an op; None if these do not depend on its operands."""
    results = [r for r in flat_outputs(results) if isinstance(r, library.Tensor) and r.requires_grad]
    bend = lambda x: (x * 0.7 + 0.2).asinh().sum()  # smooth, curved at 0, and true to the digits of what is large
    number = lambda x: (x.real.sum() + bend(x.imag)) if x.is_complex() else bend(x)
    first = library.autograd.grad(sum(map(number, results)), leaves, create_graph=True, allow_unused=True)
    live = [g for g in first if g is not None and g.requires_grad]
    return library.autograd.grad(sum(map(number, live)), leaves, allow_unused=True) if live else None


def measure_second(op, fn, outcome, limit):
    """Compares second derivatives; measured only where it is asked for, as it compiles much.

    Both libraries compute in float64: near a pole of an op float32 leaves no digit of its second derivative.
    """
    dtype = next((dtype for dtype in WIDE_TYPES if dtype in op.supported_backward_dtypes("cpu")), None)
    with jax.enable_x64(True):
        for sample in samples_of(op, True, limit, dtype):
            compare_second(op, fn, outcome, sample)


def compare_second(op, fn, outcome, sample):
    leaves = []
    arguments = convert((sample.input, *sample.args), leaves), convert(sample.kwargs, leaves)
    try:
        results = processed(wrapped(op, op.op)(sample.input, *sample.args, **sample.kwargs), sample)
        expected = second_derivatives(torch, results, [leaf for leaf, _ in leaves])
    except Exception:
        return  # what PyTorch does not differentiate twice is not a sample
    if expected is None or is_drawn(op, sample) or not all(e is None or e.isfinite().all() for e in expected):
        return
    outcome.n += 1
    lossy = any(isinstance(r, torch.Tensor) and is_low(r.dtype) for r in flat_outputs(results))
    try:
        results = processed(wrapped(op, fn)(*arguments[0], **arguments[1]), sample)
        got = second_derivatives(ja, results, [leaf for _, leaf in leaves]) or [None] * len(expected)
        found = gradient_difference("second derivative", expected, got, tolerance=5e-2 if lossy else 1e-6)
    except Exception as error:
        found = error_text(error)
    if found:
        outcome.miss(f"{shown(sample)}: {found}")


def measure_inplace(op, fn, outcome, limit):
    name = getattr(op.inplace_variant, "__name__", f"{op.name}_")
    if isinstance(op.inplace_variant, types.FunctionType) and op.inplace_variant.__module__.startswith("torch.testing"):
        method = rebound(op.inplace_variant)
    elif isinstance(op.inplace_variant, functools.partial):  # `partial(torch.nn.functional.mish, inplace=True)`
        method = functools.partial(fn, **op.inplace_variant.keywords)
    else:
        method = getattr(ja.Tensor, name, None)
    for sample in samples_of(op, False, limit):
        if not isinstance(sample.input, torch.Tensor):
            continue
        target = sample.input.clone()
        arguments = convert(tuple(sample.args)), convert(sample.kwargs)
        mine = to_facade(target)
        try:
            torch.manual_seed(0)
            op.inplace_variant(target, *sample.args, **sample.kwargs)
            refused = None
        except Exception as error:
            refused = error
        outcome.n += 1
        if method is None:
            outcome.miss(f"there is no Tensor.{name}")
            continue
        try:
            method(mine, *arguments[0], **arguments[1])
            found = None if refused is None else f"PyTorch refuses: {refused}"[:200]
        except Exception as error:
            found = error_text(error) if refused is None or not isinstance(error, ja.errors.JaxaotError) else None
        if found is None and refused is None:
            found = compare_all(target, mine, values=not is_drawn(op, sample))
        if found:
            outcome.miss(f"{shown(sample)}: {found}")


def measures_of(op):
    """Returns which measures an op has."""
    dtype = chosen_dtype(op)
    found = ["forward"]
    if (
        op.supports_autograd
        and dtype.is_floating_point | dtype.is_complex
        and dtype in op.supported_backward_dtypes("cpu")
    ):
        found += ["gradient", "second"]
    if op.inplace_variant is not None:
        found.append("inplace")
    return found


def run_op(op, measures=MEASURES, limit=None):
    """Returns measure → outcome of one op."""
    fn = find(op)
    outcomes = {}
    for measure in measures_of(op):
        if measure not in measures:
            continue
        outcome = outcomes[measure] = Outcome()
        if fn is None and measure != "inplace":
            outcome.n = 1
            outcome.miss("there is no such function")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            globals()[f"measure_{measure}"](op, fn, outcome, limit)
    return outcomes


def in_scope():
    """Returns the ops that are compared."""
    return [op for op in op_db if why_left_out(op) is None and chosen_dtype(op) is not None]


def print_summary(files):
    """Prints how many ops agree on all their samples, which do not and why, and what is left out."""
    results = {}
    for file in files:
        results.update(json.loads(pathlib.Path(file).read_text()))
    for measure in MEASURES:
        missed = {name: r[measure] for name, r in results.items() if measure in r and r[measure][1]}
        n_ops = sum(measure in r for r in results.values())
        print(f"{measure}: {n_ops - len(missed)} of {n_ops} ops agree")
        for name, (n, n_missed) in sorted(missed.items()):
            print(f"  {name}: {n_missed} of {n} samples do not; {MISSES.get((name, measure), 'unknown')}")
    left_out = collections.defaultdict(list)
    for op in op_db:
        why = why_left_out(op) or (None if chosen_dtype(op) is not None else "no samples on CPU")
        if why:
            left_out[why].append(full_name(op))
    for why, names in left_out.items():
        print(f"left out, {why}: {', '.join(names)}")


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--measure", default=",".join(MEASURES))
    parser.add_argument("--part", default="0/1", help="k/n: every n-th op from the k-th on")
    parser.add_argument("--results", help="file for what came out")
    parser.add_argument("--summary", action="store_true", help="sum up the files named")
    options = parser.parse_args(argv)
    if options.summary:
        print_summary(options.names)
        return
    part, parts = (int(p) for p in options.part.split("/"))
    totals, results = collections.Counter(), {}
    for position, op in enumerate(in_scope()):
        name = full_name(op)
        chosen = [name == n or op.name == n or (n.endswith(".") and name.startswith(n)) for n in options.names]
        if position % parts != part or (options.names and not any(chosen)):
            continue
        outcomes = run_op(op, options.measure.split(","), options.samples)
        results[name] = {measure: (o.n, o.n_missed) for measure, o in outcomes.items()}
        for measure, outcome in outcomes.items():
            totals[measure, bool(outcome.n_missed)] += 1
            if outcome.n_missed:
                print(f"{measure:9} {name}: {outcome.n_missed} of {outcome.n}")
                for miss in outcome.misses:
                    print(f"          {miss}")
        sys.stdout.flush()
    for measure in options.measure.split(","):
        good, bad = totals[measure, False], totals[measure, True]
        print(f"{measure}: {good} of {good + bad}")
    if options.results:
        pathlib.Path(options.results).write_text(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
