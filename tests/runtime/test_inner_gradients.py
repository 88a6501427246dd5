"""Hooks on what a compiled function computes, and gradients of its outputs that others come from: as eagerly."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import nn


def same(a, b):
    if isinstance(a, ja.Tensor):
        return np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        return [same(x, y) for x, y in zip(a, b, strict=True)]
    assert a == b
    return None


def run(program):
    """Compares a program with itself compiled; it takes what compiles functions. Returns the compiled functions."""
    made = []

    def compiled(fn):
        made.append(ja.compile(fn, fullgraph=True))
        return made[-1]

    same(program(compiled), program(lambda fn: fn))
    return made


def leaf():
    return ja.tensor([1.0, 2.0, 3.0], requires_grad=True)


X = np.array([0.5, -1.0, 2.0], "float32")


def kept(compiled):
    w, seen, found = leaf(), [], []

    @compiled
    def step(x, scale):
        h = x * w
        h.register_hook(lambda g: g.clamp(-3, 3))
        h.register_hook(lambda g: seen.append(g) or g * scale)
        for i in range(2):
            h = (h * w).sin()
            h.register_hook(lambda g, i=i: seen.append((i, g)))
        h.retain_grad()
        found.append(h)
        return (h * h).sum()

    for scale in (1.0, 2.0, 3.0):
        step(ja.from_numpy(X), scale).backward()
    return w.grad, seen, [h.grad for h in found]


def captured(compiled):
    w, seen = leaf(), []

    @compiled
    def step(x):
        n = 0

        def count(gradient):
            nonlocal n
            n += 1
            seen.append(n)
            return gradient * k.detach()

        h = x * w
        k = h.exp()
        h.register_hook(count)
        h.register_hook(count)
        return (h * k).sum()

    step(ja.from_numpy(X)).backward()
    step(ja.from_numpy(X)).backward()
    return w.grad, seen


def returned(compiled):
    w, seen = leaf(), []

    @compiled
    def step(x):
        h = (x * w).sin()
        k = h * h + w
        return (k * h).sum(), h, k

    y, h, k = step(ja.from_numpy(X))
    h.register_hook(lambda g: seen.append(g) or g * 2)
    k.register_hook(lambda g: g.clamp(-1, 0.5))
    k.retain_grad()
    (y + h.sum()).backward()
    of_k = k.grad
    y, h, k = step(ja.from_numpy(X))
    wanted = ja.autograd.grad(y, [h, w], retain_graph=True), ja.autograd.grad(k.sum(), h)
    return w.grad, seen, of_k, *wanted


def second(compiled):
    w = leaf()

    @compiled
    def step(x):
        h = x * w
        h.register_hook(lambda g: g * 2)
        return (h * h * h).sum(), h

    y, h = step(ja.from_numpy(X))
    inner, of_weight = ja.autograd.grad(y, [h, w], create_graph=True)
    (inner**2 + of_weight**2).sum().backward()
    return inner, of_weight, w.grad


def complex_values(compiled):
    z = ja.tensor([1 + 1j, 2 - 1j], requires_grad=True)

    @compiled
    def step(t):
        h = t * z
        h.register_hook(lambda g: g * (1 + 2j))
        return (h * h).abs().sum()

    step(ja.tensor([0.5j, 1.0])).backward()
    return z.grad


def sizes(compiled):
    w, seen = ja.tensor(2.0, requires_grad=True), []

    @compiled
    def step(x):
        h = x * w
        h.register_hook(lambda g: seen.append(g) or g * 2)
        return (h * h).sum()

    for n in (3, 5, 7):
        step(ja.arange(float(n))).backward()
    return w.grad, seen


def modules(compiled):
    ja.manual_seed(0)
    net, seen, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), [], ja.from_numpy(X)[None]
    for layer in net:
        layer.register_full_backward_hook(lambda module, inner, outer: seen.append((type(module), inner, outer)))
    net[2].register_full_backward_pre_hook(lambda module, outer: (outer[0] * 2,))
    net[1].register_forward_hook(lambda module, args, output: output.register_hook(seen.append) and None)
    step = compiled(net)
    for requires_grad in (False, True, True):
        step(x.detach().requires_grad_(requires_grad)).pow(2).sum().backward()
    return [p.grad for p in net.parameters()], seen


def inside(compiled):
    w, seen = leaf(), []

    @compiled
    def step(x):
        h = x * w
        h.register_hook(lambda g: seen.append(g) or g * 2)
        loss = (h * h).sum()
        loss.backward()
        return loss  # whose graph is gone

    return [step(ja.from_numpy(X)).item() for _ in range(2)], w.grad, seen


PROGRAMS = [kept, captured, returned, second, complex_values, sizes, modules, inside]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_inside_are_those_of_python(program):
    made = run(program)
    assert made[0].cache_info().currsize <= 2


def test_grad_cam():
    class Cam(nn.Module):
        def __init__(self):
            super().__init__()
            ja.manual_seed(0)
            self.features, self.head = nn.Conv2d(1, 2, 3), nn.Linear(8, 3)

        def keep(self, gradient):
            self.gradient = gradient

        def forward(self, x):
            self.activation = h = self.features(x).relu()
            h.register_hook(self.keep)
            return self.head(h.flatten(1))

    def program(compiled):
        cam, found = compiled(Cam()), []
        for i in range(2):
            scores = cam(ja.full((1, 1, 4, 4), 0.1 + i))
            scores[0, scores.argmax(1).item()].backward()
            found.append((cam.gradient.mean((2, 3), keepdim=True) * cam.activation).sum(1).relu())
        return found

    assert len(run(program)) == 1


@pytest.mark.parametrize("how", ["view", "the same value", "written", "handle kept"])
def test_what_no_graph_can_have_runs_in_parts(how):
    w, x = leaf(), ja.from_numpy(X)

    def step(x):
        h = x * w
        if how == "view":
            h = h.reshape(3, 1)
        if how == "the same value":
            h = h.clone()
        handle = h.register_hook(lambda g: g * 2)
        if how == "written":
            h.mul_(3)
        return (h * h).sum(), handle if how == "handle kept" else None

    step(x)[0].backward()
    expected, w.grad = w.grad, None
    compiled = ja.compile(step)
    with pytest.warns(ja.errors.RecompileWarning, match="a hook on a gradient is registered"):
        compiled(x)
    compiled(x)[0].backward()
    same(w.grad, expected)
