"""Whole steps of training and inference, in the styles in which people write them, do compiled what they do eagerly."""

from __future__ import annotations

import abc
import argparse
import contextlib
import contextvars
import copy
import dataclasses
import enum
import functools
import logging
import operator
import re
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from typing import NamedTuple, Protocol, runtime_checkable

import pytest

import jaxaot as ja
from jaxaot import nn
from tests.whole_steps import Made, agree

F = nn.functional

pytestmark = pytest.mark.usefixtures("interpreted")


def mlp(width=8, out=8):
    return nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Linear(width, out))


def weights(*models):
    """Returns a function that says the parameters and buffers of models."""
    return lambda: [dict(m.state_dict()) for m in models]


# -- configs -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nested_dataclasses():
    @dataclasses.dataclass(frozen=True)
    class Optim:
        lr: float = 0.01
        clip: float | None = 1.0
        momentum: float = 0.9

    @dataclasses.dataclass
    class Config:
        scale: float = 1.0
        depth: int = 2
        optim: Optim = dataclasses.field(default_factory=Optim)
        names: list[str] = dataclasses.field(default_factory=lambda: ["up", "down"])
        unused: int = 0
        twice: float = dataclasses.field(init=False)

        def __post_init__(self):
            self.twice = 1 + self.scale

        @property
        def is_deep(self):
            return self.depth > 2

    def make():
        cfg, model = Config(), nn.ModuleDict({"up": nn.Linear(8, 8), "down": nn.Linear(8, 8)})
        optimizer = ja.optim.SGD(model.parameters(), lr=cfg.optim.lr, momentum=cfg.optim.momentum)

        def step(x):
            optimizer.zero_grad()
            y = x
            for _ in range(cfg.depth):
                for name in cfg.names:
                    y = model[name](y).tanh() * (cfg.twice if cfg.is_deep else cfg.scale)
            loss = (y - x).square().mean()
            loss.backward()
            if cfg.optim.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), cfg.optim.clip)
            optimizer.step()
            return loss, {f.name: getattr(cfg, f.name) for f in dataclasses.fields(cfg) if f.name != "unused"}

        changes = [
            None,
            None,
            lambda: setattr(cfg, "scale", 1.5),
            lambda: setattr(cfg, "depth", 3),
            lambda: setattr(cfg, "optim", dataclasses.replace(cfg.optim, clip=None)),
            lambda: cfg.names.append("up"),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_what_a_dataclass_has_beside_makes_no_program():
    @dataclasses.dataclass
    class Config:
        scale: float = 2.0
        run_name: str = "a"

    def make():
        cfg, model = Config(), mlp()
        step = lambda x: model(x) * cfg.scale
        return Made(step, weights(model), [None, lambda: setattr(cfg, "run_name", "b"), None])

    agree(make, most=1)


@pytest.mark.slow
def test_an_attribute_dict_with_getattr():
    class AttrDict(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name, value):
            self[name] = value

    def make():
        cfg = AttrDict(model=AttrDict(act="relu", heads=2), train=AttrDict(lr=0.1, debug=False))
        model = mlp()
        optimizer = ja.optim.SGD(model.parameters(), lr=cfg.train.lr)

        def step(x):
            optimizer.zero_grad()
            y = getattr(F, cfg.model.act)(model(x)).reshape(4, cfg.model.heads, -1).sum(1)
            if hasattr(cfg.train, "label_smoothing"):
                y = y * (1 - cfg.train.label_smoothing)
            loss = y.square().mean()
            loss.backward()
            optimizer.step()
            return loss

        changes = [
            None,
            lambda: setattr(cfg.model, "act", "silu"),
            lambda: setattr(cfg.model, "heads", 4),
            lambda: setattr(cfg.train, "label_smoothing", 0.1),
            lambda: cfg.train.pop("label_smoothing"),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_an_easydict_whose_items_are_attributes_too():
    class EasyDict(dict):
        def __init__(self, given=None, **more):
            for key, value in {**(given or {}), **more}.items():
                setattr(self, key, value)

        def __setattr__(self, name, value):
            value = EasyDict(value) if isinstance(value, dict) and not isinstance(value, EasyDict) else value
            super().__setattr__(name, value)
            super().__setitem__(name, value)

        __setitem__ = __setattr__

    def make():
        cfg, model = EasyDict(net={"scale": 2.0, "skip": True}, loss="mse"), mlp()

        def step(x):
            y = model(x) * cfg.net.scale + (x if cfg["net"]["skip"] else 0)
            return y.square().mean() if cfg.loss == "mse" else y.abs().mean()

        changes = [
            None,
            lambda: setattr(cfg.net, "scale", 3.0),
            lambda: cfg["net"].__setitem__("skip", False),
            lambda: setattr(cfg, "loss", "l1"),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_namespace_of_argparse():
    def make():
        parser = argparse.ArgumentParser()
        parser.add_argument("--depth", type=int, default=2)
        parser.add_argument("--residual", action="store_true")
        parser.add_argument("--scale", type=float, default=0.5)
        args, model = parser.parse_args([]), mlp()

        def step(x):
            for _ in range(args.depth):
                x = model(x) * args.scale + (x if args.residual else 0)
            return x, vars(args)["depth"]

        changes = [
            None,
            lambda: setattr(args, "depth", 1),
            lambda: setattr(args, "residual", True),
            lambda: parser.parse_args(["--scale", "2"], namespace=args),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_enums():
    class Pool(enum.Enum):
        MEAN = "mean"
        MAX = "max"

        def __call__(self, x):
            return x.mean(0) if self is Pool.MEAN else x.amax(0)

    class Stage(enum.IntEnum):
        WARM_UP = 0
        MAIN = 1

        @property
        def rate(self):
            return 0.1 * (self + 1)

    class Parts(enum.Flag):
        BIAS = enum.auto()
        SKIP = enum.auto()

    class Act(enum.StrEnum):
        RELU = "relu"
        TANH = "tanh"

    class Trainer:
        pool, stage, parts, act = Pool.MEAN, Stage.WARM_UP, Parts.BIAS, Act.RELU

    def make():
        t, model = Trainer(), mlp()

        def step(x):
            match t.stage:
                case Stage.WARM_UP:
                    y = model(x) * t.stage.rate
                case Stage.MAIN:
                    y = model(x)
            y = getattr(F, t.act)(y)
            y = y + x if Parts.SKIP in t.parts else y
            return t.pool(y), t.stage

        changes = [
            None,
            lambda: setattr(t, "pool", Pool.MAX),
            lambda: setattr(t, "stage", Stage.MAIN),
            lambda: setattr(t, "parts", t.parts | Parts.SKIP),
            lambda: setattr(t, "act", Act("tanh")),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_config_whose_names_are_mapped():
    class Config:
        attribute_map = {"hidden_size": "n_embd", "num_layers": "n_layer"}

        def __init__(self):
            self.n_embd, self.n_layer, self._act = 8, 1, "relu"

        def __getattribute__(self, name):
            if name != "attribute_map" and name in super().__getattribute__("attribute_map"):
                name = super().__getattribute__("attribute_map")[name]
            return super().__getattribute__(name)

        def __setattr__(self, name, value):
            super().__setattr__(self.attribute_map.get(name, name), value)

        @property
        def act(self):
            return {"relu": F.relu, "tanh": ja.tanh}[self._act]

    def make():
        cfg, model = Config(), mlp()

        def step(x):
            for _ in range(cfg.num_layers):
                x = cfg.act(model(x)) / cfg.hidden_size**0.5
            return x

        changes = [
            None,
            lambda: setattr(cfg, "n_embd", 16),
            lambda: setattr(cfg, "num_layers", 3),
            lambda: setattr(cfg, "_act", "tanh"),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_overrides_in_a_chain_map_and_in_context_variables():
    amp = contextvars.ContextVar("amp", default=1.0)

    def make():
        overrides, model = {}, mlp()
        cfg = ChainMap(overrides, {"scale": 2.0, "skip": False})
        user = UserDict(power=1)

        def step(x):
            y = model(x) * cfg["scale"] * amp.get() + (x if cfg.get("skip") else 0)
            return y ** user["power"]

        changes = [
            None,
            lambda: overrides.update(scale=3.0),
            lambda: overrides.update(skip=True),
            lambda: user.update(power=2),
            lambda: amp.set(4.0),
        ]
        return Made(step, weights(model), changes)

    agree(make)


# -- trainers ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_trainer_with_averages_clipping_schedule_meters_and_callbacks():
    class Meter:
        def __init__(self):
            self.history, self.n = [], 0

        def update(self, value):
            self.history.append(value)
            self.n += 1

    class Callback:
        def on_step_begin(self, trainer): ...
        def on_step_end(self, trainer, loss): ...

    class Record(Callback):
        def __init__(self):
            self.seen = defaultdict(list)

        def on_step_end(self, trainer, loss):
            self.seen[trainer.phase].append(loss.detach())

    class Halve(Callback):
        def on_step_begin(self, trainer):
            trainer.weight = trainer.weight / 2

    class Trainer:
        def __init__(self):
            self.model = mlp()
            self.ema = copy.deepcopy(self.model).requires_grad_(False)
            self.optimizer = ja.optim.AdamW(self.model.parameters(), lr=1e-2, eps=1e-3)
            self.schedule = ja.optim.lr_scheduler.LambdaLR(self.optimizer, lambda n: min(1.0, (n + 1) / 10))
            self.callbacks, self.meter = [Record()], Meter()
            self.phase, self.decay, self.weight, self.n_steps, self.clip = "train", 0.9, 1.0, 0, 0.5

        def emit(self, event, *args):
            for callback in self.callbacks:
                getattr(callback, event)(self, *args)

        def step(self, x):
            self.emit("on_step_begin")
            self.optimizer.zero_grad()
            loss = (self.model(x) - x).square().mean() * self.weight
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()
            self.schedule.step()
            with ja.no_grad():
                for slow, fast in zip(self.ema.parameters(), self.model.parameters(), strict=True):
                    slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)
            self.n_steps += 1
            self.meter.update(loss.detach())
            self.emit("on_step_end", loss)
            return {"loss": loss, "norm": norm, "lr": self.schedule.get_last_lr()[0]}

    def make():
        t = Trainer()
        look = lambda: [
            dict(t.model.state_dict()),
            dict(t.ema.state_dict()),
            t.meter.history,
            t.meter.n,
            dict(t.callbacks[0].seen),
            t.n_steps,
            t.weight,
            t.optimizer.param_groups[0]["lr"],
        ]
        changes = [
            None,
            None,
            None,
            lambda: t.callbacks.append(Halve()),
            lambda: setattr(t, "phase", "tune"),
            lambda: setattr(t, "decay", 0.5),
            lambda: t.schedule.step(),
            lambda: t.callbacks.pop(),
        ]
        return Made(t.step, look, changes)

    agree(make)


@pytest.mark.slow
def test_a_trainer_of_mixins_and_abstract_bases():
    class Base(abc.ABC):
        registry = {}

        def __init_subclass__(cls, key=None, **kwargs):
            super().__init_subclass__(**kwargs)
            if key:
                Base.registry[key] = cls

        @property
        @abc.abstractmethod
        def rate(self): ...

        @abc.abstractmethod
        def loss(self, y): ...

        def __call__(self, x):
            self.count()
            return self.loss(self.model(x)) * self.rate

    class Counts:
        n_calls = 0

        def count(self):
            self.n_calls += 1

    class Scaled:
        factor = 1.0

        def loss(self, y):
            return super().loss(y) * self.factor

    class Squared(Base):
        def loss(self, y):
            return y.square().mean()

    class Real(Counts, Scaled, Squared, key="real"):
        def __init__(self):
            self.model = mlp()

        @property
        def rate(self):
            return 1 / max(self.n_calls, 1)  # before Python 3.12 a protocol reads it

    @runtime_checkable
    class HasRate(Protocol):
        @property
        def rate(self): ...

    def make():
        task = Base.registry["real"]()

        def step(x):
            if not isinstance(task, HasRate):
                raise TypeError(task)
            return task(x)

        changes = [None, None, lambda: setattr(task, "factor", 3.0), None]
        return Made(step, lambda: task.n_calls, changes)

    agree(make)


@pytest.mark.slow
def test_contexts_written_as_generators():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.average, self.is_averaged, self.depth = mlp(), mlp(), False, 0

        @contextlib.contextmanager
        def averaged(self, on=True):
            before, self.is_averaged = self.is_averaged, on
            self.depth += 1
            try:
                yield self.average if on else self.net
            finally:
                self.is_averaged = before

        def forward(self, x):
            return (self.average if self.is_averaged else self.net)(x)

    def make():
        model, switch = Model(), {"on": True}

        def step(x):
            with contextlib.ExitStack() as stack:
                net = stack.enter_context(model.averaged(switch["on"]))
                stack.enter_context(ja.no_grad() if switch["on"] else contextlib.nullcontext())
                y = model(x) + net(x)
            return y, y.requires_grad, model(x)

        changes = [None, None, lambda: switch.update(on=False), None, lambda: setattr(model, "is_averaged", True)]
        return Made(step, lambda: (model.depth, model.is_averaged), changes)

    agree(make)


@pytest.mark.slow
def test_a_context_that_is_an_object_with_state():
    class SwapWeights:
        """Weights of an average are in their place inside."""

        def __init__(self, model, shadow):
            self.model, self.shadow, self.n_times, self.log = model, shadow, 0, []

        def __enter__(self):
            self.kept = [p.detach().clone() for p in self.model.parameters()]
            with ja.no_grad():
                for p, s in zip(self.model.parameters(), self.shadow.parameters(), strict=True):
                    p.copy_(s)
            self.n_times += 1
            return self

        def __exit__(self, *exc):
            with ja.no_grad():
                for p, k in zip(self.model.parameters(), self.kept, strict=True):
                    p.copy_(k)
            del self.kept
            self.log.append("out")

        def __len__(self):
            return self.n_times

        def __neg__(self):
            self.log.append("neg")
            return -self.n_times

    def make():
        model, shadow = mlp(), mlp()
        swap = SwapWeights(model, shadow)

        def step(x):
            with swap as inside, ja.no_grad():
                y = model(x) * len(inside)
            return y + model(x) + (-swap)

        changes = [None, None, lambda: setattr(swap, "n_times", 10), None]
        return Made(step, lambda: (swap.n_times, swap.log, dict(model.state_dict())), changes)

    agree(make, most=4)


@pytest.mark.slow
def test_gradients_that_are_accumulated():
    class Loop:
        every = 2

        def __init__(self):
            self.i, self.model = 0, mlp()
            self.optimizer = ja.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

        def __call__(self, x):
            loss = self.model(x).square().mean() / self.every
            loss.backward()
            self.i += 1
            if self.i % self.every == 0:
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=False)
            return loss

    def make():
        loop = Loop()
        changes = [None, None, None, None, lambda: setattr(loop, "every", 3), None, None]
        look = lambda: (loop.i, dict(loop.model.state_dict()), [p.grad for p in loop.model.parameters()])
        return Made(loop, look, changes)

    agree(make, most=6)


@pytest.mark.slow
def test_mixed_precision_with_a_scale_kept_in_python():
    class Scaler:
        def __init__(self):
            self.scale, self.good, self.interval = 1024.0, 0, 2

        def update(self):
            self.good += 1
            if self.good == self.interval:
                self.scale, self.good = self.scale * 2, 0

    def make():
        scaler, model = Scaler(), mlp()
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            with ja.autocast(dtype=ja.bfloat16):
                loss = model(x).float().square().mean()
            (loss * scaler.scale).backward()
            with ja.no_grad():
                for p in model.parameters():
                    p.grad.div_(scaler.scale)
            optimizer.step()
            scaler.update()
            return loss

        changes = [None, None, None, None, lambda: setattr(scaler, "interval", 3)]
        return Made(step, lambda: (scaler.scale, scaler.good), changes)

    agree(make, most=4)


@pytest.mark.slow
def test_layers_that_are_unfrozen_one_by_one():
    def make():
        model = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])
        model.requires_grad_(False)
        model[-1].requires_grad_(True)
        rates = {2: 0.1, 1: 0.05}

        def step(x):
            loss = model(x).square().mean()
            loss.backward()
            trained = []
            with ja.no_grad():
                for i, layer in enumerate(model):
                    for name, p in layer.named_parameters():
                        if p.requires_grad and p.grad is not None:
                            p.sub_(p.grad, alpha=rates.get(i, 0.01))
                            p.grad = None
                            trained.append(f"{i}.{name}")
            return loss, trained

        changes = [
            None,
            None,
            lambda: model[1].requires_grad_(True),
            lambda: model[0].requires_grad_(True),
            lambda: rates.update({0: 1.0}),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_modes_of_modules_and_statistics():
    def make():
        model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8), nn.LayerNorm(8))
        changes = [None, None, lambda: model.eval(), lambda: model.train(), lambda: model[1].eval(),
                   lambda: setattr(model[1], "momentum", 0.5)]  # fmt: skip
        return Made(lambda x: (model(x), model.training), weights(model), changes)

    agree(make, most=5)


# -- models ------------------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x, cache=None, layer=0):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = cache.update(k, v, layer)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c))


@pytest.mark.slow
def test_a_cache_of_keys_and_values_in_an_object():
    class Cache:
        """Grows by what is put in, up to a window."""

        def __init__(self, window):
            self.keys, self.values, self.seen, self.window = [], [], 0, window

        def update(self, k, v, layer):
            if len(self.keys) <= layer:
                self.keys.append(k), self.values.append(v)
            else:
                self.keys[layer] = ja.cat([self.keys[layer], k], 2)[:, :, -self.window :]
                self.values[layer] = ja.cat([self.values[layer], v], 2)[:, :, -self.window :]
            if layer == 0:
                self.seen += k.shape[2]
            return self.keys[layer], self.values[layer]

    def make():
        layers, cache = nn.ModuleList([Attention(), Attention()]), Cache(3)

        @ja.no_grad()
        def step(x):
            x = x[:, None] + cache.seen
            for i, layer in enumerate(layers):
                x = x + layer(x, cache=cache, layer=i)
            return x

        def reset():
            cache.keys.clear(), cache.values.clear()
            cache.seen = 0

        changes = [None] * 6 + [reset, None, lambda: setattr(cache, "window", 2), None]
        return Made(step, lambda: (cache.keys, cache.values, cache.seen), changes)

    agree(make, most=7)


@pytest.mark.slow
def test_a_cache_of_fixed_size_with_a_position():
    @dataclasses.dataclass
    class Static:
        k: ja.Tensor
        v: ja.Tensor
        pos: int = 0

    def make():
        layer, cache = nn.Linear(8, 16), Static(ja.zeros(4, 6, 8), ja.zeros(4, 6, 8))
        mask = ja.arange(6)

        @ja.no_grad()
        def step(x):
            k, v = layer(x).chunk(2, -1)
            cache.k[:, cache.pos], cache.v[:, cache.pos] = k, v
            scores = ja.einsum("bc,btc->bt", x, cache.k).masked_fill(mask > cache.pos, float("-inf"))
            cache.pos += 1
            return ja.einsum("bt,btc->bc", scores.softmax(-1), cache.v)

        changes = [None, None, None, lambda: setattr(cache, "pos", 0), None]
        return Made(step, lambda: (cache.k, cache.v, cache.pos), changes)

    agree(make, most=2)


@pytest.mark.slow
def test_hooks_that_keep_and_change_activations():
    def make():
        model, kept, order = mlp(), {}, []

        def keep(name, module, args, out):
            kept[name] = out.detach()
            order.append(name)

        handles = [m.register_forward_hook(functools.partial(keep, name)) for name, m in model.named_children()]
        steer = {"by": 1.0}
        model[0].register_forward_hook(lambda module, args, out: out + steer["by"])

        def step(x):
            loss = model(x).square().mean()
            loss.backward()
            return loss.detach(), {name: value.mean() for name, value in kept.items()}

        changes = [
            None,
            None,
            lambda: handles.pop().remove(),
            lambda: steer.update(by=2.0),
            lambda: model[2].register_full_backward_hook(lambda m, into, out: order.append("back")) and None,
        ]
        return Made(step, lambda: (kept, order, [p.grad for p in model.parameters()]), changes)

    agree(make, most=5)


@pytest.mark.slow
def test_weights_that_are_tied_and_untied():
    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.body, self.head = nn.Embedding(11, 8), nn.Linear(8, 8), nn.Linear(8, 11, bias=False)
            self.tie()

        def tie(self):
            self.head.weight = self.embed.weight

        def untie(self):
            self.head.weight = nn.Parameter(self.embed.weight.detach().clone())

        def forward(self, ids):
            return self.head(self.body(self.embed(ids)))

    def make():
        model = Language()

        def step(x):
            ids = (x.abs() * 5).int().clamp(max=10)
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, 11), ids[:, 1:].reshape(-1))
            loss.backward()
            with ja.no_grad():
                for p in dict.fromkeys(model.parameters()):
                    p -= 0.1 * p.grad
                    p.grad = None
            return loss, model.head.weight is model.embed.weight

        changes = [None, None, model.untie, None, model.tie]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_route_through_a_dict_of_modules():
    class Router(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Linear(8, 8)
            self.heads = nn.ModuleDict({"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})
            self.task, self.n_used = "a", Counter()

        def forward(self, x):
            self.n_used[self.task] += 1
            head = self.heads[self.task] if self.task in self.heads else self.heads["a"]
            return head(self.trunk(x))

    def make():
        model, more = Router(), nn.Linear(8, 5)
        changes = [
            None,
            None,
            lambda: setattr(model, "task", "b"),
            lambda: setattr(model, "task", "c"),
            lambda: model.heads.update({"c": more}),
            lambda: setattr(model, "task", "a"),
        ]
        return Made(lambda x: model(x), lambda: model.n_used, changes)

    agree(make, most=6)


class LoRA(nn.Module):
    def __init__(self, frozen, rank=2):
        super().__init__()
        self.frozen, self.scale, self.merged = frozen.requires_grad_(False), 2.0, False
        self.down, self.up = nn.Parameter(ja.ones(rank, 8) * 0.1), nn.Parameter(ja.ones(8, rank) * 0.1)

    def forward(self, x):
        y = self.frozen(x)
        return y if self.merged else y + self.scale * (x @ self.down.mT @ self.up.mT)

    def merge(self):
        with ja.no_grad():
            self.frozen.weight.add_(self.scale * self.up @ self.down)
        self.merged = True


@pytest.mark.slow
def test_layers_that_are_replaced_while_the_step_is_in_use():
    def make():
        model = nn.Sequential(OrderedDict(a=nn.Linear(8, 8), act=nn.Tanh(), b=nn.Linear(8, 8)))

        def step(x):
            loss = model(x).square().mean()
            loss.backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.data.sub_(0.1 * p.grad)
                p.grad = None
            return loss

        def wrap():
            for name, child in list(model.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(model, name, LoRA(child))

        changes = [None, None, wrap, lambda: setattr(model.a, "scale", 1.0), lambda: model.b.merge(), None,
                   lambda: setattr(model, "act", nn.ReLU())]  # fmt: skip
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_mixture_of_experts():
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.experts = nn.Linear(8, 3), nn.ModuleList([mlp() for _ in range(3)])
            self.k, self.aux_weight, self.loads = 2, 0.01, deque(maxlen=2)

        def forward(self, x):
            probs = self.gate(x).softmax(-1)
            top, which = probs.topk(self.k)
            top = top / top.sum(-1, keepdim=True)
            out = ja.zeros_like(x)
            for i, expert in enumerate(self.experts):
                out = out + expert(x) * (top * (which == i)).sum(-1, keepdim=True)
            self.loads.append(probs.detach().mean(0))
            self.aux = probs.mean(0).square().sum() * self.aux_weight
            return out

    def make():
        model = Experts()
        optimizer = ja.optim.Adam(model.parameters(), lr=0.01, eps=1e-3)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) - x).square().mean() + model.aux
            loss.backward()
            optimizer.step()
            return loss

        changes = [None, None, None, None, lambda: setattr(model, "k", 1), lambda: setattr(model, "aux_weight", 1.0)]
        return Made(step, lambda: (list(model.loads), model.aux, dict(model.state_dict())), changes)

    agree(make, most=5)


@pytest.mark.slow
def test_adversaries_with_two_optimizers():
    class Gan:
        n_critic = 2

        def __init__(self):
            self.g, self.d, self.n, self.losses = mlp(), mlp(out=1), 0, {"d": [], "g": []}
            self.g_opt = ja.optim.Adam(self.g.parameters(), lr=0.01, betas=(0.5, 0.9), eps=1e-3)
            self.d_opt = ja.optim.RMSprop(self.d.parameters(), lr=0.01, eps=1e-3)

        def step(self, x):
            noise = x.flip(0)
            self.d_opt.zero_grad()
            d_loss = F.softplus(-self.d(x)).mean() + F.softplus(self.d(self.g(noise).detach())).mean()
            d_loss.backward()
            self.d_opt.step()
            self.losses["d"].append(d_loss.detach())
            self.n += 1
            if self.n % self.n_critic == 0:
                self.d.requires_grad_(False)
                self.g_opt.zero_grad()
                g_loss = F.softplus(-self.d(self.g(noise))).mean()
                g_loss.backward()
                self.g_opt.step()
                self.d.requires_grad_(True)
                self.losses["g"].append(g_loss.detach())
            return d_loss

    def make():
        gan = Gan()
        changes = [None, None, None, None, lambda: setattr(gan, "n_critic", 1), None]
        return Made(gan.step, lambda: (gan.losses, gan.n, weights(gan.g, gan.d)()), changes)

    agree(make, most=4)


@pytest.mark.slow
def test_an_actor_a_critic_and_targets_that_follow():
    Batch = namedtuple("Batch", "obs action reward after")

    class Agent:
        def __init__(self):
            self.actor, self.critic = mlp(out=2), nn.Linear(10, 1)
            self.targets = copy.deepcopy(nn.ModuleDict({"actor": self.actor, "critic": self.critic}))
            self.targets.requires_grad_(False)
            parts = {"actor": self.actor, "critic": self.critic}
            self.optimizers = {n: ja.optim.Adam(part.parameters(), lr=1e-2, eps=1e-3) for n, part in parts.items()}
            self.discount, self.tau, self.delay, self.n = 0.9, 0.1, 2, 0

        def learn(self, batch):
            with ja.no_grad():
                action = self.targets["actor"](batch.after).tanh()
                value = self.targets["critic"](ja.cat([batch.after, action], -1))
                goal = batch.reward[:, None] + self.discount * value
            loss = (self.critic(ja.cat([batch.obs, batch.action], -1)) - goal).square().mean()
            self._descend("critic", loss)
            if self.n % self.delay == 0:
                action = self.actor(batch.obs).tanh()
                self._descend("actor", -self.critic(ja.cat([batch.obs, action], -1)).mean())
                for name, target in self.targets.items():
                    for slow, fast in zip(target.parameters(), getattr(self, name).parameters(), strict=True):
                        slow.data.lerp_(fast.data, self.tau)
            self.n += 1
            return loss

        def _descend(self, name, loss):
            self.optimizers[name].zero_grad()
            loss.backward()
            self.optimizers[name].step()

    def make():
        agent = Agent()
        step = lambda x: agent.learn(Batch(x, x[:, :2], x[:, 0], x.roll(1, 0)))

        def hard():
            agent.targets["actor"] = copy.deepcopy(agent.actor).requires_grad_(False)

        changes = [None, None, None, lambda: setattr(agent, "tau", 0.5), hard, None]
        look = lambda: (agent.n, weights(agent.actor, agent.critic, agent.targets)())
        return Made(step, look, changes)

    agree(make, most=5)


@pytest.mark.slow
def test_a_copy_of_the_model_that_is_made_in_the_step():
    def make():
        model, inner_rate = mlp(), {"lr": 0.1}

        def step(x):  # a step of meta-learning to the first order
            fast = copy.deepcopy(model)
            loss = fast(x).square().mean()
            loss.backward()
            with ja.no_grad():
                for p in fast.parameters():
                    p -= inner_rate["lr"] * p.grad
                for p, q in zip(model.parameters(), fast.parameters(), strict=True):
                    p.lerp_(q, 0.5)
            return fast(x).square().mean()

        changes = [None, None, lambda: inner_rate.update(lr=0.2), lambda: model.add_module("3", nn.Tanh()), None]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_queue_of_keys_with_a_pointer():
    class Contrast(nn.Module):
        def __init__(self):
            super().__init__()
            self.query = nn.Linear(8, 4)
            self.key = copy.deepcopy(self.query).requires_grad_(False)
            self.register_buffer("queue", ja.randn(12, 4))
            self.pointer, self.momentum, self.temperature = 0, 0.9, 0.1

        def forward(self, x):
            q = F.normalize(self.query(x), dim=-1)
            with ja.no_grad():
                for slow, fast in zip(self.key.parameters(), self.query.parameters(), strict=True):
                    slow.data = slow.data * self.momentum + fast.data * (1 - self.momentum)
                k = F.normalize(self.key(x), dim=-1)
            logits = ja.cat([(q * k).sum(-1, keepdim=True), q @ self.queue.clone().mT], -1) / self.temperature
            self.queue[self.pointer : self.pointer + 4] = k
            self.pointer = (self.pointer + 4) % 12
            return F.cross_entropy(logits, ja.zeros(4, dtype=ja.int32))

    def make():
        model = Contrast()

        def step(x):
            loss = model(x)
            loss.backward()
            return loss

        changes = [None, None, None, None, lambda: setattr(model, "temperature", 0.2)]
        return Made(step, lambda: (dict(model.state_dict()), model.pointer, model.query.weight.grad), changes)

    agree(make, most=5)


@pytest.mark.slow
def test_a_state_that_is_carried_from_batch_to_batch():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.state, self.truncate = nn.GRUCell(8, 8), None, True

        def forward(self, x):
            state = ja.zeros_like(x) if self.state is None else self.state
            y = self.cell(x, state)
            self.state = y.detach() if self.truncate else y
            return y

    def make():
        model = Recurrent()

        def step(x):
            loss = model(x).square().mean()
            loss.backward()
            grads = [p.grad for p in model.parameters()]
            model.zero_grad()
            return loss, grads

        changes = [None, None, None, lambda: setattr(model, "state", None), None]
        return Made(step, lambda: model.state, changes)

    agree(make, most=2)


@pytest.mark.slow
def test_a_noise_schedule_in_a_registered_config():
    class FrozenDict(OrderedDict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for key, value in self.items():
                setattr(self, key, value)
            self._is_frozen = True

        def __setitem__(self, key, value):
            if getattr(self, "_is_frozen", False):
                raise TypeError(f"`{key}` is frozen")
            super().__setitem__(key, value)

    def register_to_config(init):
        @functools.wraps(init)
        def wrapped(self, **kwargs):
            defaults = {"n_steps": 10, "kind": "linear", "prediction": "noise"}
            self._internal = FrozenDict({**defaults, **kwargs})
            init(self, **self._internal)

        return wrapped

    class ConfigMixin:
        @property
        def config(self):
            return self._internal

        def __getattr__(self, name):
            if name in self.__dict__.get("_internal", {}):
                return self._internal[name]
            raise AttributeError(name)

    class Scheduler(ConfigMixin):
        @register_to_config
        def __init__(self, n_steps, kind, prediction):
            betas = ja.linspace(1e-3, 0.1, n_steps)
            self.alphas = (1 - (betas if kind == "linear" else betas**2)).cumprod(0)
            self.timesteps = list(range(n_steps))[::-1]

        def step(self, out, t, x):
            alpha, before = self.alphas[t], self.alphas[t - 1] if t > 0 else ja.ones(())
            if self.config.prediction == "noise":
                x0 = (x - (1 - alpha).sqrt() * out) / alpha.sqrt()
            elif self.prediction == "sample":
                x0 = out
            return before.sqrt() * x0 + (1 - before).sqrt() * out

    def make():
        model, world = mlp(), {"scheduler": Scheduler(n_steps=4)}

        @ja.no_grad()
        def sample(x):
            scheduler = world["scheduler"]
            for t in scheduler.timesteps:
                x = scheduler.step(model(x), t, x)
            return x, scheduler.config["kind"], scheduler.n_steps

        changes = [
            None,
            None,
            lambda: world.update(scheduler=Scheduler(n_steps=4, kind="squared")),
            lambda: world.update(scheduler=Scheduler(n_steps=4, prediction="sample")),
            lambda: world["scheduler"].timesteps.pop(0),
        ]
        return Made(sample, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_outputs_that_are_ordered_dicts_with_attributes():
    class Output(OrderedDict):
        def __init__(self, **fields):
            super().__init__(**fields)
            for name, value in fields.items():
                object.__setattr__(self, name, value)

        def to_tuple(self):
            return tuple(self.values())

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.wants_hidden, self.return_dict = mlp(), False, True

        def forward(self, x, labels=None, **kwargs):
            hidden = self.net[0](x)
            logits = self.net[2](self.net[1](hidden))
            out = Output(logits=logits)
            if labels is not None:
                out = Output(loss=(logits - labels).square().mean(), **out)
            if kwargs.get("wants_hidden", self.wants_hidden):
                out = Output(**out, hidden=hidden)
            return out if self.return_dict else out.to_tuple()

    def make():
        model = Model()

        def step(x):
            out = model(x, labels=x)
            loss = out.loss if isinstance(out, Output) else out[0]
            loss.backward()
            model.net[0].weight.data.sub_(model.net[0].weight.grad)
            model.zero_grad()
            return loss, list(out) if isinstance(out, dict) else len(out)

        changes = [
            None,
            None,
            lambda: setattr(model, "wants_hidden", True),
            lambda: setattr(model, "return_dict", False),
            None,
        ]
        return Made(step, weights(model), changes)

    agree(make)


# -- objects in the closure --------------------------------------------------------------------------------------------


class Tokenizer:
    """Words of a vocabulary to numbers, as tokenizers do it."""

    pattern = re.compile(r"[a-z]+|[0-9]|[^\sa-z0-9]")

    def __init__(self, n=30_000):
        self.vocab = {f"w{i:05d}": i for i in range(n - 3)} | {"<unk>": n - 3, "good": n - 2, "bad": n - 1}
        self.names = {i: word for word, i in self.vocab.items()}
        self.unk, self.lower, self.n_seen = "<unk>", True, 0

    @functools.lru_cache(maxsize=100)  # noqa: B019
    def word(self, word):
        return self.vocab.get(word, self.vocab[self.unk])

    @property
    def unk_id(self):
        return self.vocab[self.unk]

    def __len__(self):
        return len(self.vocab)

    def __call__(self, text):
        self.n_seen += 1
        return [self.word(w) for w in self.pattern.findall(text.lower() if self.lower else text)]


@pytest.mark.slow
def test_a_tokenizer_in_the_closure():
    def make():
        tokenizer, table, texts = Tokenizer(), ja.randn(64, 8), ["a good day"]

        def step(x):
            ids = tokenizer(texts[-1])
            rows = table[[i % 64 for i in ids]]
            return x + rows.mean(0) * (len(tokenizer) / 30_000), ids, tokenizer.names[ids[-1]]

        def relearn():
            tokenizer.vocab["day"] = 5
            tokenizer.word.cache_clear()

        changes = [
            None,
            None,
            lambda: texts.append("a bad day, 12"),
            lambda: setattr(tokenizer, "lower", False),
            relearn,
            lambda: tokenizer.names.update({5: "day!"}) or texts.append("bad day"),
        ]
        return Made(step, lambda: tokenizer.n_seen, changes)

    agree(make)


@pytest.mark.slow
def test_a_text_is_tokenized_that_is_an_argument():
    def make():
        tokenizer, table = Tokenizer(), ja.randn(64, 8)

        def step(batch):
            x, texts = batch
            ids = [tokenizer(text) for text in texts]
            length = max(map(len, ids))
            padded = ja.tensor([row + [tokenizer.unk_id] * (length - len(row)) for row in ids])
            return table[padded % 64].mean(1) + x[: len(ids)]

        return Made(step, lambda: tokenizer.n_seen, [None] * 5)

    texts = [["good", "bad bad"], ["good", "bad bad"], ["bad", "good bad"], ["w00001 good", "x"], ["good", "bad bad"]]
    calls = iter([text for text in texts for _ in range(2)])
    agree(make, give=lambda x: (x, next(calls)), most=3)


@pytest.mark.slow
def test_a_logger_whose_level_decides():
    def make():
        logger = logging.Manager(logging.RootLogger(logging.WARNING)).getLogger("a.library")
        logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.WARNING)
        model, stats = mlp(), {}

        def step(x):
            y = model(x)
            if logger.isEnabledFor(logging.DEBUG):
                stats["mean"] = y.mean().detach()
            logger.debug("shape %s", y.shape)
            return y, logger.getEffectiveLevel()

        changes = [None, None, lambda: logger.setLevel(logging.INFO), None]
        return Made(step, lambda: stats, changes)

    agree(make, allowed=".*logging.*")


@pytest.mark.slow
def test_loggers_of_a_hierarchy_and_a_warning_once():
    def make():
        manager = logging.Manager(logging.RootLogger(logging.ERROR))
        root, logger = manager.getLogger("package"), manager.getLogger("package.module.sub")
        model, warned = mlp(), set()

        def warn_once(text):
            if text not in warned:
                warned.add(text)
                logger.warning(text)

        def step(x):
            if x.shape[0] == 4:
                warn_once("small batch")
            return model(x) * (2 if logger.isEnabledFor(logging.ERROR) else 1)

        changes = [None, None, lambda: root.setLevel(logging.CRITICAL), warned.clear, None]
        return Made(step, lambda: sorted(warned), changes)

    agree(make, most=4, allowed=".*logging.*")


@pytest.mark.slow
def test_properties_that_are_cached():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.n_heads, self.n_computed = mlp(), 2, 0

        @functools.cached_property
        def scale(self):
            self.n_computed += 1
            return self.n_heads**-0.5

        @functools.cached_property
        def mask(self):
            return ja.ones(8, 8).tril()

        def forward(self, x):
            return self.net(x) @ self.mask * self.scale

    def make():
        model = Model()

        def recompute():
            model.n_heads = 4
            del model.scale

        changes = [None, None, lambda: setattr(model, "n_heads", 3), recompute, None,
                   lambda: setattr(model, "scale", 7.0)]  # fmt: skip
        return Made(lambda x: model(x), lambda: (model.n_computed, "scale" in vars(model)), changes)

    agree(make, most=5)


def test_a_cached_property_after_a_write_in_the_step():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 1

        @functools.cached_property
        def twice(self):
            return self.n * 2

    def make():
        model = Model()

        def step(x):
            model.n = 3
            return x + model.twice

        return Made(step, lambda: (model.n, model.twice), [None, None, lambda: model.__dict__.pop("twice"), None])

    agree(make, most=3)


@pytest.mark.slow
def test_containers_of_the_standard_library():
    class Stats(NamedTuple):
        mean: ja.Tensor
        name: str

    def make():
        model, seen = mlp(), Counter()
        recent, by_name = deque(maxlen=2), defaultdict(lambda: 1.0, down=2.0)
        order = OrderedDict(up=1, down=2)

        def step(x):
            y = model(x)
            for name, times in order.items():
                seen[name] += times
                y = y * by_name[name] + len(recent)
            recent.append(Stats(y.mean().detach(), next(iter(order))))
            return y, seen.most_common(1), recent[-1].name

        changes = [
            None,
            None,
            None,
            lambda: by_name.update(up=3.0),
            lambda: order.move_to_end("up"),
            lambda: by_name.pop("down"),
        ]
        return Made(step, lambda: (dict(seen), list(recent), dict(by_name)), changes)

    agree(make, most=6)


@pytest.mark.slow
def test_activations_in_a_table_of_classes():
    class ClassInstantier(OrderedDict):
        def __getitem__(self, key):
            content = super().__getitem__(key)
            cls, kwargs = content if isinstance(content, tuple) else (content, {})
            return cls(**kwargs)

    def make():
        table = ClassInstantier(relu=nn.ReLU, leaky=(nn.LeakyReLU, {"negative_slope": 0.2}), gelu=nn.GELU)
        model, cfg = mlp(), argparse.Namespace(act="relu")
        get = operator.attrgetter("act")

        def step(x):
            return table[get(cfg)](model(x)), list(table)

        changes = [
            None,
            None,
            lambda: setattr(cfg, "act", "leaky"),
            lambda: table.update(leaky=(nn.LeakyReLU, {"negative_slope": 0.5})),
            lambda: setattr(cfg, "act", "gelu"),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_functions_that_dispatch_by_type():
    class Mean:
        def __init__(self):
            self.dim = 0

    class Last:
        index = -1

    def make():
        @functools.singledispatch
        def pool(how, x):
            return x.sum()

        pool.register(Mean, lambda how, x: x.mean(how.dim))
        pool.register(Last, lambda how, x: x[how.index])
        model, world = mlp(), {"how": Mean()}
        step = lambda x: pool(world["how"], model(x))
        changes = [
            None,
            lambda: setattr(world["how"], "dim", 1),
            lambda: world.update(how=Last()),
            lambda: pool.register(Last, lambda how, x: x[0]),
            lambda: world.update(how=3),
        ]
        return Made(step, weights(model), changes)

    agree(make)


def test_children_that_know_their_parents_weakly():
    class Child(nn.Module):
        __slots__ = ("_parent",)

        def __init__(self, parent):
            super().__init__()
            self.net = nn.Linear(8, 8)
            object.__setattr__(self, "_parent", weakref.ref(parent))

        def forward(self, x):
            parent = self._parent()
            parent.n_calls += 1
            return self.net(x) * parent.scale

    class Parent(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.n_calls = 2.0, 0
            self.children_ = nn.ModuleList([Child(self) for _ in range(2)])

        def forward(self, x):
            return functools.reduce(lambda y, child: child(y), self.children_, x)

    def make():
        model = Parent()
        changes = [None, None, lambda: setattr(model, "scale", 3.0), None]
        return Made(lambda x: model(x), lambda: model.n_calls, changes)

    agree(make)


@pytest.mark.slow
def test_a_method_that_is_patched_and_a_function_that_is_decorated():
    def counted(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            wrapper.n_calls += 1
            return fn(*args, **kwargs)

        wrapper.n_calls = 0
        return wrapper

    def make():
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = mlp()

            @counted
            def forward(self, x):
                return self.scaled(self.net(x))

            def scaled(self, x):
                return x * 2

        model = Model()

        def patch_class():
            Model.scaled = lambda self, x: x * 3

        changes = [
            None,
            None,
            patch_class,
            lambda: setattr(model, "scaled", lambda x: x * 4),
            lambda: delattr(model, "scaled"),
            None,
        ]
        return Made(lambda x: model(x), lambda: Model.forward.n_calls, changes)

    agree(make)


@pytest.mark.slow
def test_a_model_whose_blocks_are_named_by_strings_and_numbers():
    class Blocks(nn.Module):
        def __init__(self, n=3):
            super().__init__()
            for i in range(n):
                setattr(self, f"block{i}", nn.Linear(8, 8))
            self.n, self.skip = n, {1}

        def forward(self, x):
            for i in range(self.n):
                if i not in self.skip:
                    x = getattr(self, f"block{i}")(x)
            return x

    def make():
        model = Blocks()
        changes = [
            None,
            lambda: model.skip.add(0),
            lambda: model.skip.clear(),
            lambda: setattr(model, "n", 2),
            lambda: setattr(model, "block1", nn.Identity()),
        ]
        return Made(lambda x: model(x), weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_evaluation_with_metrics_kept_in_objects():
    class Metric:
        full_name = "metric"

        def __init__(self):
            self.reset()

        def reset(self):
            self.total, self.count = ja.zeros(()), 0

        def update(self, values):
            self.total = self.total + values.sum()
            self.count += values.numel()

        def compute(self):
            return self.total / max(self.count, 1)

        def __iadd__(self, values):
            self.update(values)
            return self

    class Metrics(dict):
        def __getattr__(self, name):
            return self[name]

    def make():
        model, metrics = mlp().eval(), Metrics(error=Metric(), size=Metric())

        @ja.inference_mode()
        def step(x):
            y = model(x)
            for name, metric in metrics.items():
                metric.update((y - x).abs() if name == "error" else y.abs())
            metrics["error"] += y
            return {name: metric.compute() for name, metric in metrics.items()}

        changes = [None, None, None, lambda: metrics.size.reset(), lambda: metrics.pop("size")]
        return Made(step, lambda: {n: (m.total, m.count) for n, m in metrics.items()}, changes)

    agree(make)


@pytest.mark.slow
def test_a_trainer_with_state_control_and_a_handler_of_callbacks():
    @dataclasses.dataclass
    class State:
        step: int = 0
        best: float | None = None
        history: list = dataclasses.field(default_factory=list)

    @dataclasses.dataclass
    class Control:
        should_log: bool = False
        should_stop: bool = False

        def new_step(self):
            self.should_log = False

    class Flow:
        every = 2

        def on_step_end(self, args, state, control, **kwargs):
            if state.step % self.every == 0:
                control.should_log = True
            if state.step >= args.max_steps:
                control.should_stop = True
            return control

    class Handler:
        def __init__(self, *callbacks):
            self.callbacks = list(callbacks)

        def __getattr__(self, event):
            if not event.startswith("on_"):
                raise AttributeError(event)
            return functools.partial(self.call_event, event)

        def call_event(self, event, args, state, control, **kwargs):
            for callback in self.callbacks:
                result = getattr(callback, event)(args, state, control, model=self, **kwargs)
                control = control if result is None else result
            return control

    def make():
        model, args = mlp(), argparse.Namespace(max_steps=4, lr=0.1)
        state, control, handler = State(), Control(), Handler(Flow())
        optimizer = ja.optim.SGD(model.parameters(), lr=args.lr)

        def step(x):
            nonlocal control
            control.new_step()
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            state.step += 1
            control = handler.on_step_end(args, state, control)
            if control.should_log:
                state.history.append({"loss": loss.detach(), "step": state.step})
            return loss.detach()

        changes = [None, None, None, lambda: setattr(handler.callbacks[0], "every", 3), None, None]
        return Made(step, lambda: (dataclasses.asdict(state) | {"history": state.history}, vars(control)), changes)

    agree(make, most=6)


@pytest.mark.slow
def test_hyperparameters_that_a_module_saves_and_logs():
    class LightModule(nn.Module):
        def save(self, **given):
            object.__setattr__(self, "hparams", argparse.Namespace(**given))

        def log(self, name, value, *, on_step=True, mean=False):
            kept = self.__dict__.setdefault("logged", defaultdict(list))
            kept[name].append(value.detach())
            if mean:
                self.logged[f"{name}_mean"] = [sum(kept[name]) / len(kept[name])]

    class Classifier(LightModule):
        def __init__(self, **hparams):
            super().__init__()
            self.save(**hparams)
            self.net = mlp()
            self.current_epoch = 0

        def training_step(self, batch, i):
            x, y = batch
            smoothing = self.hparams.smoothing if self.current_epoch > 0 else 0.0
            loss = F.cross_entropy(self.net(x), y, label_smoothing=smoothing)
            self.log("loss", loss, mean=True)
            return {"loss": loss, "epoch": self.current_epoch}

        def configure_optimizers(self):
            optimizer = getattr(ja.optim, self.hparams.optimizer)(self.parameters(), lr=self.hparams.lr)
            return [optimizer], [ja.optim.lr_scheduler.StepLR(optimizer, 2)]

    def make():
        task = Classifier(optimizer="SGD", lr=0.1, smoothing=0.1)
        (optimizer,), (schedule,) = task.configure_optimizers()

        def step(x):
            optimizer.zero_grad()
            out = task.training_step((x, x.argmax(-1)), 0)
            out["loss"].backward()
            optimizer.step()
            schedule.step()
            return {**out, "loss": out["loss"].detach()}

        changes = [None, None, lambda: setattr(task, "current_epoch", 1),
                   lambda: setattr(task.hparams, "smoothing", 0.3), None]  # fmt: skip
        return Made(step, lambda: (dict(task.logged), weights(task)()), changes)

    agree(make, most=5)


@pytest.mark.slow
def test_modules_built_from_names_in_a_config():
    class Registry:
        def __init__(self):
            self._made = {}

        def register(self, name):
            def wrap(cls):
                self._made[name] = cls
                return cls

            return wrap

        def build(self, cfg):
            cfg = dict(cfg)
            return self._made[cfg.pop("type")](**cfg)

    def make():
        losses = Registry()

        @losses.register("mse")
        class Squares:
            def __init__(self, weight=1.0):
                self.weight = weight

            def __call__(self, y):
                return y.square().mean() * self.weight

        losses.register("l1")(lambda weight=1.0: lambda y: y.abs().mean() * weight)
        model, cfg = mlp(), {"losses": [{"type": "mse"}], "names": ["0", "2"]}

        def step(x):
            y = functools.reduce(lambda y, name: getattr(model, name)(y), cfg["names"], x)
            return {loss["type"]: losses.build(loss)(y) for loss in cfg["losses"]}

        changes = [
            None,
            None,
            lambda: cfg["losses"].append({"type": "l1", "weight": 0.5}),
            lambda: cfg["losses"][0].update(weight=2.0),
            lambda: cfg["names"].insert(1, "1"),
            lambda: losses.register("mse")(lambda weight: lambda y: y.sum() * weight),
        ]
        return Made(step, weights(model), changes)

    agree(make)


@pytest.mark.slow
def test_a_replay_buffer_that_is_a_ring_of_transitions():
    class Replay:
        def __init__(self, size):
            self.items, self.size, self.at = [], size, 0

        def push(self, item):
            if len(self.items) < self.size:
                self.items.append(None)
            self.items[self.at] = item
            self.at = (self.at + 1) % self.size

        def sample(self, n):
            return ja.stack([self.items[-(i + 1)] for i in range(min(n, len(self)))])

        def __len__(self):
            return len(self.items)

        def __getitem__(self, i):
            return self.items[i]

    def make():
        replay, model = Replay(3), mlp()

        def step(x):
            replay.push(x.mean(0))
            y = model(replay.sample(2)) + replay[0]
            return y.sum() / len(replay)

        def clear():
            replay.items.clear()
            replay.at = 0

        return Made(step, lambda: (replay.items, replay.at), [None] * 5 + [clear, None])

    agree(make, most=7)


@pytest.mark.slow
def test_greedy_decoding_with_a_state_of_words():
    @dataclasses.dataclass
    class Hypothesis:
        ids: list = dataclasses.field(default_factory=list)
        score: ja.Tensor | None = None

    class Processor:
        penalty = 2.0

        def __call__(self, ids, logits):
            return logits.scatter(1, ids, logits.gather(1, ids) / self.penalty) if ids.shape[1] else logits

    class Generator:
        def __init__(self):
            self.embed, self.head, self.processors = nn.Embedding(11, 8), nn.Linear(8, 11), [Processor()]
            self.n_new, self.sample_with = 3, "argmax"

        @ja.no_grad()
        def generate(self, x):
            beam = Hypothesis(score=ja.zeros(4))
            h, ids = x, ja.zeros(4, 0, dtype=ja.int32)
            for _ in range(self.n_new):
                logits = functools.reduce(lambda z, p: p(ids, z), self.processors, self.head(h))
                now = getattr(logits, self.sample_with)(-1).int()[:, None]
                beam.ids.append(now[:, 0])
                beam.score = beam.score + logits.gather(1, now)[:, 0]
                ids, h = ja.cat([ids, now], 1), self.embed(now[:, 0])
            return beam

    def make():
        g = Generator()
        changes = [
            None,
            None,
            lambda: setattr(g, "n_new", 2),
            lambda: setattr(g, "sample_with", "argmin"),
            lambda: setattr(g.processors[0], "penalty", 4.0),
            lambda: setattr(Processor, "penalty", 4.0),
            lambda: g.processors.append(lambda ids, z: z * 2),
        ]
        return Made(lambda x: g.generate(x), lambda: len(g.processors), changes)

    agree(make)
