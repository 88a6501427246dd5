"""The command line: `jaxaot demo`, `explain MODULE:FUNCTION`, `profile MODULE:FUNCTION`, `cache pack`, `--version`."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from rich.console import Console

from jaxaot._util import signature_of
from jaxaot._versions import JAXAOT
from jaxaot.api import compile
from jaxaot.demo.model import Shape
from jaxaot.demo.text import load_text
from jaxaot.errors import JaxaotError, UsageError
from jaxaot.facade.devices import find_device
from jaxaot.lower.warm.packed import pack, unpack
from jaxaot.partition.budget import check_budget
from jaxaot.profiling.profile import profile


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="jaxaot", description="Mutable tensors and automatic rematerialization for JAX.")
    parser.add_argument("--version", action="version", version=_versions())
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    demo = commands.add_parser("demo", help="train a small GPT on real text")
    demo.add_argument("--text", metavar="FILE", help="text to learn; by default the Python standard library's source")
    demo.add_argument("--steps", type=int, default=400, help="training steps (default %(default)s)")
    demo.add_argument("--budget", metavar="B", help='what the forward may save: a fraction such as 0.3, or "8MiB"')
    demo.add_argument("--seed", type=int, default=0, help="of parameters, batches and dropout (default %(default)s)")
    demo.add_argument("--device", help='such as "cpu" or "cuda:0"; by default JAX\'s choice')
    demo.add_argument("--out", metavar="DIR", help="write an HTML report into this directory")
    demo.set_defaults(run=_demo)
    explain = commands.add_parser("explain", help="print every stage of a function")
    explain.add_argument(
        "function", metavar="MODULE:FUNCTION", help="its module has `example_args()` that returns its arguments"
    )
    explain.set_defaults(run=_explain)
    profiled = commands.add_parser("profile", help="what a function computes, moves and keeps, from shapes alone")
    profiled.add_argument(
        "function", metavar="MODULE:FUNCTION", help="its module has `example_args()`, or its arguments have a --shape"
    )
    profiled.add_argument("--target", help="the device, such as h100 or v5e; by default the one in use")
    profiled.add_argument("--budget", metavar="B", help='what the forward may save: a fraction such as 0.3, or "8MiB"')
    profiled.add_argument(
        "--shape", metavar="X=TYPE", action="append", default=[], help="the type of an argument, such as x=f32[32,128]"
    )
    profiled.add_argument("--forward", action="store_true", help="the forward alone, without gradients")
    profiled.add_argument("--json", action="store_true", help="print plain data instead of tables")
    profiled.add_argument("--trace", metavar="FILE", help="write a trace for https://ui.perfetto.dev")
    profiled.set_defaults(run=_profile)
    cache = commands.add_parser("cache", help="carry a directory of `cache_dir` to other machines")
    ways = cache.add_subparsers(dest="way", required=True, parser_class=_Parser)
    packed = ways.add_parser("pack", help="write a directory into one file")
    packed.add_argument("folder", metavar="DIR", help="the directory of `cache_dir`")
    packed.add_argument("file", metavar="FILE", help="the file")
    packed.set_defaults(run=_pack)
    unpacked = ways.add_parser("unpack", help="add what is in such a file to a directory")
    unpacked.add_argument("file", metavar="FILE", help="the file, from somebody you trust: programs run from it")
    unpacked.add_argument("folder", metavar="DIR", help="the directory of `cache_dir`")
    unpacked.set_defaults(run=_unpack)
    return parser


def _versions() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"jaxaot {JAXAOT} with jax {jax.__version__} on Python {python}"


def _budget(text: str | None) -> Any:
    if text is None:
        return None
    try:
        budget: Any = float(text)
    except ValueError:
        budget = text
    check_budget(budget)
    return budget


def _demo(options: argparse.Namespace, console: Console) -> None:
    from jaxaot.demo.report import write_report
    from jaxaot.demo.train import run

    if not 0 <= options.seed < 2**31:
        raise UsageError(f"--seed must be between 0 and {2**31 - 1}, not {options.seed}")
    if options.steps < 1:
        raise UsageError(f"--steps must be at least 1, not {options.steps}")
    budget = _budget(options.budget)
    corpus = load_text(options.text, 4 * (Shape().context + 2))
    out = None if options.out is None else Path(options.out)
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write the report to --out {out}: {error.strerror}") from error
    device = None if options.device is None else find_device(options.device)
    with jax.default_device(device):
        result = run(corpus, options.steps, budget, options.seed, console)
    if out is not None:
        console.print(f"Report: {write_report(out, result, corpus.unigram_entropy)}")


def _pack(options: argparse.Namespace, console: Console) -> None:
    console.print(f"{pack(options.folder, options.file)} files packed", highlight=False)


def _unpack(options: argparse.Namespace, console: Console) -> None:
    console.print(f"{unpack(options.file, options.folder)} files unpacked", highlight=False)


def _explain(options: argparse.Namespace, console: Console) -> None:
    module, function = _load(options.function, "explain")
    compile(function).explain(*_example_args(module, options.function, "explain"))


def _load(name: str, what: str) -> tuple[Any, Callable[..., Any]]:
    """Returns a module and a function in it, given as `MODULE:FUNCTION`.

    Args:
      name: The two names.
      what: What is to be done with it, for the error.

    Raises:
      UsageError: If there are none of these names.
    """
    module_name, _, function = name.partition(":")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
        return module, getattr(module, function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"cannot {what} {name}: {error}") from error


def _example_args(module: Any, name: str, what: str) -> tuple[Any, ...]:
    try:
        return tuple(module.example_args())
    except AttributeError as error:
        raise UsageError(f"cannot {what} {name}: {error}") from error


def _profile(options: argparse.Namespace, console: Console) -> None:
    module, function = _load(options.function, "profile")
    shapes = dict(map(_shape, options.shape))
    names = _parameters(function)
    unknown = [name for name in shapes if names is not None and name not in names]
    if unknown:
        raise UsageError(f"{options.function} has no argument {', '.join(unknown)}; it has {', '.join(names or ())}")
    missing = [name for name in names or () if name not in shapes]
    if not hasattr(module, "example_args") and (names is None or missing):
        needed = " ".join(f"--shape {name}=f32[…]" for name in missing) or "`example_args()` in its module"
        raise UsageError(f"the arguments of {options.function} have no shapes: write {needed}")
    args = list(_example_args(module, options.function, "profile")) if names is None or missing else []
    if names is not None:
        given = dict(zip(names, args, strict=False)) | shapes
        absent = [name for name in names if name not in given]
        if absent:
            raise UsageError(f"the argument {', '.join(absent)} of {options.function} has no shape: add --shape")
        args = [given[name] for name in names]
    budget = _budget(options.budget)
    found = profile(function, *args, backward=not options.forward, target=options.target, memory_budget=budget)
    if options.trace is not None:
        try:
            found.save_trace(options.trace)
        except OSError as error:
            raise UsageError(f"cannot write --trace {options.trace}: {error.strerror}") from error
    print(json.dumps(found.to_dict(), indent=1) if options.json else found)


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    """Returns the names of the arguments that have no default; None if they have no names."""
    signature = signature_of(function)
    if signature is None or any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in signature.parameters.values()):
        return None
    return [name for name, p in signature.parameters.items() if p.default is p.empty and p.kind != p.VAR_KEYWORD]


_SHAPE = re.compile(r"\s*(\w+)\s*=\s*(\w+)\s*\[([^\]]*)\]\s*\Z")
_SHORT = {"f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint", "c": "complex"}


def _shape(text: str) -> tuple[str, jax.ShapeDtypeStruct]:
    """Returns the name and the type that `x=f32[32,128]` says.

    Raises:
      UsageError: If it says none.
    """
    match = _SHAPE.match(text)
    if match is None:
        raise UsageError(f"cannot read --shape {text}: write NAME=TYPE[SIZES], such as x=f32[32,128]")
    name, dtype, sizes = match.groups()
    found = re.fullmatch(r"(f|bf|i|s|u|c)(\d+)", dtype)
    full = {"pred": "bool"}.get(dtype, _SHORT[found[1]] + found[2] if found else dtype)
    try:
        shape = tuple(int(size) for size in sizes.split(",") if sizes.strip())
        if any(size < 0 for size in shape):
            raise ValueError
    except ValueError:
        raise UsageError(f"cannot read --shape {text}: the sizes are whole numbers of at least 0") from None
    try:
        return name, jax.ShapeDtypeStruct(shape, jnp.dtype(full))
    except TypeError:
        raise UsageError(
            f"cannot read --shape {text}: there is no dtype {dtype}; write f32, bf16, i32, bool, …"
        ) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status: 0, 2 after one line that says what is wrong, 130 on Ctrl-C."""
    try:
        options = _parser().parse_args(argv)
        options.run(options, Console())
    except KeyboardInterrupt:
        print("jaxaot: interrupted", file=sys.stderr)
        return 130
    except (UsageError, JaxaotError) as error:
        print(f"jaxaot: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0
