"""Habits of steps that train."""

import random

from tests.habits.parts import fill, linear, mlp, ramp, row, train


def _trainer(t, optimizer="SGD", **options):
    model = mlp(t)
    return model, getattr(t.optim, optimizer)(model.parameters(), lr=0.1, **options)


def lr_float_changes(t, c):
    w = row(t)

    @c
    def step(x, lr):
        w.sub_(lr * x.mean(0))

    for i in range(4):
        step(ramp(t, at=i), 0.1 / (i + 1))
    return w


def sched_inside(t, c):
    model, opt = _trainer(t)
    sched = t.optim.lr_scheduler.CosineAnnealingLR(opt, 5)

    @c
    def step(x):
        loss = train(t, model, opt, x)
        sched.step()
        return loss

    return [step(ramp(t, at=i)) for i in range(4)], sched.get_last_lr(), list(model.parameters())


def sched_lambda(t, c):
    model, opt = _trainer(t)
    sched = t.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / 3))
    step, out = c(lambda x: train(t, model, opt, x)), []
    for i in range(4):
        out.append(step(ramp(t, at=i)))
        sched.step()
    return out, sched.get_last_lr()


def group_lr_set(t, c):
    model, opt = _trainer(t, momentum=0.9)
    step, out = c(lambda x: train(t, model, opt, x)), []
    for i in range(4):
        for group in opt.param_groups:
            group["lr"] = 0.1 * 0.5**i
        out.append(step(ramp(t, at=i)))
    return out, list(model.parameters())


def add_param_group(t, c):
    model, extra = mlp(t), linear(t)
    opt = t.optim.SGD(model.parameters(), lr=0.1)
    step = c(lambda x: train(t, lambda x: extra(model(x)), opt, x))
    out = [step(ramp(t)), step(ramp(t, at=1))]
    opt.add_param_group({"params": extra.parameters(), "lr": 0.01})
    return [*out, step(ramp(t)), step(ramp(t, at=1))], list(extra.parameters())


def checkpoint_in(t, c):
    model = mlp(t)

    @c
    def step(x):
        model.zero_grad()
        loss = t.utils.checkpoint.checkpoint(model, x, use_reentrant=False).square().mean()
        loss.backward()
        return loss.detach(), model[0].weight.grad.clone()

    return [step(ramp(t, at=i)) for i in range(3)]


def func_vmap_grad(t, c):
    w = row(t)

    @c
    def f(x):
        return t.func.vmap(t.func.grad(lambda x: (w * x).sin().sum()))(x)

    out = [f(ramp(t, at=i)) for i in range(2)]
    w.mul_(2)
    return [*out, f(ramp(t))]


def autograd_grad_in(t, c):
    model = mlp(t)

    @c
    def penalty(x):
        x = x.detach().requires_grad_()
        (g,) = t.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = (g.norm(dim=1) - 1).square().mean()
        model.zero_grad()
        loss.backward()
        return loss.detach(), model[0].weight.grad.clone()

    return [penalty(ramp(t, at=i)) for i in range(3)]


def no_grad_around(t, c):
    model = mlp(t)
    f, out = c(lambda x: model(x)), []
    for i in range(4):
        with t.set_grad_enabled(i % 2 == 0):
            y = f(ramp(t, at=i))
        out.append((y, y.requires_grad))
    return out


def grad_mode_in(t, c):
    model = mlp(t)

    @c
    def f(x):
        with t.no_grad():
            target = model(x) * 2
        y = model(x)
        return y, y.requires_grad, target.requires_grad, t.is_grad_enabled()

    return [f(ramp(t, at=i)) for i in range(3)]


def _straight_through(t, seen):
    class Rounded(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            if seen is not None:
                seen.append(x.detach().mean().item())
            return (x * 2).round()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (x > 0)

    return Rounded


def custom_function(t, c, seen=None):
    rounded, model = _straight_through(t, seen), linear(t)

    @c
    def step(x):
        model.zero_grad()
        y = rounded.apply(model(x)).sum()
        y.backward()
        return y.detach(), model.weight.grad.clone()

    return [step(ramp(t, at=i)) for i in range(3)]


def custom_function_item(t, c):
    seen = []
    return custom_function(t, c, seen), seen


def backward_outside(t, c):
    model, opt = _trainer(t)
    f, out = c(lambda x: model(x).square().mean()), []
    for i in range(3):
        loss = f(ramp(t, at=i))
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.detach())
    return out, list(model.parameters())


