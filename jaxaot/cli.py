"""The command line: `jaxaot demo`, `explain`, `profile`, `cache`, `doctor`, `bench`, `--version`.

Results go to stdout, errors to stderr as one line. Colours follow `NO_COLOR`, and are left out in a pipe, as are
progress bars. Where the output takes ASCII alone, other characters are spelled in it.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import dataclasses
import errno
import functools
import importlib
import io
import json
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from rich.console import Console

from jaxaot._util import signature_of
from jaxaot._versions import JAXAOT
from jaxaot.api import explain
from jaxaot.demo.model import Shape
from jaxaot.demo.text import load_text
from jaxaot.doctor import examine, lines_of
from jaxaot.errors import (
    ArgumentError,
    BudgetError,
    ConcretizationError,
    JaxaotError,
    NotDifferentiableError,
    PolicyError,
    UsageError,
)
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.devices import find_device
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.partition.budget import check_budget
from jaxaot.profiling.profile import name_of, place_of, profile
from jaxaot.settings import config


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{self.prog} --help` says what there is")

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stdout).write(message)  # argparse itself says nothing of what cannot be written


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="jaxaot",
        description="Mutable tensors and automatic rematerialization for JAX.",
        epilog="Exit status: 0 done, 1 `doctor` found a problem, 2 wrong usage, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=_versions())
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    asked = _Parser(add_help=False)
    asked.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    asked.add_argument("--json", action="store_true", help="print plain data instead of text and tables")
    demo = commands.add_parser("demo", parents=[asked], help="train a small GPT on real text, about a minute")
    demo.add_argument("--text", metavar="FILE", help="text to learn; by default the Python standard library's source")
    demo.add_argument("--steps", type=int, default=300, help="training steps (default %(default)s)")
    demo.add_argument("--budget", metavar="B", help='what the forward may save: a fraction such as 0.3, or "8MiB"')
    demo.add_argument("--seed", type=int, default=0, help="of parameters, batches and dropout (default %(default)s)")
    demo.add_argument("--device", help='such as "cpu" or "cuda:0"; by default JAX\'s choice')
    demo.add_argument("--out", metavar="DIR", help="write an HTML report into this directory")
    demo.set_defaults(run=_demo)
    explain = commands.add_parser(
        "explain",
        parents=[asked],
        help="what a function changes and saves, and every graph",
        description="What a function changes, what is saved for the backward and why, what passes did, memory over "
        "time, and every graph.",
        epilog="Example: jaxaot explain train:step --html step.html",
    )
    explain.add_argument(
        "function", metavar="MODULE:FUNCTION", help="its module has `example_args()` that returns its arguments"
    )
    explain.add_argument("--html", metavar="FILE", help="write one page of HTML that needs no network")
    explain.add_argument("--policy", help='what may be saved: "min_cut", "save_all", …')
    explain.add_argument("--budget", metavar="B", help='how much may be saved: a fraction such as 0.3, or "8MiB"')
    explain.set_defaults(run=_explain)
    profiled = commands.add_parser(
        "profile", parents=[asked], help="what a function computes, moves and keeps, from shapes alone"
    )
    profiled.add_argument(
        "function", metavar="MODULE:FUNCTION", help="its module has `example_args()`, or its arguments have a --shape"
    )
    profiled.add_argument("--target", help="the device, such as h100 or v5e; by default the one in use")
    profiled.add_argument("--budget", metavar="B", help='what the forward may save: a fraction such as 0.3, or "8MiB"')
    profiled.add_argument(
        "--shape", metavar="X=TYPE", action="append", default=[], help="the type of an argument, such as x=f32[32,128]"
    )
    profiled.add_argument("--forward", action="store_true", help="the forward alone, without gradients")
    profiled.add_argument("--trace", metavar="FILE", help="write a trace for https://ui.perfetto.dev")
    profiled.set_defaults(run=_profile)
    doctor = commands.add_parser("doctor", parents=[asked], help="versions, devices, extras, and what does not fit")
    doctor.set_defaults(run=_doctor)
    bench = commands.add_parser("bench", parents=[asked], help="a short comparison with jax.jit on this machine")
    bench.add_argument("--seconds", type=float, default=10, help="how long steps are taken (default %(default)s)")
    bench.set_defaults(run=_bench)
    return parser


_SPELLED = {"…": "...", "→": "->", "←": "<-", "·": ".", "×": "x", "—": "-", "–": "-", "≤": "<=", "≥": ">=", "²": "^2"}
_SPELLED |= dict(zip("µμ▁▂▃▄▅▆▇█─│├└┘┐", "uu_.:-=+*#-|++++", strict=True))


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Returns characters that the output does not take, spelled in ASCII, and where they end."""
    assert isinstance(error, UnicodeEncodeError)
    chars = error.object[error.start : error.end]
    return "".join(_SPELLED.get(char) or ascii(char)[1:-1] for char in chars), error.end


