"""`torch.compile(…, backend="jaxaot")`: values, gradients, writes and views are those of PyTorch's eager code."""

import copy
import importlib
import pathlib
import random
import tomllib

import pytest

import jaxaot as ja
from tests.cases import each
from tests.seeds import seeds

torch = pytest.importorskip("torch")
from torch.nn import functional  # noqa: E402

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("error:A graph of torch.compile is run by PyTorch")]


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    torch.manual_seed(0)


def by_jax(fn, **more):
    return torch.compile(fn, backend=ja.torch.backend, **more)


def equal(found, expected, tolerance=1e-9):
    assert len(found) == len(expected)
    for here, there in zip(found, expected, strict=True):
        torch.testing.assert_close(here, there, rtol=tolerance, atol=tolerance)


def trained(model, batches, compiled=None, n=2):
    """Returns losses, parameters and buffers after steps of an optimizer."""
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=0.01), []
    for x in batches[:n]:
        optimizer.zero_grad()
        loss = (model if compiled is None else compiled)(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *model.state_dict().values()]


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(8, 24), torch.nn.Linear(8, 8)
        self.register_buffer("scale", torch.tensor(1.5))

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
        mask = torch.ones(5, 5, dtype=torch.bool, device=x.device).tril()
        found = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(found.transpose(1, 2).reshape(2, 5, 8)) * self.scale + torch.arange(8, device=x.device)


def cnn():
    n = torch.nn
    layers = n.Conv2d(2, 4, 3, padding=1), n.BatchNorm2d(4), n.ReLU(), n.MaxPool2d(2), n.Flatten(), n.Linear(16, 3)
    return n.Sequential(*layers)


MODELS = {
    "mlp": (lambda: torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.GELU(), torch.nn.Linear(5, 2)), (4, 3)),
    "cnn": (cnn, (3, 2, 4, 4)),
    "attention": (Attention, (2, 5, 8)),
}


@each("name", MODELS)
def test_steps_are_pytorchs(name):
    make, shape = MODELS[name]
    model = make().double()
    other, batches = copy.deepcopy(model), [torch.randn(shape).double() for _ in range(2)]
    compiled = by_jax(other, fullgraph=True, options={"memory_budget": "1MiB"})
    equal(trained(other, batches, compiled), trained(model, batches))
    model.eval(), other.eval()
    with torch.no_grad():
        equal([compiled(batches[0])], [model(batches[0])])


# -- writes and views ------------------------------------------------------------


def write_argument(x, w):
    x.mul_(2)
    return (x * w).sum()


def write_with_gradients(x, w):
    x[1:].add_(w[:-1])
    return x * 3


def returned_argument(x, w):
    return x, w, x * w


def views_of_arguments(x, w):
    x.add_(1)
    return x[1:], w.view(-1)[2:], x.t(), w.detach()


def views_of_results(x, w):
    y = x * w
    return y, y.view(-1), y[1], y.detach(), y


def strides(x, w):
    return (x @ w.t()).t(), (x * w).permute(1, 0)


def numbers(x, w):
    return x * 2, x.argmax(), (x > 0), torch.arange(3), w.to(torch.float32), x.long() + 2**40


PROGRAMS = (
    write_argument, write_with_gradients, returned_argument, views_of_arguments,
    views_of_results, strides, numbers,
)  # fmt: skip


def ran(fn, values, with_gradients):
    """Returns results, arguments, gradients, and what a write to the first result does to all of them."""
    leaf, w = values.clone(), (values + 0.5).clone().requires_grad_(with_gradients)
    base = leaf.requires_grad_(with_gradients) * 1.0
    out = fn(base, w)
    out = out if isinstance(out, tuple) else (out,)
    assert all(x.requires_grad <= with_gradients for x in out)
    loss = sum((x * x.detach().cos()).sum() for x in (*out, base) if x.requires_grad)
    gradients = list(torch.autograd.grad(loss, [leaf, w], allow_unused=True)) if with_gradients else []
    gradients = [g for g in gradients if g is not None]
    before = [x.clone() for x in (*out, base, w)]
    facts = [(x.stride(), x.requires_grad) for x in out]
    with torch.no_grad():
        out[0].add_(7)
    return [*before, *out, base, w, *gradients], facts


@each("fn", PROGRAMS)
def test_writes_and_views_are_pytorchs(fn):
    values = torch.linspace(-1, 1, 9, dtype=torch.float64).view(3, 3)
    for with_gradients in (True, False):
        found, facts = ran(by_jax(fn), values, with_gradients)
        expected, expected_facts = ran(fn, values, with_gradients)
        equal(found, expected)
        assert facts == expected_facts


