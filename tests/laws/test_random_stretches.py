"""Random programs that call disabled functions: with `` they do what eager does, call after call.

Programs are those of `test_random_segments.py`, with calls of functions under `ja.compiler.disable` between: these
look at values, write in place to what they are given and to what outlives the calls, draw, count, keep a log, and
return tensors of their own, their arguments or views of these. Python runs them and the program at each call, so
Python's state is compared after each.

`JAXAOT_PROGRAMS=2000 pytest tests/laws/test_random_stretches.py` runs that many.
"""

from __future__ import annotations

import warnings

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.laws import test_random_segments as segments
from tests.laws.test_random_control_flow import VIEWS, WRITES, pair, written_value
from tests.seeds import seeds


class Growth(segments.Growth):
    """Grows a program from a seed."""

    def statement(self, names, depth):
        if self.rng.random() < 0.7:
            return super().statement(names, depth)
        fresh, pick = f"v{self.rng.randrange(10**6)}", self.rng.choice
        made = ("disabled", fresh, pick(list(DISABLED)), pick(names), pick(names))
        names.append(fresh)
        return made


def write(world, a, b):
    with ja.no_grad():
        WRITES["mul_"](a, written_value(a, b.detach()))
    return b


def write_recorded(world, a, b):
    value = a * 1 if a.is_leaf else a
    return WRITES["add_"](value, written_value(value, b)) * 1


def look(world, a, b):
    world.log.append([round(float(v), 3) for v in np.asarray(a.detach().numpy()).ravel()])
    return b.sin()


def keep(world, a, b):
    world.mode += 1
    with ja.no_grad():
        world.b[0].add_(pair(a).detach().tanh())
    return world.b[world.mode % 3] * 0.5 + pair(b)


def ask(world, a, b):
    return pair(b) * (2 if pair(a).detach().sum() > 0.3 else -1) + ja.rand(2)


def view(world, a, b):
    return a if a.ndim == 1 else a[0]


def backward(world, a, b):
    (pair(a) * 0.3).sum().backward(retain_graph=True) if a.requires_grad else None
    return b


DISABLED = {fn.__name__: fn for fn in (write, write_recorded, look, keep, ask, view, backward)}


class World(segments.World):
    """What outlives the calls of a program."""

    def __init__(self):
        super().__init__()
        self.disabled = ja.compiler.disable(lambda name, a, b: DISABLED[name](self, a, b))


def check(seed):
    """Returns whether the program of a seed is one that runs eagerly; then it runs compiled alike."""
    growth = Growth(seed)
    rng = growth.rng
    block = growth.block(["w", "u", "h", "b", "x", "twin", *VIEWS], 2, rng.randrange(4, 10))
    world, held = World(), World()
    fn = segments.program(block)
    try:
        expected = [segments.observe(fn, world, n) for n in segments.CALLS]
    except (ja.errors.JaxaotError, RuntimeError):
        return False
    compiled = ja.compile(fn, max_programs=rng.choice((128, 128, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ja.errors.RecompileWarning)
        for (values, facts, (mode, log)), n in zip(expected, segments.CALLS, strict=True):
            our_values, our_facts, (our_mode, our_log) = segments.observe(compiled, held, n)
            assert growth.is_branching or our_facts == facts  # see `segments.Growth`
            assert our_mode == mode and len(our_log) == len(log)
            for ours, theirs in zip(our_values, values, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    assert compiled.cache_info().currsize <= 128
    if seed % 20 == 19:  # executables take memory
        jax.clear_caches()
    return True


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(40, 0))
def test_random_programs(seed):
    check(seed)


def test_most_random_programs_run_eagerly():
    assert sum(check(seed) for seed in range(40, 42)) >= 1
