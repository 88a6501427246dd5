"""The command line: `jaxaot demo`, `jaxaot explain MODULE:FUNCTION`, `jaxaot --version`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import jax
from rich.console import Console

from jaxaot._versions import JAXAOT
from jaxaot.api import compile
from jaxaot.demo.model import Shape
from jaxaot.demo.text import load_text
from jaxaot.errors import JaxaotError, UsageError
from jaxaot.facade.devices import find_device
from jaxaot.partition.budget import check_budget


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


def _explain(options: argparse.Namespace, console: Console) -> None:
    module_name, _, name = options.function.partition(":")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
        function: Callable[..., Any] = getattr(module, name)
        args = module.example_args()
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"cannot explain {options.function}: {error}") from error
    compile(function).explain(*args)


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
