"""`ja.autograd.functional` against `torch.autograd.functional`."""

import re

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each
from tests.seeds import some

X, W = [[0.3, 1.2, -0.7], [0.9, -0.4, 0.5]], [1.3, 0.2, -0.4]


def matrix(x):
    y = x.sin() * x.sum()
    y[0].mul_(x[1])
    return y.sum(1)


def scalar(x):
    y = x.exp() * x.t().reshape(2, 3)
    y[:, 1].mul_(x[:, 0])
    return (y**2).sum()


def of_two(x, w):
    return (x * w).exp().sum(1), (x @ w).sin(), w * 2


def scalar_of_two(x, w):
    return ((x * w).sin() @ w).sum() + (w**3).sum()


FUNCTIONS = {"matrix": matrix, "scalar": scalar, "of two": of_two, "scalar of two": scalar_of_two}

CALLS = {
    "jacobian": (("matrix", "scalar", "of two"), {}),
    "hessian": (("scalar", "scalar of two"), {}),
    "vjp": (("matrix", "scalar", "of two"), {"v": "outputs"}),
    "jvp": (("matrix", "scalar", "of two"), {"v": "inputs"}),
    "vhp": (("scalar", "scalar of two"), {"v": "inputs"}),
    "hvp": (("scalar", "scalar of two"), {"v": "inputs"}),
}

