"""Runs small programs about Python's state, eagerly and compiled, and says what is another thing where.

`tests/data/state/` has the programs, one file a kind. Each begins with a line `# case: its name`; what follows defines
a function `f`. The code below `# change:` changes from outside what `f` reads, with `v` as 3, 2 and 5; if there is
code below `# back:`, the second change is that. `# look:` shows state that the variables of the program do not hold,
and `# after:` puts right what other programs would see. Variables with `_` before them are not looked at.
`args` and `kwargs` are what the function is called with, where that is more than the tensor `x`.

    python -m tests.tracer.python_state              # all of them: one line for each that is not the same
    python -m tests.tracer.python_state classes      # the programs of a file
    python -m tests.tracer.python_state -v "a slot"  # the cases whose names hold that, with all that differs
"""

import collections
import contextlib
import dataclasses
import importlib.util
import itertools
import pathlib
import re
import sys
import traceback
import types
import warnings

import numpy as np

import jaxaot as ja
from jaxaot import nn
from jaxaot.errors import RecompileWarning

DATA = pathlib.Path(__file__).parent.parent / "data" / "state"
SECTION = re.compile(r"^# (case|change|back|look|after): ?(.*)$", re.MULTILINE)
VALUES = (3, 2, 5)
MODULE = "state_of_a_case"
DIGITS = 5
NEEDED = {"libraries": ("pydantic", "tqdm"), "unread_of_libraries": ("pydantic",)}

PRELUDE = """
import abc, array, asyncio, bisect, builtins, collections, contextlib, contextvars, copy, csv, dataclasses, datetime
import decimal, enum, fractions, functools, heapq, importlib, inspect, io, itertools, json, locale, logging, math
import numbers, operator, os, pathlib, pickle, queue, random, re, string, sys, tempfile, textwrap, threading, types
import typing, warnings, weakref
import jax, jax.numpy as jnp, numpy as np
import jaxaot as ja
from jaxaot import nn
from jaxaot.nn import functional as F

class Box:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)
"""
_PRELUDE = compile(PRELUDE, "<prelude>", "exec")


@dataclasses.dataclass
class Case:
    """A small program.

    Attributes:
      name: What it is about.
      file: The name of its file, which says the kind.
      parts: Code of its sections.
    """

    name: str
    file: str
    parts: dict[str, types.CodeType]


def read(path):
    """Returns the cases of a file; their code knows its lines, as that of a module does."""
    text, cases = path.read_text(), []
    found = list(SECTION.finditer(text))
    for this, after in itertools.zip_longest(found, found[1:]):
        kind, rest = this.groups()
        end = after.start() if after else len(text)
        n_lines = text.count("\n", 0, this.end())
        if kind == "case":
            cases.append(Case(rest, path.stem, {}))
            kind, rest = "setup", ""
        source = rest if kind == "look" else rest + text[this.end() : end]
        assert kind not in cases[-1].parts, f"{cases[-1].name}: `{kind}` is there twice"
        mode = "eval" if kind == "look" else "exec"
        cases[-1].parts[kind] = compile("\n" * n_lines + source.rstrip(), str(path), mode, dont_inherit=True)
    return cases


def files():
    """Returns the files of programs, without those over libraries that are not installed."""
    return [path for path in sorted(DATA.glob("*.py")) if all(map(importlib.util.find_spec, NEEDED.get(path.stem, ())))]


# -- what is seen ------------------------------------------------------------------------------------------------------