def backward_twice_retain(t, c):
    model = mlp(t)
    f, out = c(lambda x: model(x).square().mean()), []
    for i in range(3):
        loss = f(ramp(t, at=i))
        loss.backward(retain_graph=True)
        loss.backward()
        out.append(model[0].weight.grad.clone())
    return out


def opt_step_compiled_alone(t, c):
    model, opt = _trainer(t, "Adam")
    step = c(opt.step)
    for i in range(3):
        opt.zero_grad()
        model(ramp(t, at=i)).square().mean().backward()
        step()
    return list(model.parameters())


def opt_step_lambda(t, c):
    model, opt = _trainer(t, "AdamW")
    step = c(lambda: opt.step())
    for i in range(3):
        opt.zero_grad()
        model(ramp(t, at=i)).square().mean().backward()
        step()
    return list(model.parameters())


def accumulate_if(t, c):
    model, opt = _trainer(t)

    @c
    def step(x, i):
        loss = model(x).square().mean() / 2
        loss.backward()
        if (i + 1) % 2 == 0:
            opt.step()
            opt.zero_grad()
        return loss.detach()

    return [step(ramp(t, at=i), i) for i in range(4)], list(model.parameters())


def loss_class(t, c):
    model, loss_fn = mlp(t), t.nn.CrossEntropyLoss(label_smoothing=0.1)
    f = c(lambda x, y: loss_fn(model(x), y))
    return [f(ramp(t, at=i), t.tensor([0, 1, 3])) for i in range(3)]


def autocast_in(t, c):
    model = mlp(t)

    @c
    def f(x):
        with t.autocast("cpu", dtype=t.bfloat16):
            y = model(x)
        return str(y.dtype).split(".")[-1], (y.float() * 4).round().sum() * 0

    return [f(ramp(t, at=i)) for i in range(3)]


def autocast_around(t, c):
    model = mlp(t)
    f, out = c(lambda x: model(x)), []
    for i in range(4):
        with t.autocast("cpu", dtype=t.bfloat16, enabled=i % 2 == 0):
            out.append(str(f(ramp(t, at=i)).dtype).split(".")[-1])
    return out


def scaler_in(t, c):
    model, opt = _trainer(t)
    scaler = t.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)

    @c
    def step(x):
        opt.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        return loss.detach()

    return [step(ramp(t, at=i)) for i in range(4)], scaler.get_scale(), list(model.parameters())


def ema_update(t, c):
    model, opt = _trainer(t)
    ema = mlp(t)

    @c
    def step(x):
        loss = train(t, model, opt, x)
        with t.no_grad():
            for e, p in zip(ema.parameters(), model.parameters(), strict=True):
                e.mul_(0.9).add_(p, alpha=0.1)
        return loss

    return [step(ramp(t, at=i)) for i in range(3)], list(ema.parameters())


def foreach_ema(t, c):
    model, ema = mlp(t), fill(t, mlp(t), at=3)
    old, new = list(ema.parameters()), list(model.parameters())

    @c
    def update():
        with t.no_grad():
            t._foreach_mul_(old, 0.9)
            t._foreach_add_(old, new, alpha=0.1)

    for _ in range(3):
        update()
    return old


def teacher_forcing(t, c):
    cell = linear(t)

    @c
    def decode(x, target):
        out = []
        for i in range(3):
            y = cell(x)
            out.append(y)
            x = target[i] if random.random() < 0.5 else y
        return t.stack(out)

    random.seed(0)
    return [decode(row(t), ramp(t, at=i)) for i in range(4)]


def closure_step(t, c):
    model, opt = _trainer(t)

    @c
    def step(x):
        def closure():
            opt.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        return opt.step(closure).detach()

    return [step(ramp(t, at=i)) for i in range(3)], list(model.parameters())


def grad_is_none(t, c):
    model = mlp(t)

    @c
    def step(x):
        first = model[0].weight.grad is None
        model(x).sum().backward()
        return first, model[0].weight.grad.clone()

    return [step(ramp(t, at=i)) for i in range(3)]
