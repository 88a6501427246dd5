"""Whole steps over modules, configs and tools of other libraries do compiled what they do eagerly."""

from __future__ import annotations

import importlib
import io
import itertools
import logging
import sys
import textwrap
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import nn
from tests.whole_steps import Made, agree

F = nn.functional

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interpreted")]


def mlp(width=8, out=8):
    return nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Linear(width, out))


def weights(*models):
    """Returns a function that says the parameters and buffers of models."""
    return lambda: [dict(m.state_dict()) for m in models]


def arrays(batch):
    """Returns a batch as an array of JAX."""
    return batch.jax()


# -- models of JAX -----------------------------------------------------------------------------------------------------


def nnx_transformer(nnx):
    class Block(nnx.Module):
        def __init__(self, cfg, rngs):
            self.norm = nnx.LayerNorm(8, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(cfg["heads"], 8, rngs=rngs, decode=False)
            self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)
            self.drop, self.cfg = nnx.Dropout(0.1, rngs=rngs), cfg

        def __call__(self, x):
            x = x + self.attention(self.norm(x))
            return x + self.drop(self.down(getattr(jax.nn, self.cfg["act"])(self.up(x))))

    class Transformer(nnx.Module):
        def __init__(self, cfg, rngs):
            self.embed = nnx.Embed(11, 8, rngs=rngs)
            self.blocks = nnx.List([Block(cfg, rngs) for _ in range(2)])
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.cfg = cfg

        def __call__(self, ids):
            x = self.embed(ids)
            for block in self.blocks[: self.cfg["depth"]]:
                x = block(x)
            return self.embed.attend(self.norm(x)) / self.cfg["temperature"]

    return Transformer


@pytest.mark.parametrize("wrt", ["kept", "made in the step"])
def test_an_nnx_transformer_with_optax(wrt):
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    Transformer = nnx_transformer(nnx)

    def make():
        cfg = {"heads": 2, "act": "gelu", "depth": 2, "temperature": 1.0}
        model = Transformer(cfg, nnx.Rngs(0))
        schedule = optax.linear_schedule(1e-2, 1e-3, 10)
        transform = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, eps=1e-3))
        optimizer = nnx.Optimizer(model, transform, wrt=nnx.Param)
        metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

        def loss_fn(model, ids):
            logits = model(ids[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean()

        def step(x):
            ids = (jnp.abs(x) * 5).astype(int).clip(0, 10)
            loss, grads = nnx.value_and_grad(loss_fn)(model, ids)
            if wrt == "kept":
                optimizer.update(model, grads)
            else:
                nnx.update(model, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model, nnx.Param), grads))
            metrics.update(loss=loss)
            return loss

        changes = [
            None,
            None,
            lambda: cfg.update(act="relu"),
            lambda: model.eval(),
            lambda: cfg.update(depth=1),
            lambda: model.train(),
        ]
        look = lambda: (jax.tree.leaves(nnx.state(model, nnx.Param)), optimizer.step[...], metrics.compute())
        return Made(step, look, changes)

    agree(make, give=arrays)


def test_an_nnx_module_with_tensors_and_an_optimizer_of_tensors():
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.norm, self.head = nnx.BatchNorm(8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)
            self.scale = 2.0

        def __call__(self, x):
            return self.head(self.norm(x)) * self.scale

    def make():
        net = Net(nnx.Rngs(0))
        optimizer = ja.optim.SGD(net, lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        changes = [None, None, lambda: setattr(net, "scale", 3.0), lambda: net.norm.eval()]
        return Made(step, lambda: jax.tree.leaves(nnx.state(net, nnx.Param)), changes)

    agree(make)


@pytest.mark.parametrize("way", ["partition", "filter_grad", "filter_jit"])
def test_an_equinox_model_that_is_passed_through_the_step(way):
    eqx = pytest.importorskip("equinox")

    def make():
        world = {"model": eqx.nn.MLP(8, 8, 8, 1, key=jax.random.key(0)), "lr": 0.1, "act": jnp.tanh}

        def step(x):
            model = world["model"]
            if way == "partition":
                params, static = eqx.partition(model, eqx.is_array)
                loss, grads = jax.value_and_grad(lambda p: jnp.mean(jax.vmap(eqx.combine(p, static))(x) ** 2))(params)
            elif way == "filter_grad":
                loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean(world["act"](jax.vmap(m)(x)) ** 2))(model)
            else:
                run = eqx.filter_jit(eqx.filter_value_and_grad(lambda m, x: jnp.mean(jax.vmap(m)(x) ** 2)))
                loss, grads = run(model, x)
            updates = jax.tree.map(lambda g: None if g is None else -world["lr"] * g, grads)
            world["model"] = eqx.apply_updates(model, updates)
            return loss

        def swap():
            world["model"] = eqx.tree_at(lambda m: m.activation, world["model"], jax.nn.silu)

        changes = [None, None, lambda: world.update(lr=0.2), swap, lambda: world.update(act=jnp.sin)]
        return Made(step, lambda: jax.tree.leaves(eqx.filter(world["model"], eqx.is_array)), changes)

    agree(make, give=arrays, most=4)


