"""Habits with modules, their hooks, and what `compile` returns of them."""

import contextlib
import copy

from tests.habits.parts import fill, linear, mlp, ramp, train


def train_eval_toggle(t, c):
    model = fill(t, t.nn.Sequential(t.nn.Linear(4, 4), t.nn.BatchNorm1d(4), t.nn.Dropout(0.0)))
    f, out = c(lambda x: model(x)), []
    for i in range(4):
        model.train(i % 2 == 0)
        out.append(f(ramp(t, at=i)))
    return out, list(model.buffers())


def toggle_on_compiled(t, c):
    model = fill(t, t.nn.Sequential(t.nn.Linear(4, 4), t.nn.BatchNorm1d(4)))
    f, out = c(model), []
    for i in range(4):
        f.train() if i % 2 == 0 else f.eval()
        out.append((f(ramp(t, at=i)), f.training, model.training, model[1].training))
    return out


def compiled_module_face(t, c):
    model = mlp(t)
    f = c(model)
    f(ramp(t))
    names = [name.replace("_orig_mod.", "") for name, _ in f.named_parameters()]
    return names, len(list(f.parameters())), isinstance(f, t.nn.Module), f.training, len(list(f.children())) > 0


def compiled_module_optimizer(t, c):
    model = c(mlp(t))
    opt = t.optim.SGD(model.parameters(), lr=0.1)
    return [train(t, model, opt, ramp(t, at=i)) for i in range(3)], list(model.parameters())


def compiled_set_attr(t, c):
    class Scaled(t.nn.Module):
        scale = 1.0

        def forward(self, x):
            return x * self.scale

    model = Scaled()
    f, out = c(model), []
    for i in range(3):
        f.scale = float(i)
        out.append((f(ramp(t)), model.scale))
    return out


def hook_added_after(t, c):
    model, seen = mlp(t), []
    f = c(model)
    out = [f(ramp(t))]
    handle = model[0].register_forward_hook(lambda m, args, y: (seen.append(tuple(y.shape)), y + 1)[1])
    out.append(f(ramp(t)))
    handle.remove()
    return [*out, f(ramp(t))], seen