def test_arguments_share_memory():
    def fn(x, y):
        x.mul_(2)
        return x + 1, y + 1

    for run in (fn, by_jax(fn)):
        memory = torch.arange(6.0)
        out = run(memory[:4], memory[2:])
        assert memory.tolist() == [0, 2, 4, 6, 4, 5] and out[1].tolist() == [5, 7, 5, 6]


def test_what_is_saved_stays_where_the_graph_writes_it_later():
    def fn(x, w):
        y = x * w
        x.add_(1)
        return y

    x, w = torch.arange(4.0), torch.ones(4, requires_grad=True)
    by_jax(fn)(x, w).sum().backward()
    assert x.tolist() == [1, 2, 3, 4] and w.grad.tolist() == [0, 1, 2, 3]


def test_leaves_are_written_without_gradients():
    def update(p, g):
        with torch.no_grad():
            p.sub_(g * 0.5)

    p = torch.ones(3, requires_grad=True)
    by_jax(update)(p, torch.ones(3))
    assert p.tolist() == [0.5, 0.5, 0.5] and p.is_leaf and p.requires_grad


# -- gradients ------------------------------------------------------------


def test_second_derivatives_are_pytorchs():
    def derivatives(fn):
        x = torch.linspace(-1, 1, 4, dtype=torch.float64, requires_grad=True)
        w = torch.ones(4, dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(fn(x, w).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x, create_graph=True)
        return [first, second, *torch.autograd.grad(second.sum(), (x, w))]

    fn = lambda x, w: (x.sin() * w).exp() * x
    equal(derivatives(by_jax(fn)), derivatives(fn))


def test_a_backward_runs_twice_only_if_it_is_retained():
    x = torch.ones(3, requires_grad=True)
    y = by_jax(lambda x: x.exp().sin())(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (x.exp().cos() * x.exp()).detach())
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()


@each("which", ("argument", "result"))
def test_what_was_written_since_is_found(which):
    x = torch.ones(3, requires_grad=True)
    y = by_jax(lambda x: x.exp())(x) if which == "result" else by_jax(lambda x: (x * x).sum())(x)
    with torch.no_grad():
        (y if which == "result" else x).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_residuals_go_through_hooks_and_checkpoints():
    fn, seen = by_jax(lambda x: x.exp().sin()), []
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.shape) or t.numpy(), torch.from_numpy):
        y = fn(x.detach().requires_grad_() * 1)
    y.sum().backward()
    assert seen
    torch.utils.checkpoint.checkpoint(lambda t: fn(t * 2), x, use_reentrant=False).sum().backward()
    torch.testing.assert_close(x.grad, (2 * (2 * x).exp() * (2 * x).exp().cos()).detach())


def test_checkpoints_functions_and_autocast_inside_of_a_graph():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 10

    def fn(x):
        y = torch.utils.checkpoint.checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)
        with torch.autocast("cpu", torch.bfloat16):
            z = (x @ x).float()
        return Cube.apply(y) + z

    found = []
    for run in (fn, by_jax(fn, fullgraph=True)):
        x = torch.eye(3).requires_grad_()
        out = run(x)
        out.sum().backward()
        found.append([out, x.grad])
    equal(*found, 1e-2)


# -- kinds of calls ------------------------------------------------------------


@each("options", ({}, {"dynamic": False}, {"dynamic": True}))
def test_sizes_change(options):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    fn = lambda x: model(x).view(x.shape[0] * 2).softmax(0) * x.shape[0]
    compiled = by_jax(fn, options=options)
    for n in (4, 7, 5, 9):
        x = torch.randn(n, 3).double()
        gradients = []
        for run in (compiled, fn):
            out = run(x)
            gradients.append([out, *torch.autograd.grad(out.square().sum(), list(model.parameters()))])
        equal(*gradients)


def test_dtypes_are_pytorchs_without_x64():
    import jax

    with jax.enable_x64(False):
        out = by_jax(lambda x, n: (x * 2, n + 2**40, n.double().sin()))(torch.ones(2).double(), torch.arange(2))
    assert [x.dtype for x in out] == [torch.float64, torch.int64, torch.float64] and out[1].tolist() == [
        2**40,
        2**40 + 1,
    ]


def test_what_jax_has_not_is_run_by_pytorch_after_a_warning():
    @torch.library.custom_op("jaxaot_tests::twice", mutates_args=(), device_types="cpu")
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_fake(torch.empty_like)
    fn = by_jax(twice)
    with pytest.warns(UserWarning, match="is run by PyTorch"):
        assert fn(torch.eye(2)).tolist() == [[2, 0], [0, 2]]
    assert fn(torch.eye(2)).tolist() == [[2, 0], [0, 2]]


