"""Random programs agree with PyTorch: values, shapes, strides, sharing, gradients; eagerly and compiled.

`JAXAOT_PROGRAMS=2000 pytest tests/laws` runs that many of each kind. Programs of odd seeds run with 64-bit types.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import archived
from tests.laws.programs import Program, as_real, compare, generate, make_inputs, run
from tests.seeds import chunks

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

CHUNK = 10
CHUNKS = chunks(CHUNK, 40, 20)


def gradients(lib, tensors, leaves):
    """Returns the gradients of a weighted sum of what requires grad; zeros for leaves without one."""
    wanted = [t for t in tensors if t.requires_grad]
    if wanted:
        sum((as_real(lib, t) * (k + 1)).sum() for k, t in enumerate(wanted)).backward()
    return [np.zeros(tuple(leaf.shape)) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


def check(program: Program, *, compiled: bool, saved: bool = False) -> list[str]:
    """Returns every difference between PyTorch and jaxaot on a program, which is saved and loaded between if asked."""
    torch_inputs, torch_leaves = make_inputs(torch, program)
    expected_all = run(torch, program, torch_inputs)
    inputs, leaves = make_inputs(ja, program)
    if compiled:
        expected = [expected_all[i] for i in program.outputs]
        body = lambda *xs: [v[i] for v in [run(ja, program, list(xs))] for i in program.outputs]
        fn = archived(body, *inputs) if saved else ja.compile(body)
        actual = fn(*inputs)
        same = lambda xs, ys: [[k for k, x in enumerate(xs) if x is y] for y in ys]
        problems = compare([*torch_inputs, *expected], [*inputs, *actual])
        if same(torch_inputs, expected) != same(inputs, actual):
            problems.append("an output is not the input that it should be")
        expected, actual = [*torch_inputs, *expected], [*inputs, *actual]
    else:
        expected, actual = expected_all, run(ja, program, inputs)
        problems = compare(expected, actual)
    if program.grad and not problems:
        try:
            want = gradients(torch, expected, torch_leaves)
        except RuntimeError:
            return []  # PyTorch refuses: a tensor that it saved was written
        for i, (w, h) in enumerate(zip(want, gradients(ja, actual, leaves), strict=True)):
            if not np.allclose(w, h, rtol=1e-3, atol=1e-4, equal_nan=True):
                problems.append(f"leaf {i}: gradient {h} instead of {w}")
    return problems


def check_chunk(start: int, *, grad: bool, compiled: bool, saved: bool = False) -> None:
    failures = []
    for seed in range(start, start + CHUNK):
        program = generate(torch, seed, grad=grad)
        with jax.enable_x64(seed % 2 == 1):
            problems = check(program, compiled=compiled, saved=saved)
        if problems:
            failures.append(f"seed {seed}:\n{program}\n" + "\n".join(problems))
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("start", CHUNKS)
def test_eager_values(start):
    check_chunk(start, grad=False, compiled=False)


@pytest.mark.parametrize("start", CHUNKS)
def test_eager_gradients(start):
    check_chunk(start, grad=True, compiled=False)


@pytest.mark.parametrize("start", CHUNKS[:1])
def test_gradients_by_kernels_that_went_through_the_passes(start, everything_is_large, own_kernels):
    check_chunk(start, grad=True, compiled=False)


@pytest.mark.parametrize("start", CHUNKS[:1])
def test_gradients_of_compiled_tapes(start):
    with ja.compiler.compiled_autograd():
        check_chunk(start, grad=True, compiled=False)


@pytest.mark.parametrize("start", CHUNKS)
def test_compiled_values(start):
    check_chunk(start, grad=False, compiled=True)


@pytest.mark.parametrize("start", CHUNKS)
def test_compiled_gradients(start):
    check_chunk(start, grad=True, compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("start", CHUNKS[:1])
def test_compiled_gradients_in_subprograms(start, everything_is_large, everything_is_cut):
    check_chunk(start, grad=True, compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("start", CHUNKS)
@pytest.mark.parametrize("grad", [False, True])
def test_programs_that_were_saved_and_loaded(start, grad):
    check_chunk(start, grad=grad, compiled=True, saved=True)