def test_a_mamba_like_block_with_einops():
    einops, nnx = pytest.importorskip("einops"), pytest.importorskip("flax.nnx")

    class Mamba(nnx.Module):
        def __init__(self, rngs, width=8, n_states=4):
            self.into, self.out = nnx.Linear(width, 2 * width, rngs=rngs), nnx.Linear(width, width, rngs=rngs)
            self.project = nnx.Linear(width, 1 + 2 * n_states, rngs=rngs)
            self.dt = nnx.Linear(1, width, rngs=rngs)
            self.a_log = nnx.Param(jnp.log(einops.repeat(jnp.arange(1.0, n_states + 1), "n -> d n", d=width)))
            self.skip, self.n_states, self.reverse = nnx.Param(jnp.ones(width)), n_states, False

        def __call__(self, x):
            x, gate = jnp.split(self.into(x), 2, -1)
            return self.out(self.scan(jax.nn.silu(x)) * jax.nn.silu(gate))

        def scan(self, x):
            dt, b, c = jnp.split(self.project(x), [1, 1 + self.n_states], -1)
            dt = jax.nn.softplus(self.dt(dt))
            decay = jnp.exp(einops.einsum(dt, -jnp.exp(self.a_log[...]), "b l d, d n -> b l d n"))
            put = einops.einsum(dt, b, x, "b l d, b l n, b l d -> b l d n")

            def one(state, now):
                state = now[0] * state + now[1]
                return state, einops.einsum(state, now[2], "b d n, b n -> b d")

            sequence = tuple(einops.rearrange(v, "b l ... -> l b ...") for v in (decay, put, c))
            _, ys = jax.lax.scan(one, jnp.zeros_like(put[:, 0]), sequence, reverse=self.reverse)
            return einops.rearrange(ys, "l b d -> b l d") + x * self.skip[...]

    def make():
        model, cfg = Mamba(nnx.Rngs(0)), {"length": 2, "reduction": "mean"}

        def step(x):
            x = einops.rearrange(x, "(b l) d -> b l d", l=cfg["length"])
            loss_fn = lambda m: einops.reduce(m(x) ** 2, "b l d -> ", cfg["reduction"])
            loss, grads = nnx.value_and_grad(loss_fn)(model)
            nnx.update(model, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model, nnx.Param), grads))
            return loss

        changes = [
            None,
            None,
            lambda: setattr(model, "reverse", True),
            lambda: cfg.update(length=4),
            lambda: cfg.update(reduction="max"),
        ]
        return Made(step, lambda: jax.tree.leaves(nnx.state(model, nnx.Param)), changes)

    agree(make, give=arrays, most=5)  # einops keeps the types that it has met


# -- a library with a registry of 500 configs --------------------------------------------------------------------------