class Seen:
    """Turns values into plain ones that compare: without a look at any code of the user's.

    Attributes:
      numbers: By address: how many objects were met before. An object that is met again is known by that.
      kept: All of them, so that no address is used again.
    """

    def __init__(self):
        self.numbers, self.kept = {}, []

    def __call__(self, value):
        kind = type(value)
        if any(kind is plain for plain in PLAIN):
            return _name(kind), repr(value)
        if kind is not tuple and kind is not frozenset:  # of which nobody sees whether they are one
            if id(value) in self.numbers:
                return "again", self.numbers[id(value)]
            self.numbers[id(value)] = len(self.numbers)
            self.kept.append(value)
        return _name(kind), *self._parts(value), *self._attributes(value)

    def _parts(self, value):
        if _is_a(value, ja.Tensor):
            shown = str(tuple(value.shape)) if value.is_meta else _rounded(value.detach().tolist())
            yield str(value.dtype), shown, value.requires_grad, self(value.grad)
        elif _is_a(value, np.ndarray):
            yield str(value.dtype), self(value.tolist())
        elif _is_a(value, types.FunctionType):
            cells = [self(_held(cell)) for cell in value.__closure__ or ()]
            yield value.__code__.co_name, self(value.__defaults__), self(value.__kwdefaults__), cells
        elif _is_a(value, types.MethodType):
            yield self(value.__func__), self(value.__self__)
        elif _is_a(value, type):
            yield _name(value)
            if _module(value) == MODULE:
                own = {k: v for k, v in _dict(value).items() if not k.startswith(("__", "_abc_"))}
                yield [(k, self(v)) for k, v in sorted(own.items()) if not _is_a(v, *OF_CLASSES)]
        elif _is_a(value, types.ModuleType):
            if value.__name__.startswith("state_"):
                yield [(k, self(v)) for k, v in sorted(vars(value).items()) if not k.startswith("__")]
        elif _is_a(value, dict):
            of = collections.OrderedDict if _is_a(value, collections.OrderedDict) else dict
            yield [(self(k), self(v)) for k, v in of.items(value)]
        elif _is_a(value, set, frozenset):
            of = set if _is_a(value, set) else frozenset
            yield sorted(repr(self(item)) for item in of.__iter__(value))
        elif _is_a(value, list, tuple, collections.deque):
            of = next(kind for kind in (list, tuple, collections.deque) if _is_a(value, kind))
            yield [self(item) for item in of.__iter__(value)]
        elif _is_a(value, BaseException):
            yield self(value.args)
        elif _is_a(value, *PLAIN):
            yield next(kind for kind in PLAIN if _is_a(value, kind)).__repr__(value)
        elif _module(type(value)) not in (MODULE, "types"):
            yield re.sub("0x[0-9a-fA-F]+", "", repr(value))

    def _attributes(self, value):
        for cls in type.__getattribute__(type(value), "__mro__"):
            for name, member in _dict(cls).items():
                if _is_a(member, types.MemberDescriptorType) and _module(cls) == MODULE:
                    try:
                        yield name, self(member.__get__(value))
                    except AttributeError:
                        yield name, "absent"
        if _is_a(value, ja.Tensor, nn.Module):
            shown = {k: v for k, v in vars(value).items() if k[0] != "_" or k in SHOWN_OF_MODULES}
            yield [(k, self(v)) for k, v in shown.items()]
        elif not _is_a(value, type, types.ModuleType) and _module(type(value)) in LOOKED_INTO:
            with contextlib.suppress(Exception):
                yield [(k, self(v)) for k, v in object.__getattribute__(value, "__dict__").items()]


PLAIN = (int, str, bytes, bool, float, complex, type(None), type(...), type(NotImplemented), range, slice)
OF_CLASSES = (
    types.MemberDescriptorType, types.GetSetDescriptorType, staticmethod, classmethod, property, types.FunctionType,
)  # fmt: skip
SHOWN_OF_MODULES = ("_parameters", "_buffers", "_modules")
LOOKED_INTO = (MODULE, "types", "collections", "argparse", "queue")
"""Modules of whose classes the attributes of objects are state that programs show; of others it is what `repr` says."""


def _is_a(value, *classes):
    return any(base is cls for base in type.__getattribute__(type(value), "__mro__") for cls in classes)


def _dict(cls):
    return type.__dict__["__dict__"].__get__(cls)


def _name(cls):
    return type.__dict__["__qualname__"].__get__(cls)


def _module(cls):
    return type.__dict__["__module__"].__get__(cls)


def _rounded(values):
    """Returns a tensor's values as text, without the last digits: programs and eager calls may round otherwise."""
    if isinstance(values, list):
        return f"[{', '.join(map(_rounded, values))}]"
    return f"{values:.{DIGITS}g}" if isinstance(values, float) else repr(values)


def _held(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


# -- one program -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Run:
    """What the calls of one copy of a program gave.

    Attributes:
      steps: For each call what it returned or raised, and the state after it.
      warned: Classes and texts of warnings.
      error: What a call raised.
      n_programs: After each call; empty if it is not compiled.
      currsize: How many programs are kept at the end.
    """

    steps: list = dataclasses.field(default_factory=list)
    warned: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)
    n_programs: list = dataclasses.field(default_factory=list)
    currsize: int = 0


