"""Calls of a function from an archive do what calls under `ja.compile` do: writes, views, aliases, gradients."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import archived
from tests.laws.calls import PATTERNS, arguments, body_of
from tests.laws.mutations import MUTATIONS
from tests.seeds import seeds

EAGER = {name for name, program in MUTATIONS.items() if program.n_arguments is not None}
"""Programs whose inputs are held by a closure: in an archive these are its own."""
NAMES = sorted(set(MUTATIONS) - EAGER)


@pytest.fixture
def types_of_64_bits():
    with jax.enable_x64(True):
        yield


def observe(value: Any) -> tuple[list[Any], list[Any]]:
    """Returns the tensors with their gradients, and the other facts, of nested lists and tuples."""
    if isinstance(value, ja.Tensor):
        facts: list[Any] = [
            value._version, value.is_leaf, str(value.dtype), value.requires_grad, tuple(value.shape), value.stride(),
            value.storage_offset(), value._base is None,
        ]  # fmt: skip
        has_grad = value.is_leaf and value.requires_grad and value.grad is not None
        return [value, *([value.grad] if has_grad else [])], [*facts, has_grad]
    if isinstance(value, (list, tuple)):
        parts = [observe(part) for part in value]
        return [t for tensors, _ in parts for t in tensors], [fact for _, facts in parts for fact in facts]
    return [], [value]


def sharing(tensors: list[Any]) -> list[int]:
    """Returns a number for each storage, in the order in which they are met."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(id(tensor.untyped_storage()), len(numbers)) for tensor in tensors]