LAZY = '''
"""A package that knows 500 kinds of models, and loads each when it is asked for."""
import importlib
from collections import OrderedDict

class Config:
    model_type = ""
    attribute_map = {"hidden_size": "width"}
    def __init__(self, **kwargs):
        self.width, self.act, self.scale, self.depth = 8, "relu", 1.0, 2
        self.__dict__.update(kwargs)
    def __setattr__(self, name, value):
        super().__setattr__(self.attribute_map.get(name, name), value)
    def __getattribute__(self, name):
        if name != "attribute_map" and name in super().__getattribute__("attribute_map"):
            name = super().__getattribute__("attribute_map")[name]
        return super().__getattribute__(name)
    def to_dict(self):
        return dict(self.__dict__, model_type=self.model_type)

CONFIG_NAMES = OrderedDict((f"kind{i}", f"Kind{i}Config") for i in range(500))
MODEL_NAMES = OrderedDict((f"kind{i}", f"Kind{i}Model") for i in range(500))

class _LazyConfigs(OrderedDict):
    def __init__(self, mapping):
        self._mapping, self._extra, self._modules = mapping, {}, {}
    def __getitem__(self, key):
        if key in self._extra:
            return self._extra[key]
        if key not in self._mapping:
            raise KeyError(key)
        if key not in self._modules:
            self._modules[key] = importlib.import_module(f"{__name__}.{key}")
        return getattr(self._modules[key], self._mapping[key])
    def keys(self):
        return list(self._mapping.keys()) + list(self._extra.keys())
    def values(self):
        return [self[k] for k in self._mapping.keys()] + list(self._extra.values())
    def items(self):
        return [(k, self[k]) for k in self.keys()]
    def __iter__(self):
        return iter(self.keys())
    def __contains__(self, item):
        return item in self._mapping or item in self._extra
    def __len__(self):
        return len(self._mapping) + len(self._extra)
    def register(self, key, value):
        self._extra[key] = value

class _LazyAutoMapping(OrderedDict):
    def __init__(self, config_mapping, model_mapping):
        self._config_mapping, self._model_mapping = config_mapping, model_mapping
        self._reverse = {v: k for k, v in config_mapping.items()}
        self._extra, self._modules = {}, {}
    def __len__(self):
        return len(self._model_mapping)
    def __getitem__(self, key):
        if key in self._extra:
            return self._extra[key]
        kind = self._reverse[key.__name__]
        return self._load(kind, self._model_mapping[kind])
    def _load(self, kind, attr):
        if kind not in self._modules:
            self._modules[kind] = importlib.import_module(f"{__name__}.{kind}")
        return getattr(self._modules[kind], attr)
    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default
    def keys(self):
        return [CONFIGS[k] for k in self._config_mapping] + list(self._extra)
    def values(self):
        return [self[k] for k in self.keys()]
    def items(self):
        return [(k, self[k]) for k in self.keys()]
    def __iter__(self):
        return iter(self.keys())
    def __contains__(self, item):
        return item in self._extra or getattr(item, "__name__", None) in self._reverse
    def register(self, key, value):
        self._extra[key] = value

CONFIGS = _LazyConfigs(CONFIG_NAMES)
MODELS = _LazyAutoMapping(CONFIG_NAMES, MODEL_NAMES)

class AutoModel:
    _model_mapping = MODELS
    @classmethod
    def from_config(cls, config):
        return cls._model_mapping[type(config)](config)
    @classmethod
    def loss_of(cls, model, out):
        return LOSSES.get(type(model).loss_type)(out) * (1 if type(model.config) in cls._model_mapping else 0)

LOSSES = {f"loss{i}": (lambda out, i=i: out.square().mean() + i) for i in range(100)}

from .base import Pretrained
'''

BASE = """
import functools
import jaxaot as ja
from jaxaot import nn
from . import CONFIGS, MODELS, Config

ACTS = {"relu": nn.functional.relu, "tanh": ja.tanh, "silu": nn.functional.silu}

def checked(fn):
    @functools.wraps(fn)
    def wrapper(self, *args, **kwargs):
        if kwargs.pop("return_dict", self.config.__dict__.get("return_dict", False)):
            return {"out": fn(self, *args, **kwargs)}
        return fn(self, *args, **kwargs)
    return wrapper

class Pretrained(nn.Module):
    config_class = Config
    loss_type = "loss0"
    def __init__(self, config):
        super().__init__()
        if config.model_type not in CONFIGS:
            raise ValueError(f"{config.model_type} is none of {list(CONFIGS)}")
        self.config = config
        self.layers = nn.ModuleList([nn.Linear(config.hidden_size, config.hidden_size) for _ in range(config.depth)])
    @property
    def n_kinds(self):
        return len(MODELS)
    @checked
    def forward(self, x):
        for layer in self.layers[: self.config.depth]:
            x = ACTS[self.config.act](layer(x)) * self.config.scale / self.config.hidden_size ** 0.5
        return x * self.n_kinds / 500
"""

KIND = """
from .base import Pretrained
from . import Config
class Kind{i}Config(Config):
    model_type = "kind{i}"
class Kind{i}Model(Pretrained):
    config_class = Kind{i}Config
    loss_type = "loss{j}"
"""

SERIAL = itertools.count()