codecs.register_error("jaxaot.spelled", _spelled)


class _Closed(io.TextIOBase):
    """Stands for a stream that was closed when the process began: what is written is an error, as of any other."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "stdout is closed")


@contextlib.contextmanager
def _streams() -> Iterator[None]:
    """Has stdout and stderr take all characters, and stdout be there."""
    before = [(stream, stream.errors) for stream in (sys.stdout, sys.stderr) if hasattr(stream, "reconfigure")]
    is_closed = sys.stdout is None
    try:
        for stream, _ in before:
            stream.reconfigure(errors="jaxaot.spelled")  # type: ignore[union-attr]
        if is_closed:
            sys.stdout = _Closed()
        yield
    finally:
        if is_closed:
            sys.stdout = None  # type: ignore[assignment]
        for stream, errors in before:
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=errors)  # type: ignore[union-attr]


def _say(text: str) -> None:
    """Writes a line to stderr, if that is there."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            print(f"jaxaot: {' '.join(text.split())}", file=sys.stderr)


def _give_up_stdout() -> None:
    """Has what is still to be written to stdout go nowhere, as Python would write it once more at the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _of_users(what: str, name: str) -> Iterator[None]:
    """Says in one line what the user's code raises, when something was to be done with a function of that name."""
    try:
        yield
    except (UsageError, JaxaotError, BrokenPipeError):
        raise
    except Exception as error:
        raise UsageError(f"cannot {what} {name}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Returns an error of the user's code in words: its class, where it was raised, and its text."""
    return f"{type(error).__name__}{place_of(error)}" + (f": {error}" if str(error) else "")


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


def _demo(options: argparse.Namespace, console: Console) -> int:
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
    if options.json:
        print(json.dumps(result.to_dict(), indent=1))
    if out is not None:
        console.print(f"Report: {write_report(out, result)}")
    return 0


def _explain(options: argparse.Namespace, console: Console) -> int:
    module, function = _load(options.function, "explain")
    args = _example_args(module, function, options.function, "explain")
    budget = _budget(options.budget)
    with _of_users("explain", options.function):
        report = explain(function, *args, policy=options.policy, memory_budget=budget)
    if options.html is not None:
        report.save_html(options.html)
    if options.json:
        print(report.to_json())
    elif options.html is not None:
        console.print(f"Report: {options.html}", highlight=False)
    elif not options.quiet:
        print(report.text(min(100, console.width)))
    return 0


def _doctor(options: argparse.Namespace, console: Console) -> int:
    found = examine()
    if options.json:
        print(json.dumps(found, indent=1))
    for line in lines_of(found):
        console.print(line, highlight=False, markup=False, style="red" if line.startswith("problem") else None)
    return 1 if found["problems"] else 0


def _bench(options: argparse.Namespace, console: Console) -> int:
    from jaxaot.demo.bench import bench_table, run_bench

    if not options.seconds > 0:
        raise UsageError(f"--seconds must be more than 0, not {options.seconds}")
    timings = run_bench(options.seconds, console)
    if options.json:
        print(json.dumps([dataclasses.asdict(timing) for timing in timings], indent=1))
    console.print(bench_table(timings))
    return 0


def _load(name: str, what: str) -> tuple[Any, Callable[..., Any]]:
    """Returns a module and a function in it, given as `MODULE:FUNCTION`, to do with it what the error says."""
    module_name, _, function = name.partition(":")
    if not module_name or not function:
        raise UsageError(f"cannot {what} {name}: write MODULE:FUNCTION, such as `train:step`")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
        return module, getattr(module, function)
    except SyntaxError as error:
        place = f"{error.filename}:{error.lineno}"
        raise UsageError(f"cannot {what} {name}: {place} is no Python, {error.msg}: {error.text or ''}") from error
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"cannot {what} {name}: {error}") from error
    except Exception as error:
        raise UsageError(f"cannot {what} {name}: its module raises {_said(error)}") from error