def compiled_hooks(t, c):
    model, seen = mlp(t), []
    model[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model[2].register_forward_hook(lambda m, args, y: seen.append(y.detach().mean()))
    f = c(model)
    return [f(ramp(t, at=i)) for i in range(3)], seen


def hook_on_compiled(t, c):
    seen = []
    f = c(mlp(t))
    f.register_forward_hook(lambda m, args, y: seen.append(tuple(y.shape)))
    return [f(ramp(t, at=i)) for i in range(3)], seen


def backward_hook_grads(t, c):
    model, seen = mlp(t), []
    model[0].register_full_backward_hook(lambda m, into, out: seen.append(out[0].norm().item()))

    @c
    def step(x):
        model.zero_grad()
        model(x).sum().backward()

    for i in range(3):
        step(ramp(t, at=i))
    return seen, [p.grad for p in model.parameters()]


def tensor_hook_in(t, c):
    model = linear(t)

    @c
    def step(x):
        y = model(x)
        y.register_hook(lambda g: g * 2)
        model.zero_grad()
        y.sum().backward()
        return model.weight.grad

    return [step(ramp(t, at=i)).clone() for i in range(3)]


def grad_cam(t, c):
    model, kept = mlp(t), {}

    def keep(m, args, y):
        kept["y"] = y
        y.register_hook(lambda g: kept.__setitem__("g", g))

    model[0].register_forward_hook(keep)

    @c
    def cam(x):
        model.zero_grad()
        model(x)[:, 0].sum().backward()
        return (kept["y"] * kept["g"]).sum(1).relu()

    return [cam(ramp(t, at=i)) for i in range(3)]


def module_compile_method(t, c):
    model = mlp(t)
    if c.compiles:
        model.compile()
    return [model(ramp(t, at=i)) for i in range(3)], [name for name, _ in model.named_parameters()]


def compile_submodules(t, c):
    model = mlp(t)
    for i in (0, 2):
        model[i] = c(model[i])
    out = [model(ramp(t, at=i)) for i in range(3)]
    return out, len(list(model.parameters()))


def compiled_state_dict_load(t, c):
    model = mlp(t)
    f = c(mlp(t))
    state = {name.replace("_orig_mod.", ""): value * 2 for name, value in f.state_dict().items()}
    model.load_state_dict(state)
    before = f(ramp(t))
    f.load_state_dict({name: value * 3 for name, value in f.state_dict().items()})
    return sorted(state), model(ramp(t)), before, f(ramp(t))


def nested_compile(t, c):
    inner = c(mlp(t))
    f = c(lambda x: inner(x) * 2)
    return [f(ramp(t, at=i)) for i in range(3)]


def deepcopy_compiled(t, c):
    model = mlp(t)
    f = c(model)
    f(ramp(t))
    g = copy.deepcopy(f)
    with t.no_grad():
        next(iter(model.parameters())).zero_()
    return f(ramp(t)), g(ramp(t))


def deepcopy_model_compile_both(t, c):
    model = mlp(t)
    ema = copy.deepcopy(model)
    f, g = c(model), c(ema)
    with t.no_grad():
        next(iter(model.parameters())).zero_()
    return [(f(ramp(t, at=i)), g(ramp(t, at=i))) for i in range(3)]


def compile_forward_attr(t, c):
    model = mlp(t)
    model.forward = c(model.forward)
    return [model(ramp(t, at=i)) for i in range(3)], len(list(model.parameters()))


def method_decorated(t, c):
    class Trainer:
        def __init__(self, by):
            self.by, self.n = by, 0

        @c
        def step(self, x):
            self.n += 1
            return x * self.by

    a, b = Trainer(2), Trainer(3)
    return [(a.step(ramp(t)), b.step(ramp(t))) for _ in range(3)], a.n, b.n


def forward_decorated(t, c):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = linear(t)

        @c
        def forward(self, x):
            return self.fc(x).relu()

    net = Net()
    return [net(ramp(t, at=i)) for i in range(3)]


def head_swapped(t, c):
    model = mlp(t)
    f = c(lambda x: model(x))
    out = [f(ramp(t))]
    model[2] = fill(t, t.nn.Linear(4, 2))
    return [*out, f(ramp(t)), f(ramp(t, at=1))]


def freeze_between(t, c):
    model = mlp(t)
    opt = t.optim.SGD(model.parameters(), lr=0.1)
    step, out = c(lambda x: train(t, model, opt, x)), []
    for i in range(4):
        model[0].requires_grad_(i % 2 == 0)
        out.append(step(ramp(t, at=i)))
    return out, list(model.parameters())


def freeze_inside(t, c):
    model = mlp(t)

    @c
    def step(x):
        for p in model[0].parameters():
            p.requires_grad = False
        model.zero_grad()
        model(x).sum().backward()
        for p in model[0].parameters():
            p.requires_grad = True
        return model[2].weight.grad.clone(), model[0].weight.grad

    return [step(ramp(t, at=i)) for i in range(3)]


def data_replaced(t, c):
    model = linear(t)
    f, out = c(lambda x: model(x)), []
    for i in range(3):
        model.weight.data = ramp(t, 4, 4, at=i)
        out.append(f(ramp(t)))
    return out


def module_dict_route(t, c):
    heads = t.nn.ModuleDict({"a": linear(t), "b": linear(t, at=1)})
    f = c(lambda x, task: heads[task](x))
    return [f(ramp(t), task) for task in "abab"]


def dropout_differs(t, c):
    model = t.nn.Dropout(0.5)
    f = c(model)
    a, b = f(t.ones(3, 40)), f(t.ones(3, 40))
    model.eval()
    return bool((a == b).all()), f(ramp(t))


def modes_taken(t, c):
    out = []
    for options in ({}, {"mode": "default"}, {"fullgraph": True}, {"dynamic": False}, {"mode": "reduce-overhead"}):
        out.append(c(lambda x: x * 2, **options)(ramp(t)))
    return out


def fullgraph_break_raises(t, c):
    @c(fullgraph=True)
    def f(x):
        return x * 2 if x.sum() > 0 else x

    try:
        f(ramp(t))
    except Exception:
        return c.compiles
    return not c.compiles or "went on"


def graph_break_call(t, c):
    @c
    def f(x):
        x = x * 2
        t._dynamo.graph_break()
        return x + 1

    return [f(ramp(t, at=i)) for i in range(3)]


def compiler_disable(t, c):
    seen = []

    @t.compiler.disable
    def look(x):
        seen.append(x.sum().item())
        return x + 1

    @c
    def f(x):
        return look(x * 2) * 3

    return [f(ramp(t, at=i)) for i in range(3)], seen


def compiler_reset(t, c):
    f = c(lambda x: x * 2)
    out = [f(ramp(t))]
    if c.compiles:
        t.compiler.reset()
        t._dynamo.reset()
    return [*out, f(ramp(t, at=1))]


def dynamo_config(t, c):
    t._dynamo.config.suppress_errors = False
    t._dynamo.config.cache_size_limit = 64
    f = c(lambda x: x * 2)
    return [f(ramp(t, at=i)) for i in range(3)], t._dynamo.config.cache_size_limit


def matmul_precision(t, c):
    t.set_float32_matmul_precision("high")
    try:
        f = c(lambda x: x @ x.T)
        return [f(ramp(t, at=i)) for i in range(3)], t.get_float32_matmul_precision()
    finally:
        t.set_float32_matmul_precision("highest")


def is_compiling(t, c):
    @c
    def f(x):
        return x + 1 if t.compiler.is_compiling() else x + 1.0

    return [f(ramp(t, at=i)) for i in range(3)], t.compiler.is_compiling()


def record_function(t, c):
    @c
    def f(x):
        with t.profiler.record_function("double"):
            return x * 2

    return [f(ramp(t, at=i)) for i in range(3)]


def nullcontext_in(t, c):
    model = linear(t)

    @c
    def f(x, amp):
        with t.autocast("cpu", dtype=t.bfloat16) if amp else contextlib.nullcontext():
            return model(x).float().round(decimals=1)

    return [f(ramp(t), amp) for amp in (False, True, False)]