def lazy_package(folder):
    """Writes the package under a name of its own into a folder, and returns it as a module."""
    name = f"lazy_models_{next(SERIAL)}"
    root = folder / name
    root.mkdir(parents=True)
    (root / "__init__.py").write_text(textwrap.dedent(LAZY))
    (root / "base.py").write_text(BASE)
    for i in range(500):
        (root / f"kind{i}.py").write_text(KIND.format(i=i, j=i % 100))
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.mark.parametrize("place", ["own", "site-packages"])
@pytest.mark.parametrize("n_loaded", [1, 500])
def test_models_of_a_registry_of_500_configs(tmp_path, monkeypatch, place, n_loaded):
    folder = tmp_path if place == "own" else tmp_path / "lib" / "python3" / "site-packages"
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)

    def make():
        package = lazy_package(folder)
        config = package.CONFIGS["kind7"]()
        model = package.AutoModel.from_config(config)
        if n_loaded == 500:
            package.CONFIGS.items(), package.MODELS.items()
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            out = model(x)
            loss = package.AutoModel.loss_of(model, out["out"] if isinstance(out, dict) else out)
            loss.backward()
            optimizer.step()
            return loss, isinstance(out, dict)

        changes = [
            None,
            None,
            lambda: setattr(config, "act", "tanh"),
            lambda: setattr(config, "hidden_size", 16),
            lambda: setattr(config, "return_dict", True),
            lambda: setattr(config, "depth", 1),
        ]
        return Made(step, weights(model), changes)

    try:
        agree(make)
    finally:
        for name in set(sys.modules) - before:
            if name.startswith("lazy_models_"):
                del sys.modules[name]


def test_a_model_that_is_loaded_in_the_step(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def make():
        package = lazy_package(tmp_path)
        config, table = package.CONFIGS["kind3"](), {"kind": "kind3"}

        def step(x):
            model = package.AutoModel.from_config(package.CONFIGS[table["kind"]](act=config.act))
            with ja.no_grad():
                for i, p in enumerate(model.parameters()):
                    p.fill_(0.1 * i)
            return model(x), len(package.CONFIGS), type(model).loss_type

        changes = [None, None, lambda: table.update(kind="kind450"), lambda: setattr(config, "act", "tanh"), None]
        return Made(step, lambda: None, changes)

    agree(make, most=5)  # what it loads changes what later calls find


# -- configs -----------------------------------------------------------------------------------------------------------


def test_configs_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Optim(pydantic.BaseModel, frozen=True):
        lr: float = 0.1
        clip: float | None = None

    class Config(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(validate_assignment=True, extra="allow")
        depth: int = pydantic.Field(2, ge=1)
        act: str = "relu"
        scale: float = 1.0
        optim: Optim = Optim()
        names: list[str] = ["a", "b"]
        _n_reads: int = pydantic.PrivateAttr(default=0)

        @pydantic.field_validator("act")
        @classmethod
        def lowered(cls, value):
            return value.lower()

        @pydantic.model_validator(mode="after")
        def check(self):
            assert self.depth < 10
            return self

        @pydantic.computed_field
        @property
        def width(self) -> int:
            return 4 * self.depth

        def activation(self):
            self._n_reads += 1
            return getattr(F, self.act)

    def make():
        cfg, model = Config.model_validate({"depth": "2", "act": "RELU"}), mlp()
        optimizer = ja.optim.SGD(model.parameters(), lr=cfg.optim.lr)

        def step(x):
            optimizer.zero_grad()
            y = x
            for _ in range(cfg.depth):
                y = cfg.activation()(model(y)) * cfg.scale / cfg.width
            loss = y.square().mean() * getattr(cfg, "weight", 1.0) * len(cfg.names)
            loss.backward()
            if cfg.optim.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), cfg.optim.clip)
            optimizer.step()
            return loss, cfg.model_dump() if cfg.scale > 5 else None

        changes = [
            None,
            None,
            lambda: setattr(cfg, "act", "SiLU"),
            lambda: setattr(cfg, "scale", 3.0),
            lambda: setattr(cfg, "depth", 3),
            lambda: setattr(cfg, "optim", cfg.optim.model_copy(update={"clip": 0.1})),
            lambda: setattr(cfg, "weight", 2.0),
            lambda: cfg.names.append("c"),
        ]
        return Made(step, lambda: (cfg._n_reads, weights(model)()), changes)

    agree(make)


def test_configs_of_pydantic_that_are_made_in_the_step():
    pydantic = pytest.importorskip("pydantic")

    class Options(pydantic.BaseModel):
        scale: float = 1.0
        mode: str = "sum"

    def make():
        defaults, model = {"scale": 2.0}, mlp()

        def step(x):
            options = Options(**defaults)
            y = model(x) * options.scale
            return y.sum() if options.mode == "sum" else y.mean()

        changes = [None, None, lambda: defaults.update(mode="mean"), lambda: defaults.update(scale=3.0)]
        return Made(step, weights(model), changes)

    agree(make)