OPTIONS = {
    "jacobian": [
        {}, {"create_graph": True}, {"vectorize": True}, {"vectorize": True, "create_graph": True},
        {"vectorize": True, "strategy": "forward-mode"},
    ],
    "hessian": [
        {}, {"create_graph": True}, {"vectorize": True}, {"vectorize": True, "create_graph": True}, {"strict": True},
        {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
    ],
}  # fmt: skip
CASES = [
    (name, fn, options)
    for name, (functions, _) in CALLS.items()
    for fn in functions
    for options in OPTIONS.get(name, [{}, {"create_graph": True}])
]


def leaves(value):
    return [x for item in value for x in leaves(item)] if isinstance(value, (tuple, list)) else [value]


def form(value):
    return tuple(map(form, value)) if isinstance(value, (tuple, list)) else tuple(value.shape)


def outcome(lib, name, fn, options):
    """Returns what a call gives, whether it is on the tape, and if so its gradients."""
    fn = FUNCTIONS[fn]
    inputs = tuple(lib.tensor(v, requires_grad=True) for v in ((X, W) if fn in (of_two, scalar_of_two) else (X,)))
    given = inputs if len(inputs) > 1 else inputs[0]
    options = dict(options)
    match CALLS[name][1].get("v"):
        case "outputs":
            found = fn(*inputs)
            made = tuple(y.detach().cos() for y in found) if isinstance(found, tuple) else found.detach().cos()
            options["v"] = made
        case "inputs":
            options["v"] = tuple(x.detach().cos() for x in inputs) if len(inputs) > 1 else given.detach().cos()
    result = getattr(lib.autograd.functional, name)(fn, given, **options)
    values = leaves(result)
    grads = []
    if options.get("create_graph"):
        total = sum((x.sin() * (i + 1)).sum() for i, x in enumerate(values) if x.requires_grad)
        grads = [g.numpy() for g in lib.autograd.grad(total, inputs)]
    assert all(x.grad is None for x in inputs)
    recorded = [x.requires_grad for x in values] if options.get("strategy") != "forward-mode" else None
    recorded = None if options.get("outer_jacobian_strategy") == "forward-mode" else recorded
    return form(result), recorded, [x.detach().numpy() for x in values], grads


@pytest.mark.oracle
@pytest.mark.parametrize("name, fn, options", CASES, ids=str)
def test_as_torch(name, fn, options):
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(ja, name, fn, options), outcome(torch, name, fn, options)
    assert ours[:2] == theirs[:2]
    for mine, expected in zip(ours[2] + ours[3], theirs[2] + theirs[3], strict=True):
        np.testing.assert_allclose(mine, expected, rtol=2e-4, atol=1e-5)


def constant(x):
    return x.detach() * 2


def linear(x):
    return (x * 2).sum()


def unused(x, y):
    return (x * x).sum()


def second_linear(x, y):
    return (x * x).sum() + y.sum()


FAILURES = {
    f"{name} of {fn.__name__} {options}": (name, fn, options)
    for name in ("jacobian", "vjp", "jvp", "hessian", "vhp", "hvp")
    for fn in (constant, linear, unused, second_linear)
    for options in ({"strict": True}, {"strict": True, "create_graph": True}, {})
}
WRONG = {
    "no tensor": lambda f, x: f.vjp(lambda x: x, 3),
    "no tensors": lambda f, x: f.jvp(lambda x, y: x, (x, 3)),
    "no tensor back": lambda f, x: f.jacobian(lambda x: 3, x),
    "no v": lambda f, x: f.vjp(lambda x: x, x),
    "no v in": lambda f, x: f.jvp(lambda x: x, x),
    "several v": lambda f, x: f.vjp(lambda x: x, x, (x, x)),
    "few v": lambda f, x: f.jvp(lambda x, y: x, (x, x), (x,)),
    "another size": lambda f, x: f.hvp(lambda x: x.sum(), x, x[0]),
    "another size of several": lambda f, x: f.vhp(lambda x, y: x.sum(), (x, x), (x, x[0])),
    "several outputs": lambda f, x: f.hvp(lambda x: (x.sum(), x.sum()), x, x),
    "large output": lambda f, x: f.vhp(lambda x: x, x, x),
    "large output of hessian": lambda f, x: f.hessian(lambda x: x, x),
    "several outputs of hessian": lambda f, x: f.hessian(lambda x: (x.sum(), x.sum()), x),
    "strict and at once": lambda f, x: f.jacobian(lambda x: x * x, x, strict=True, vectorize=True),
    "strict forward": lambda f, x: f.jacobian(lambda x: x, x, strict=True, strategy="forward-mode"),
    "recorded forward": lambda f, x: f.jacobian(lambda x: x, x, create_graph=True, strategy="forward-mode"),
    "forward one by one": lambda f, x: f.jacobian(lambda x: x, x, strategy="forward-mode"),
    "another strategy": lambda f, x: f.jacobian(lambda x: x, x, strategy="sideways"),
    "another strategy of hessian": lambda f, x: f.hessian(lambda x: x, x, outer_jacobian_strategy="sideways"),
}


def words(text):
    """Returns a message without what differs by library."""
    text = (
        re.sub(r"torch\.(autograd\.functional\.|Size\()", "", text)
        .replace("])", "]")
        .replace("vectorized", "vectorize")
    )
    return " ".join(text.replace("isonly", "is only").split())


def said(call):
    try:
        return form(call())
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        return error


def compare(ours, theirs):
    assert isinstance(ours, Exception) == isinstance(theirs, Exception), (ours, theirs)
    if isinstance(ours, Exception):
        builtin = next(b for b in type(theirs).__mro__ if b in (RuntimeError, TypeError, AssertionError))
        assert isinstance(ours, ValueError if builtin is AssertionError else builtin)
        first = words(str(theirs)).split(". ")[0].rstrip(".")
        assert words(str(ours)).startswith(first) or builtin is AssertionError, (str(ours), str(theirs))
    else:
        assert ours == theirs


@pytest.mark.oracle
@pytest.mark.parametrize("name", FAILURES)
def test_independence_as_torch(name):
    torch = pytest.importorskip("torch")
    call, fn, options = FAILURES[name]
    found = []
    for lib in (ja, torch):
        x = lib.tensor(W)
        inputs = (x, x * 2) if fn in (unused, second_linear) else x
        given = dict(options)
        if call in ("jvp", "vhp", "hvp"):
            given["v"] = inputs
        elif call == "vjp":
            given["v"] = lib.ones(3) if fn is constant else lib.tensor(1.0)
        found.append(said(lambda lib=lib, i=inputs, o=given: getattr(lib.autograd.functional, call)(fn, i, **o)))
    compare(*found)


@pytest.mark.oracle
@each("name", WRONG)
def test_wrong_calls_as_torch(name):
    torch = pytest.importorskip("torch")
    ours, theirs = (said(lambda lib=lib: WRONG[name](lib.autograd.functional, lib.tensor(W))) for lib in (ja, torch))
    assert isinstance(theirs, Exception)
    compare(ours, theirs)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(["jvp", "vjp", "vhp", "hvp", "jacobian", "hessian"], 3))
def test_in_a_compiled_function(name):
    fn = CALLS[name][0][-1]
    run = lambda x, w, v: getattr(ja.autograd.functional, name)(
        FUNCTIONS[fn], (x, w), **({} if name in ("jacobian", "hessian") else {"v": v})
    )
    x, w = ja.tensor(X), ja.tensor(W)
    v = tuple(y.cos() for y in of_two(x, w)) if name == "vjp" else (x.cos(), w.cos())
    for ours, expected in zip(leaves(ja.compile(run)(x, w, v)), leaves(run(x, w, v)), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_derivative_without_a_graph_is_not_differentiated_to_zeros():
    x = ja.tensor(0.5)
    sine = lambda x: x.sin()
    for derivative in (ja.autograd.functional.jacobian, lambda f, x: ja.autograd.functional.vjp(f, x)[1]):
        with pytest.raises(RuntimeError, match="create_graph=True"):
            ja.func.grad(lambda x, derivative=derivative: derivative(sine, x))(x)
        assert ja.func.vmap(lambda x, derivative=derivative: derivative(sine, x))(x[None]).item() == x.cos().item()
    kept = ja.func.grad(lambda x: ja.autograd.functional.jacobian(sine, x, create_graph=True))(x)
    assert kept.item() == pytest.approx(-x.sin().item())