def run(case, compiler=None):
    """Runs one copy of a program: two calls, and two more after each change but the second, which has one.

    Args:
      case: The program.
      compiler: What compiles the function; None if it runs as it is.
    """
    module = sys.modules[MODULE] = types.ModuleType(MODULE)
    space, found = vars(module), Run()
    exec(_PRELUDE, space)
    plain = set(space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ja.manual_seed(0)
            space["x"] = ja.tensor([1.0, 2.0])
            exec(case.parts["setup"], space)
            fn = compiler(space["f"]) if compiler else space["f"]
            for n_calls, v in zip((2, 2, 1, 2), (None, *VALUES), strict=True):
                if v is not None:
                    space["v"] = v
                    is_back = v == VALUES[1] and "back" in case.parts
                    exec(case.parts["back" if is_back else "change"], space)
                for _ in range(n_calls):
                    found.steps.append(_step(case, fn, space, plain, found))
                    if compiler:
                        found.n_programs.append(fn.n_programs)
            found.currsize = fn.cache_info().currsize if compiler else 0
        finally:
            if "after" in case.parts:
                exec(case.parts["after"], space)
    found.warned = [(w.category, str(w.message)) for w in caught]
    del sys.modules[MODULE]
    return found


def _step(case, fn, space, plain, found):
    error, seen = None, Seen()
    try:
        result = fn(*space.get("args", (space["x"],)), **space.get("kwargs", {}))
    except Exception as raised:
        error, result = raised, None
        text = str(raised).partition("\n")[0]
        outcome = "raised", type(raised).__name__, text
    else:
        outcome = "returned", seen(result)
    found.errors.append(error)
    state = {k: seen(space[k]) for k in sorted(space) if k not in plain and k[0] != "_"}
    if "look" in case.parts:
        state["look"] = seen(eval(case.parts["look"], space))
    return outcome, state


@dataclasses.dataclass
class Verdict:
    """How a compiled program compares with the eager one.

    Attributes:
      status: `same`, `eager` (with a warning), `EAGER` (without one), `raises`, `warned` (different, but a warning was
        given), `DIFFERENT` (silently), or of programs that read nothing of what changes `GROWS`.
      detail: What differs.
    """

    status: str
    detail: str = ""
    error: BaseException | None = None


def judge(case, compiler=ja.compile):
    """Runs both copies of a program and returns a verdict."""
    eager = run(case)
    if eager.errors[0] is not None:
        raise eager.errors[0]
    compiled = run(case, compiler)
    for number, (one, other) in enumerate(zip(eager.steps, compiled.steps, strict=True)):
        if one == other:
            continue
        error = compiled.errors[number]
        where = f"call {number + 1}: "
        if error is not None and eager.errors[number] is None:
            return Verdict("raises", where + f"{type(error).__name__}: {str(error)[:300]}", error)
        differs = [("result", one[0], other[0])] if one[0] != other[0] else []
        names = [k for k in {**one[1], **other[1]} if one[1].get(k) != other[1].get(k)]
        differs += [(k, one[1].get(k), other[1].get(k)) for k in names]
        detail = where + "; ".join(f"{k}: eager {a}, compiled {b}" for k, *both in differs for a, b in [_apart(*both)])
        warned = [text for category, text in compiled.warned if category.__module__.startswith("jaxaot")]
        if warned:
            return Verdict("warned", f"{detail} ({warned[0][:100]})")
        return Verdict("DIFFERENT", detail)
    if case.file.startswith("unread") and len(set(compiled.n_programs[1:])) > 1:
        return Verdict("GROWS", f"programs after each call: {compiled.n_programs}")
    if compiled.currsize == 0 and not any(compiled.errors):
        said = [text for category, text in compiled.warned if issubclass(category, RecompileWarning)]
        return Verdict("eager", said[0][:200]) if said else Verdict("EAGER", "without a warning")
    return Verdict("same")


def _apart(one, other):
    """Returns the first parts of two nested tuples that differ, as text."""
    while all(isinstance(part, (tuple, list)) and len(str(part)) > 100 for part in (one, other)):
        if len(one) != len(other):
            break
        one, other = next((a, b) for a, b in zip(one, other, strict=True) if a != b)
    return _short(one), _short(other)


def _short(value):
    text = re.sub(r"\('(?:int|str|float|bool|NoneType)', '([^']*)'\)", r"\1", str(value))
    text = re.sub(r"\('Tensor', \('float32', '([^']*)', False, None\), \[\]\)", r"\1", text)
    return text if len(text) < 160 else text[:160] + "…"


def interpret():
    """Has graphs run one equation at a time, without machine code."""
    from jaxaot.lower import backends
    from jaxaot.lower.interpret import Interpreter

    backends._backends["xla"] = Interpreter


def main(words):
    """Prints how the programs compare."""
    import time

    interpret()
    verbose = "-v" in words
    words = [word for word in words if word != "-v"]
    every = [case for path in files() for case in read(path)]
    stems = {case.file for case in every}
    fits = lambda case, word: case.file == word if word in stems else word in case.name
    chosen = [case for case in every if not words or any(fits(case, word) for word in words)]
    counts, seconds, of_files = (
        collections.Counter(),
        collections.Counter(),
        collections.defaultdict(collections.Counter),
    )
    start = time.time()
    for case in chosen:
        began = time.time()
        try:
            verdict = judge(case)
        except Exception as error:  # the program itself is wrong
            verdict = Verdict("BROKEN", "".join(traceback.format_exception(error)[-3:]))
        counts[verdict.status] += 1
        of_files[case.file][verdict.status] += 1
        detail = verdict.detail if verbose or verdict.status == "BROKEN" else verdict.detail[:230]
        if verdict.status != "same" or verbose:
            print(f"{verdict.status:10} {case.file}: {case.name} | {detail}", flush=True)
        if verbose and verdict.error is not None:
            traceback.print_exception(verdict.error, limit=-6)
        seconds[case.name] = time.time() - began
    print()
    if verbose:
        print("slowest:", ", ".join(f"{name} {t:.2f} s" for name, t in seconds.most_common(8)))
    for file, count in of_files.items():
        print(f"{file:24} {sum(count.values()):4} " + ", ".join(f"{n} {status}" for status, n in count.most_common()))
    print(f"{len(chosen)} programs in {time.time() - start:.0f} s: {dict(counts.most_common())}")


if __name__ == "__main__":
    main(sys.argv[1:])