def _example_args(module: types.ModuleType, function: Callable[..., Any], name: str, what: str) -> tuple[Any, ...]:
    """Returns the arguments that a module has for one of its functions."""
    if not hasattr(module, "example_args"):
        raise UsageError(
            f"cannot {what} {name}: its module has no `example_args()`; write one that returns the arguments, such as "
            "`def example_args(): return (ja.ones(3),)`"
        )
    with _of_users(f"call `example_args()` to {what}", name):
        found = module.example_args()
    args = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    signature = signature_of(function)
    if signature is not None:
        try:
            signature.bind(*args)
        except TypeError as error:
            raise UsageError(
                f"cannot {what} {name}: `example_args()` returns {len(args)} arguments, which do not fit: {error}"
            ) from error
    return args


def _profile(options: argparse.Namespace, console: Console) -> int:
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
    is_asked = names is None or bool(missing)
    args = list(_example_args(module, function, options.function, "profile")) if is_asked else []
    if names is not None:
        given = dict(zip(names, args, strict=False)) | shapes
        absent = [name for name in names if name not in given]
        if absent:
            raise UsageError(f"the argument {', '.join(absent)} of {options.function} has no shape: add --shape")
        args = [given[name] for name in names]
    budget = _budget(options.budget)
    ask = functools.partial(profile, backward=not options.forward, target=options.target, memory_budget=budget)
    with _of_users("profile", options.function):
        found = _profiled(ask, function, args, [value for value in args if value in shapes.values()])
    if options.trace is not None:
        try:
            found.save_trace(options.trace)
        except OSError as error:
            raise UsageError(f"cannot write --trace {options.trace}: {error.strerror}") from error
    if options.json:
        print(json.dumps(found.to_dict(), indent=1))
    elif not options.quiet:
        print(found.text(min(100, console.width)))
    return 0


def _profiled(ask: Callable[..., Any], function: Callable[..., Any], args: list[Any], shapes: list[Any]) -> Any:
    """Returns the profile of a function of arrays, or of tensors if it takes none; `shapes` are arguments too."""
    try:
        return ask(function, *args)
    except (ConcretizationError, BudgetError, PolicyError, ArgumentError, NotDifferentiableError):
        raise
    except (AttributeError, TypeError, JaxaotError) as error:
        if not shapes:
            raise
        of_arrays = error
    empty = FUNCTIONS[""]["empty"]
    tensors = [empty(x.shape, dtype=x.dtype, device="meta") if x in shapes else x for x in args]
    try:
        try:
            return ask(function, *tensors)
        except NotDifferentiableError:  # it has no parameters: as of arrays, the first argument is one
            if not (isinstance(tensors[0], Tensor) and tensors[0].is_floating_point()):
                raise
            tensors[0].requires_grad_()
            return ask(function, *tensors)
    except Exception as error:
        if isinstance(of_arrays, AttributeError) and isinstance(of_arrays.obj, jax.Array):
            raise
        raise UsageError(
            f"cannot profile {name_of(function)}: of arrays it is {_said(of_arrays)}; of tensors it is {_said(error)}"
        ) from error


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    """Returns the names of the arguments that have no default; None if they have no names."""
    signature = signature_of(function)
    if signature is None or any(p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in signature.parameters.values()):
        return None
    return [name for name, p in signature.parameters.items() if p.default is p.empty and p.kind != p.VAR_KEYWORD]


_SHAPE = re.compile(r"\s*(\w+)\s*=\s*(\w+)\s*\[([^\]]*)\]\s*\Z")
_SHORT = {"f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint", "c": "complex"}


def _shape(text: str) -> tuple[str, jax.ShapeDtypeStruct]:
    """Returns the name and the type that `x=f32[32,128]` says."""
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
    """Runs the command line and returns the exit status.

    It is 0 if all went well, 1 if `doctor` found a problem, 2 after one line that says what is wrong, as where the
    output cannot be written, 130 on Ctrl-C, and 141 if nobody reads the output any more.
    """
    with _streams():
        try:
            try:
                options = _parser().parse_args(argv)
                with config(progress=not options.quiet):
                    status = options.run(options, Console(quiet=options.quiet or options.json))
            except SystemExit:  # of --help and --version
                sys.stdout.flush()
                raise
            sys.stdout.flush()
            return status
        except KeyboardInterrupt:
            _say("interrupted")
            return 130
        except BrokenPipeError:  # such as `jaxaot explain … | head`
            _give_up_stdout()
            return 141
        except (UsageError, JaxaotError) as error:
            _say(str(error))
            return 2
        except OSError as error:
            _give_up_stdout()
            _say(f"cannot write {error.filename or 'the output'}: {error.strerror or error}")
            return 2