def test_classes_of_attrs():
    attrs = pytest.importorskip("attrs")

    @attrs.frozen
    class Optim:
        lr: float = 0.1
        momentum: float = 0.9

    @attrs.define
    class Config:
        act: str = attrs.field(default="relu", validator=attrs.validators.in_(["relu", "silu"]))
        scale: float = attrs.field(default=2.0, converter=float)
        optim: Optim = attrs.Factory(Optim)
        seen: list = attrs.field(factory=list)

        @property
        def twice(self):
            return 2 * self.scale

    def make():
        cfg, model = Config(), mlp()

        def step(x):
            loss = (getattr(F, cfg.act)(model(x)) * cfg.twice).square().mean()
            loss.backward()
            with ja.no_grad():
                for p in model.parameters():
                    p.sub_(p.grad, alpha=cfg.optim.lr)
                    p.grad = None
            cfg.seen.append(loss.detach())
            return loss, cfg.optim == Optim(), attrs.asdict(cfg.optim)

        changes = [
            None,
            None,
            lambda: setattr(cfg, "act", "silu"),
            lambda: setattr(cfg, "scale", 3),
            lambda: setattr(cfg, "optim", attrs.evolve(cfg.optim, lr=0.01)),
        ]
        return Made(step, lambda: (cfg.seen, weights(model)()), changes)

    agree(make)


# -- tools -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("disable", [False, True])
def test_a_bar_of_tqdm_that_is_updated_in_the_step(disable):
    tqdm = pytest.importorskip("tqdm").tqdm

    def make():
        bar = tqdm(total=10, file=io.StringIO(), disable=disable, mininterval=1e9)
        model = mlp()
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            bar.update(1)
            return loss

        return Made(step, lambda: (bar.n, weights(model)()), [None, None, None])

    with warnings.catch_warnings():
        agree(make, fullgraph=False, allowed="")


def test_a_loop_over_a_bar_of_tqdm():
    tqdm = pytest.importorskip("tqdm").tqdm

    def make():
        model, seen = mlp(), []

        def step(x):
            total = 0.0
            for i, row in enumerate(tqdm(x, file=io.StringIO(), desc="rows", leave=False)):
                total = total + model(row).square().mean()
                seen.append(i)
            return total

        return Made(step, lambda: seen, [None, None, None])

    agree(make, fullgraph=False, allowed="")


def test_a_disabled_bar_of_tqdm_in_the_step():
    tqdm = pytest.importorskip("tqdm").tqdm

    def make():
        model, options = mlp(), {"disable": True, "n": 2}

        def step(x):
            for _ in tqdm(range(options["n"]), disable=options["disable"]):
                x = model(x)
            return x

        return Made(step, weights(model), [None, None, lambda: options.update(n=3), None])

    agree(make, allowed="")


def test_a_logger_with_a_handler_keeps_the_results_right():
    class Kept(logging.Handler):
        def __init__(self):
            super().__init__()
            self.records = []

        def emit(self, record):
            self.records.append(record.getMessage())

    def make():
        logger, handler = logging.Manager(logging.RootLogger(logging.INFO)).getLogger("train"), Kept()
        logger.addHandler(handler)
        model, stats = mlp(), {"n": 0}

        def step(x):
            y = model(x)
            stats["n"] += 1
            logger.info("step %d", stats["n"])
            if logger.isEnabledFor(logging.DEBUG):
                y = y * 2
            return y

        changes = [None, None, lambda: logger.setLevel(logging.DEBUG), lambda: logger.setLevel(logging.INFO), None]
        return Made(step, lambda: stats, changes)

    agree(make, allowed=".*logging.*", most=4)


def test_sums_of_numpy_that_are_kept_beside():
    def make():
        model, seen = mlp(), {"shape": None, "mean": np.zeros(8, np.float32)}

        def step(x):
            seen["shape"] = tuple(x.shape)
            return model(x) + ja.from_numpy(seen["mean"]) * np.float32(2.0) + np.pi

        changes = [None, None, lambda: seen.update(mean=np.ones(8, np.float32)), lambda: seen["mean"].fill(3.0)]
        return Made(step, lambda: seen["shape"], changes)

    agree(make, most=4)