def check_alike(expected: Any, actual: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Fails unless two runs let one observe the same."""
    (wanted, facts), (found, others) = observe(expected), observe(actual)
    assert facts == others
    assert sharing(wanted) == sharing(found)
    for one, other in zip(wanted, found, strict=True):
        one, other = one.detach().numpy(), other.detach().numpy()
        np.testing.assert_allclose(other, one, rtol=rtol, atol=atol)


def check_program(name: str) -> None:
    """Runs a program compiled and from an archive, twice each."""
    program = MUTATIONS[name]
    fn = lambda *inputs: program.body(ja, *inputs)
    compiled = ja.compile(fn)
    try:
        from_archive = archived(fn, *program.inputs(ja))
    except ja.errors.ExportError:
        assert name in REFUSED
        return
    assert name not in REFUSED
    for _ in range(2):
        runs = []
        for call in (compiled, from_archive):
            inputs = program.inputs(ja)
            seen = call(*inputs)
            runs.append([inputs, seen, program.then(ja, inputs, seen) if program.then else []])
        check_alike(*runs)


REFUSED: dict[str, str] = {}
"""Programs that need their source, and why."""


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES[::30])
def test_mutations(name, types_of_64_bits):
    check_program(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_mutations(name, types_of_64_bits):
    check_program(name)


# -- random calls ------------------------------------------------------------------------------------------------------


def outcome(call: Any, pattern: str, seed: int, grad: bool) -> Any:
    """Returns what a call lets one observe, and the gradients of its leaves; or how it fails."""
    given, leaves = arguments(ja, pattern, seed, grad)
    try:
        seen = [*given, *call(*given)]
        wanted = [t for t in seen if t.requires_grad]
        if wanted:
            sum((t * (k + 1)).sum() for k, t in enumerate(wanted)).backward()
    except RuntimeError as error:
        return type(error).__name__
    return [seen, [leaf.grad for leaf in leaves]]


def check_random_call(seed: int) -> None:
    """Compares one random function under one pattern of sharing, twice."""
    pattern, grad = PATTERNS[seed % len(PATTERNS)], seed % 3 != 0
    body = body_of(seed)
    try:
        from_archive = archived(body, *arguments(ja, pattern, seed, grad)[0])
    except RuntimeError:  # autograd refuses what the function does, or no graph can do it
        assert isinstance(outcome(ja.compile(body, fullgraph=True), pattern, seed, grad), str)
        return
    compiled = ja.compile(body)
    for k in (0, 100):
        expected, actual = outcome(compiled, pattern, seed + k, grad), outcome(from_archive, pattern, seed + k, grad)
        if isinstance(expected, str):
            assert actual == expected
        else:
            check_alike(expected, actual)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(7, 2))
def test_random_calls(seed):
    check_random_call(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(7, 300))
def test_many_random_calls(seed):
    check_random_call(seed)


# -- one thing at a time -----------------------------------------------------------------------------------------------


def test_the_buffer_of_a_written_argument_is_reused():
    step = archived(lambda cache, x: cache[2:4].copy_(x), ja.zeros(1000, 64), ja.ones(2, 64))
    cache = ja.zeros(1000, 64)
    for _ in range(3):
        step(cache, ja.ones(2, 64))
    before = cache.jax().unsafe_buffer_pointer()
    step(cache, ja.full((2, 64), 5.0))
    assert cache.jax().unsafe_buffer_pointer() == before and cache[3, 0].item() == 5


def test_keywords_numbers_containers_and_arrays():
    def fn(pair, scale, flag, *, table):
        table["seen"] = pair[0] * scale
        return {"sum": pair[0] + pair[1], "kind": "plain" if flag else "other", "none": None}

    given = lambda: ([ja.ones(2), jax.numpy.ones(2)], 2.0, True)
    from_archive = archived(fn, *given(), table={"x": ja.ones(1)})
    table = {"x": ja.ones(1)}
    result = from_archive(given()[0], 3.0, True, table=table)
    assert result["kind"] == "plain" and result["none"] is None
    np.testing.assert_array_equal(result["sum"].numpy(), [2, 2])
    np.testing.assert_array_equal(table["seen"].numpy(), [3, 3])


def test_without_gradients_a_call_is_as_under_no_grad():
    model = ja.nn.Linear(3, 2)
    from_archive = archived(model, ja.ones(4, 3), with_gradients=False)
    result = from_archive(ja.ones(4, 3))
    assert not result.requires_grad
    np.testing.assert_allclose(result.numpy(), model(ja.ones(4, 3)).detach().numpy(), rtol=1e-6)


def test_grad_mode_chooses_the_program():
    model = archived(ja.nn.Linear(3, 2), ja.ones(4, 3))
    assert model(ja.ones(4, 3)).requires_grad
    with ja.no_grad():
        assert not model(ja.ones(4, 3)).requires_grad


def test_settings_decide_nothing_any_more():
    model = archived(ja.nn.Linear(3, 2), ja.ones(4, 3))
    expected = model(ja.ones(4, 3)).detach().numpy()
    with ja.config(policy="save_all"), ja.autocast("cpu", dtype=ja.bfloat16):
        np.testing.assert_array_equal(model(ja.ones(4, 3)).detach().numpy(), expected)


def test_second_derivatives_are_refused_in_words():
    cube = archived(lambda x: (x**3).sum(), ja.ones(2, requires_grad=True))
    x = ja.ones(2, requires_grad=True)
    with pytest.raises(ja.errors.NoDerivativeError, match="holds its backward and no derivative of it"):
        ja.autograd.grad(cube(x), x, create_graph=True)


def test_second_derivatives_inside_of_the_function():
    def fn(x):
        (first,) = ja.autograd.grad((x**3).sum(), x, create_graph=True)
        return first.sum()

    x = ja.full((2,), 2.0, requires_grad=True)
    archived(fn, x)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [12, 12])


@pytest.mark.slow
def test_second_derivatives_where_they_were_asked_for():
    w = ja.randn(3, 2, requires_grad=True)

    def fn(x, cache, n):
        cache.add_(x.detach().sum())
        return (x @ w).tanh().pow(2).sum() * n, ja.nn.functional.dropout((x * w.sum()).exp(), 0.5, True)

    def derivatives(call, w):
        ja.manual_seed(1)
        x, w.grad = ja.randn(4, 3).requires_grad_(), None
        loss, out = call(x, ja.zeros(2), 2.0)
        of_x, of_w = ja.autograd.grad(loss + out.sum(), (x, w), create_graph=True)
        (of_x.pow(2).sum() + of_w.sin().sum()).backward()
        return [of_x.detach(), of_w.detach(), x.grad, w.grad], of_x

    loaded = archived(fn, ja.randn(4, 3, requires_grad=True), ja.zeros(2), 2.0, with_gradients=2)
    (mine,) = loaded.parameters()
    check_alike(derivatives(ja.compile(fn), w)[0], derivatives(loaded, mine)[0])
    x = ja.ones(4, 3, requires_grad=True)
    (first,) = ja.autograd.grad(loaded(x, ja.zeros(2), 2.0)[0], (x,), create_graph=True)
    with pytest.raises(ja.errors.NoDerivativeError, match=r"one derivative of it\. Compute third"):
        ja.autograd.grad(first.sum(), (x,), create_graph=True)
    with pytest.raises(ja.errors.UsageError, match="Drop one of them"):
        ja.export(fn, x, ja.zeros(2), 2.0, with_gradients=2, dynamic_shapes={"x": {0: ja.sizes.Dim("n", max=4)}})


@pytest.mark.slow
def test_views_of_a_whole_storage_are_arguments_as_any_other():
    def fn(y, z):
        y.add_(1.0)
        return (y * z).sum()

    loaded = archived(fn, ja.ones(4, 2), ja.ones(4, 2))
    for one in (archived(fn, ja.ones(8).view(4, 2), ja.ones(2, 4).view(4, 2)), loaded):
        for shape in ((8,), (2, 4), (4, 2), (1, 8)):
            mine, other = ja.arange(8.0).view(shape), ja.arange(8.0).view(shape)
            assert one(mine.view(4, 2), mine.clone().view(4, 2)).item() == fn(
                other.view(4, 2), other.clone().view(4, 2)
            )
            assert mine.tolist() == other.tolist() and mine._version == 1
    base = ja.arange(8.0)
    with pytest.raises(ja.errors.SignatureMismatchError, match="`z` shares memory with `y`"):
        loaded(base.view(4, 2), base.view(4, 2))
    with pytest.raises(ja.errors.SignatureMismatchError, match="has the strides"):
        loaded(ja.ones(2, 4).t(), ja.ones(4, 2))


def test_gradients_flow_through_views_of_a_whole_storage():
    square = archived(lambda h: (h * h).sum(), ja.ones(4, 2, requires_grad=True) * 1)
    x = ja.arange(8.0, requires_grad=True)
    square((x * 1).view(4, 2)).backward()
    assert x.grad.tolist() == (2 * x).tolist()
