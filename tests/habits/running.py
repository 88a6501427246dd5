"""Runs a habit eagerly or compiled, and says what came out and how it ran."""

import contextlib
import inspect
import io
import warnings

import numpy as np

from tests.habits import modules, python, training, values

HABITS = {
    name: fn
    for module in (values, python, modules, training)
    for name, fn in inspect.getmembers(module, inspect.isfunction)
    if fn.__module__ == module.__name__ and not name.startswith("_")
}
"""Name → a program of a package and of what compiles: `t.compile`, or nothing. It returns what is compared."""

DRAWS = {
    "dropout_differs", "generator_object", "manual_seed_in", "fullgraph_break_raises",
}  # fmt: skip
"""Habits whose numbers are drawn by the package: PyTorch draws others."""


class Compile:
    """Stands for `t.compile`; it compiles nothing if it is not to."""

    def __init__(self, t, compiles):
        self.t, self.compiles, self.made = t, compiles, []

    def __call__(self, fn=None, **options):
        if fn is None:
            return lambda fn: self(fn, **options)
        if not self.compiles:
            return fn
        self.made.append(self.t.compile(fn, **options))
        return self.made[-1]


def plain(value):
    """Returns a value with arrays in place of tensors, and lists in place of tuples."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return [[str(key), plain(item)] for key, item in value.items()]
    if hasattr(value, "detach"):
        return np.array(value.detach().numpy())
    return value


def same(found, wanted, at="result"):
    """Raises an `AssertionError` that names the place, if two plain values differ by more than rounding."""
    assert isinstance(found, list) == isinstance(wanted, list), f"{at}: {found} is not {wanted}"
    if isinstance(wanted, list):
        assert len(found) == len(wanted), f"{at}: {found} is not {wanted}"
        for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
            same(one, other, f"{at}[{i}]")
    elif isinstance(wanted, float | int | np.ndarray) and not isinstance(wanted, bool):
        assert np.shape(found) == np.shape(wanted), f"{at}: {found} is not {wanted}"
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=at)
    else:
        assert found == wanted, f"{at}: {found!r} is not {wanted!r}"


def run(t, name, compiles=False):
    """Runs a habit.

    Returns:
      What it returns, plain, and what it printed; what was compiled; the warnings of jaxaot.
    """
    compile, out = Compile(t, compiles), io.StringIO()
    t.manual_seed(0)
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        found = HABITS[name](t, compile)
    ours = [one for one in said if one.category.__module__.startswith("jaxaot")]
    return [plain(found), out.getvalue()], compile.made, ours


def what_happens(made, warned):
    """Returns how calls of what was compiled ran: `eagerly`, `in parts`, `by ways`, or `whole`."""
    if any("eagerly" in str(one.message) for one in warned):
        return "eagerly"
    parts = [fn._parts for fn in made if getattr(fn, "_parts", None) is not None]
    if not parts:
        return "whole"
    return "by ways" if all(one._branches.cache_info()[2] for one in parts) and not warned else "in parts"