def test_options_are_jaxaots():
    with pytest.raises(Exception, match="'memory_budget'"):
        by_jax(lambda x: x + 1, options={"max_autotune": True})(torch.ones(2))


def test_pytorch_finds_the_backend_by_its_name():
    text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
    module, name = tomllib.loads(text)["project"]["entry-points"]["torch_dynamo_backends"]["jaxaot"].split(":")
    assert getattr(importlib.import_module(module), name) is ja.torch.backend


@pytest.mark.slow
def test_other_backends_loaders_and_plain_tensors_work_beside_it():
    import shutil

    import jax

    with jax.enable_x64(True):
        ja.torch.move(torch.nn.Linear(1, 1))
    fn = lambda x: x.sin() + 1
    x = torch.ones(3, requires_grad=True)
    by_jax(fn)(x).sum().backward()
    backends = ["aot_eager", *(["inductor"] if shutil.which("g++") else [])]
    for name in backends:
        torch.testing.assert_close(torch.compile(fn, backend=name)(x), fn(x))
    data = torch.utils.data.TensorDataset(torch.arange(4))
    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="spawn")
    assert [batch.tolist() for (batch,) in loader] == [[0, 1], [2, 3]]
    assert type(x * 2) is torch.Tensor and not torch.accelerator.is_available()


# -- random graphs ------------------------------------------------------------

OPS = (
    lambda r, a, b: a + b, lambda r, a, b: a * b.sin(), lambda r, a, b: a @ b.t(), lambda r, a, b: a.t(),
    lambda r, a, b: a.add_(b), lambda r, a, b: a[1:].mul_(0.5), lambda r, a, b: a.copy_(b * 2),
    lambda r, a, b: torch.cat([a[:1], b[1:]]), lambda r, a, b: a.detach(), lambda r, a, b: a.softmax(0),
    lambda r, a, b: a.view(3, 3), lambda r, a, b: torch.where(a > 0, a, b.exp()),
)  # fmt: skip


def random_program(seed):
    draw = random.Random(seed)
    steps = [(draw.choice(OPS), draw.randrange(9), draw.randrange(9)) for _ in range(draw.randint(2, 6))]
    picks = [draw.randrange(9) for _ in range(draw.randint(1, 3))]

    def fn(*args):
        values = list(args)
        for op, a, b in steps:
            found = op(draw, values[a % len(values)], values[b % len(values)])
            values.append(found if found.shape == (3, 3) else values[0] * 1)
        return tuple(values[k % len(values)] for k in picks)

    return fn


@pytest.mark.parametrize("seed", seeds(200, 8))
def test_random_graphs_are_pytorchs(seed):
    fn, with_gradients = random_program(seed), seed % 3 > 0
    values = torch.linspace(-1, 1, 9, dtype=torch.float64).view(3, 3)
    try:
        expected, facts = ran(fn, values, with_gradients)
    except RuntimeError:  # written where PyTorch forbids it
        return
    found, found_facts = ran(by_jax(fn), values, with_gradients)
    equal(found, expected)
    assert facts == found_facts


# -- models of others ------------------------------------------------------------


def gpt2():
    transformers = pytest.importorskip("transformers")
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 32, "vocab_size": 97, "n_positions": 64, "eos_token_id": 0}
    config = transformers.GPT2Config(**sizes, bos_token_id=0, attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0)
    return transformers.GPT2LMHeadModel(config), torch.randint(0, 97, (2, 16)), lambda m, x: m(x, labels=x).loss


def of_torchvision(make):
    try:
        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError) as error:  # it does not fit the build of PyTorch
        pytest.skip(str(error))
    return make(models), torch.randn(4, 3, 32, 32).double(), lambda m, x: (m(x) + 1).square().mean()


OTHERS = {
    "GPT-2": gpt2,
    "ViT-B/16": lambda: of_torchvision(lambda models: models.VisionTransformer(32, 16, 2, 2, 32, 64, num_classes=5)),
    "ResNet-18": lambda: of_torchvision(lambda models: models.resnet18(num_classes=5)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_models_of_others_train_as_in_pytorch(name):
    model, batch, loss_of = OTHERS[name]()
    model.double()
    other = copy.deepcopy(model)
    compiled, found = by_jax(other, options={"memory_budget": 0.5}), []
    for module, run in ((model, model), (other, compiled)):
        optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)
        for _ in range(2):
            optimizer.zero_grad()
            loss = loss_of(run, batch)
            loss.backward()
            optimizer.step()
        module.eval()
        with torch.no_grad():
            found.append([loss.detach(), loss_of(run, batch), *module.state_dict().values()])
    equal(*found, 1e-7)
