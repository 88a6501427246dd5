"""Models of other libraries, as their users write them, small enough for a CPU.

Each is a function in `CLIENTS` that imports its library only when it is called. A client is a step of a state and some
data. Where the step trains, it has its loss as well: gradients of it and an update by optax's Adam are the step.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.models import Model


@dataclasses.dataclass(frozen=True)
class Client:
    """What is run.

    Attributes:
      step: Takes `args` to the next state and what is reported.
      args: The state and the data.
      model: The loss, where the step trains.
    """

    step: Callable[..., Any]
    args: tuple[Any, ...]
    model: Model | None = None


M = TypeVar("M", bound=Callable[[], Client])
CLIENTS: dict[str, Callable[[], Client]] = {}
"""By name, what makes a client; the first word of a name is the library."""


def _named(name: str) -> Callable[[M], M]:
    def add(make: M) -> M:
        CLIENTS[name] = make
        return make

    return add


def _trained(loss: Callable[..., Any], parameters: Any, *data: Any, optimizer: Any = None) -> Client:
    """Returns the step of optax's Adam, or of another optimizer, on a loss of parameters and data."""
    import optax

    optimizer = optimizer or optax.adam(1e-3)

    def step(parameters: Any, moments: Any, *data: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        updates, moments = optimizer.update(gradients, moments, parameters)
        return optax.apply_updates(parameters, updates), moments, value

    return Client(step, (parameters, optimizer.init(parameters), *data), Model("", loss, parameters, data))


def _normal(*shape: int, seed: int = 0) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape)


def _classes(*shape: int, n: int, seed: int = 1) -> jax.Array:
    return jax.random.randint(jax.random.key(seed), shape, 0, n)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    import optax

    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


# -- haiku


def _of_haiku(fn: Callable[..., Any], *data: Any, optimizer: Any = None) -> Client:
    """Returns the step of a haiku function of data that returns a loss, its state left as it is."""
    import haiku as hk

    transformed = hk.transform_with_state(fn)
    parameters, state = transformed.init(jax.random.PRNGKey(0), *data)

    def loss(parameters: Any, state: Any, key: Any, *data: Any) -> Any:
        return transformed.apply(parameters, state, key, *data)[0]

    return _trained(loss, parameters, state, jax.random.PRNGKey(1), *data, optimizer=optimizer)


@_named("haiku MLP")
def haiku_mlp() -> Client:
    import haiku as hk

    def fn(images: Any, labels: Any) -> Any:
        return _cross_entropy(hk.nets.MLP([300, 100, 10])(images), labels)

    return _of_haiku(fn, _normal(256, 784), _classes(256, n=10))


@_named("haiku wide MLP, batch 8")
def haiku_wide_mlp() -> Client:
    import haiku as hk
    import optax

    def fn(x: Any, y: Any) -> Any:
        return jnp.mean((hk.nets.MLP([2048] * 6)(x) - y) ** 2)

    return _of_haiku(fn, _normal(8, 2048), _normal(8, 2048, seed=1), optimizer=optax.sgd(1e-3))


@_named("haiku ResNet18")
def haiku_resnet() -> Client:
    import haiku as hk

    def fn(images: Any, labels: Any) -> Any:
        return _cross_entropy(hk.nets.ResNet18(10, resnet_v2=True)(images, is_training=True), labels)

    return _of_haiku(fn, _normal(8, 32, 32, 3), _classes(8, n=10))


@_named("haiku transformer")
def haiku_transformer() -> Client:
    import haiku as hk

    def fn(tokens: Any, targets: Any) -> Any:
        length, width = tokens.shape[1], 128
        x = hk.Embed(256, width)(tokens) + hk.get_parameter("positions", [length, width], init=jnp.zeros)
        mask = np.tril(np.ones((1, 1, length, length)))
        initial = hk.initializers.VarianceScaling(0.5)
        for _ in range(4):
            normal = hk.LayerNorm(-1, True, True)(x)
            attend = hk.MultiHeadAttention(4, width // 4, model_size=width, w_init=initial)
            x = x + hk.dropout(hk.next_rng_key(), 0.1, attend(normal, normal, normal, mask=mask))
            normal = hk.LayerNorm(-1, True, True)(x)
            x = x + hk.Sequential([hk.Linear(4 * width), jax.nn.gelu, hk.Linear(width)])(normal)
        return _cross_entropy(hk.Linear(256)(hk.LayerNorm(-1, True, True)(x)), targets)

    return _of_haiku(fn, _classes(8, 128, n=256), _classes(8, 128, n=256, seed=2))


@_named("haiku LSTM")
def haiku_lstm() -> Client:
    import haiku as hk

    def fn(tokens: Any, targets: Any) -> Any:
        core = hk.LSTM(128)
        outputs, _ = hk.dynamic_unroll(core, jax.nn.one_hot(tokens, 64), core.initial_state(tokens.shape[1]))
        return _cross_entropy(hk.BatchApply(hk.Linear(64))(outputs), targets)

    return _of_haiku(fn, _classes(64, 32, n=64), _classes(64, 32, n=64, seed=2))


@_named("haiku VAE")
def haiku_vae() -> Client:
    import haiku as hk

    def fn(images: Any) -> Any:
        hidden = jax.nn.relu(hk.Linear(512)(images))
        mean, log_deviation = hk.Linear(10)(hidden), hk.Linear(10)(hidden)
        z = mean + jnp.exp(log_deviation) * jax.random.normal(hk.next_rng_key(), mean.shape)
        logits = hk.Sequential([hk.Linear(512), jax.nn.relu, hk.Linear(784)])(z)
        kl = 0.5 * jnp.sum(jnp.exp(2 * log_deviation) + mean**2 - 1 - 2 * log_deviation, -1)
        likelihood = -jnp.sum(jnp.logaddexp(0.0, jnp.where(images > 0, -1, 1) * logits), -1)
        return jnp.mean(kl - likelihood)

    return _of_haiku(fn, _normal(128, 784))


# -- penzai


@_named("penzai transformer")
def penzai_transformer() -> Client:
    from penzai import pz
    from penzai.models.transformer.variants import llamalike_common as llama

    config = llama.LlamalikeTransformerConfig(
        num_kv_heads=2,
        query_head_multiplier=2,
        embedding_dim=128,
        projection_dim=32,
        mlp_hidden_dim=344,
        num_decoder_blocks=4,
        vocab_size=256,
        mlp_variant="swiglu",
        tie_embedder_and_logits=False,
    )
    built = llama.build_llamalike_transformer(config, init_base_rng=jax.random.key(0))
    model, parameters = pz.unbind_params(built, freeze=True)

    def loss(parameters: Any, tokens: Any, targets: Any) -> Any:
        named = pz.nx.wrap(tokens).tag("batch", "seq")
        positions = pz.nx.wrap(jnp.arange(tokens.shape[1])).tag("seq")
        logits = pz.bind_variables(model, parameters)(named, token_positions=positions)
        return _cross_entropy(logits.unwrap("batch", "seq", "vocabulary"), targets)

    return _trained(loss, parameters, _classes(8, 128, n=256), _classes(8, 128, n=256, seed=2))


# -- equinox


def _of_equinox(model: Any, run: Callable[..., Any], *data: Any) -> Client:
    """Returns the step of an equinox module, of a function that takes it and data to a loss."""
    import equinox as eqx

    parameters, static = eqx.partition(model, eqx.is_inexact_array)
    return _trained(lambda parameters, *data: run(eqx.combine(parameters, static), *data), parameters, *data)


@_named("equinox CNN")
def equinox_cnn() -> Client:
    import equinox as eqx

    keys = jax.random.split(jax.random.key(0), 4)
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(1, 3, kernel_size=4, key=keys[0]),
            eqx.nn.MaxPool2d(kernel_size=2),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(1728, 512, key=keys[1]),
            eqx.nn.Lambda(jax.nn.sigmoid),
            eqx.nn.Linear(512, 64, key=keys[2]),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Linear(64, 10, key=keys[3]),
        ]
    )

    def run(model: Any, images: Any, labels: Any) -> Any:
        return _cross_entropy(jax.vmap(model)(images), labels)

    return _of_equinox(model, run, _normal(64, 1, 28, 28), _classes(64, n=10))


@_named("equinox ViT")
def equinox_vit(wrap: Callable[..., Any] = lambda block: block) -> Client:
    import equinox as eqx

    class Block(eqx.Module):
        norm1: Any
        attention: Any
        norm2: Any
        up: Any
        down: Any

        def __init__(self, width: int, key: Any):
            keys = jax.random.split(key, 3)
            self.norm1, self.norm2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
            self.attention = eqx.nn.MultiheadAttention(4, width, key=keys[0])
            self.up = eqx.nn.Linear(width, 4 * width, key=keys[1])
            self.down = eqx.nn.Linear(4 * width, width, key=keys[2])

        def __call__(self, x: Any) -> Any:
            normal = jax.vmap(self.norm1)(x)
            x = x + self.attention(normal, normal, normal)
            return x + jax.vmap(lambda row: self.down(jax.nn.gelu(self.up(self.norm2(row)))))(x)

    class ViT(eqx.Module):
        embed: Any
        positions: Any
        blocks: Any
        norm: Any
        head: Any

        def __init__(self, width: int, depth: int, key: Any):
            keys = jax.random.split(key, depth + 2)
            self.embed = eqx.nn.Linear(48, width, key=keys[0])
            self.positions = jnp.zeros((64, width))
            self.blocks = [Block(width, one) for one in keys[2:]]
            self.norm, self.head = eqx.nn.LayerNorm(width), eqx.nn.Linear(width, 10, key=keys[1])

        def __call__(self, image: Any) -> Any:
            patches = image.reshape(8, 4, 8, 4, 3).transpose(0, 2, 1, 3, 4).reshape(64, 48)
            x = jax.vmap(self.embed)(patches) + self.positions
            for block in self.blocks:
                x = wrap(block)(x)
            return self.head(self.norm(x.mean(0)))

    def run(model: Any, images: Any, labels: Any) -> Any:
        return _cross_entropy(jax.vmap(model)(images), labels)

    return _of_equinox(ViT(128, 4, jax.random.key(0)), run, _normal(16, 32, 32, 3), _classes(16, n=10))


@_named("equinox RNN")
def equinox_rnn() -> Client:
    import equinox as eqx

    class RNN(eqx.Module):
        cell: Any
        linear: Any

        def __call__(self, xs: Any) -> Any:
            hidden, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(self.cell.hidden_size), xs)
            return jax.nn.sigmoid(self.linear(hidden))[0]

    keys = jax.random.split(jax.random.key(0))
    model = RNN(eqx.nn.GRUCell(2, 64, key=keys[0]), eqx.nn.Linear(64, 1, key=keys[1]))

    def run(model: Any, xs: Any, ys: Any) -> Any:
        predicted = jax.vmap(model)(xs)
        return -jnp.mean(ys * jnp.log(predicted) + (1 - ys) * jnp.log(1 - predicted))

    return _of_equinox(model, run, _normal(64, 32, 2), _classes(64, n=2).astype(jnp.float32))


# -- flaxmodels: no part of the extra `clients`, as some of its models have licences of their own


@_named("flaxmodels ResNet18")
def flaxmodels_resnet() -> Client:
    import flaxmodels

    model = flaxmodels.ResNet18(output="logits", pretrained=None, normalize=False, num_classes=10)
    images, labels = _normal(8, 32, 32, 3), _classes(8, n=10)
    variables = model.init(jax.random.PRNGKey(0), images, train=False)

    def loss(parameters: Any, statistics: Any, images: Any, labels: Any) -> Any:
        both = {"params": parameters, "batch_stats": statistics}
        return _cross_entropy(model.apply(both, images, train=True, mutable=["batch_stats"])[0], labels)

    return _trained(loss, variables["params"], variables["batch_stats"], images, labels)


@_named("flaxmodels GPT2")
def flaxmodels_gpt2() -> Client:
    from flaxmodels.gpt2.gpt2 import GPT2Block

    config = types.SimpleNamespace(
        n_positions=128,
        n_embd=128,
        n_head=4,
        attn_pdrop=0.1,
        resid_pdrop=0.1,
        scale_attn_weights=True,
        activation_function="gelu_new",
        layer_norm_epsilon=1e-5,
        n_inner=None,
    )
    blocks = [GPT2Block(config=config) for _ in range(4)]
    x = _normal(8, 128, 128)
    parameters = [block.init(jax.random.PRNGKey(i), x) for i, block in enumerate(blocks)]

    def loss(parameters: Any, x: Any, targets: Any) -> Any:
        for block, own in zip(blocks, parameters, strict=True):
            x = block.apply(own, x)[0]
        return jnp.mean((x - targets) ** 2)

    return _trained(loss, parameters, x, _normal(8, 128, 128, seed=1))


# -- diffrax


@_named("diffrax neural ODE")
def diffrax_ode() -> Client:
    import diffrax
    import equinox as eqx

    field = eqx.nn.MLP(2, 2, 64, 2, activation=jax.nn.softplus, key=jax.random.key(0))
    times = jnp.linspace(0.0, 1.0, 20)

    def run(field: Any, starts: Any, targets: Any) -> Any:
        term = diffrax.ODETerm(lambda t, y, args: field(y))

        def solve(start: Any) -> Any:
            return diffrax.diffeqsolve(
                term, diffrax.Tsit5(), 0.0, 1.0, 0.05, start, saveat=diffrax.SaveAt(ts=times), max_steps=32
            ).ys

        return jnp.mean((jax.vmap(solve)(starts) - targets) ** 2)

    return _of_equinox(field, run, _normal(32, 2), _normal(32, 20, 2, seed=1))


# -- numpyro


@_named("numpyro Bayesian network, SVI")
def numpyro_svi() -> Client:
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    def model(x: Any, y: Any) -> Any:
        w1 = numpyro.sample("w1", dist.Normal(jnp.zeros((16, 64)), 1.0).to_event(2))
        w2 = numpyro.sample("w2", dist.Normal(jnp.zeros((64, 64)), 1.0).to_event(2))
        w3 = numpyro.sample("w3", dist.Normal(jnp.zeros((64, 1)), 1.0).to_event(2))
        scale = numpyro.sample("scale", dist.LogNormal(0.0, 1.0))
        mean = jnp.tanh(jnp.tanh(x @ w1) @ w2) @ w3
        with numpyro.plate("data", x.shape[0]):
            numpyro.sample("y", dist.Normal(mean[:, 0], scale), obs=y)

    data = _normal(1024, 16), _normal(1024, seed=1)
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(1e-3), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(0), *data)
    return Client(lambda state, *data: svi.update(state, *data), (state, *data))


@_named("numpyro logistic regression, NUTS")
def numpyro_nuts() -> Client:
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import NUTS

    def model(x: Any, y: Any) -> Any:
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(8), 1.0).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)

    data = _normal(4096, 8), _classes(4096, n=2)
    kernel = NUTS(model)
    state = kernel.init(jax.random.PRNGKey(0), 10, None, data, {})
    return Client(lambda state, *data: kernel.sample(state, data, {}), (state, *data))


# -- netket


@_named("netket RBM")
def netket_rbm() -> Client:
    import netket as nk

    model = nk.models.RBM(alpha=4, param_dtype=np.float32)
    samples = (2 * _classes(256, 64, n=2) - 1).astype(jnp.float32)
    variables = model.init(jax.random.PRNGKey(0), samples[:1])

    def loss(parameters: Any, samples: Any) -> Any:
        def local(sample: Any) -> Any:
            """The local energy of a chain in a transverse field."""
            flipped = sample * (1 - 2 * jnp.eye(sample.shape[0]))
            ratios = jnp.exp(model.apply(parameters, flipped) - model.apply(parameters, sample[None]))
            return -jnp.sum(sample * jnp.roll(sample, 1)) - jnp.sum(ratios)

        energies = jax.lax.stop_gradient(jax.vmap(local)(samples))
        return 2 * jnp.mean((energies - energies.mean()) * model.apply(parameters, samples))

    return _trained(loss, variables, samples)


@_named("netket group-convolutional network")
def netket_gcnn() -> Client:
    import netket as nk

    graph = nk.graph.Square(6)
    model = nk.models.GCNN(symmetries=graph.translation_group(), layers=3, features=8, param_dtype=np.float32)
    samples = (2 * _classes(64, 36, n=2) - 1).astype(jnp.float32)
    variables = model.init(jax.random.PRNGKey(0), samples[:1])

    def loss(parameters: Any, samples: Any, energies: Any) -> Any:
        return 2 * jnp.mean((energies - energies.mean()) * jnp.real(model.apply(parameters, samples)))

    return _trained(loss, variables, samples, _normal(64))


# -- brax


@_named("brax ant, one step of 64")
def brax_ant() -> Client:
    from brax import envs

    env = envs.create("ant", backend="spring", episode_length=100, auto_reset=False)
    states = jax.vmap(env.reset)(jax.random.split(jax.random.PRNGKey(0), 64))
    return Client(jax.vmap(env.step), (states, jnp.zeros((64, env.action_size))))


@_named("brax PPO loss")
def brax_ppo() -> Client:
    from brax.training import types as brax_types
    from brax.training.agents.ppo import losses, networks

    made = networks.make_ppo_networks(27, 8, policy_hidden_layer_sizes=(128,) * 4, value_hidden_layer_sizes=(256,) * 5)
    keys = jax.random.split(jax.random.PRNGKey(0))
    parameters = losses.PPONetworkParams(made.policy_network.init(keys[0]), made.value_network.init(keys[1]))
    shape = (128, 20)
    data = brax_types.Transition(
        observation=_normal(*shape, 27),
        action=_normal(*shape, 8, seed=1),
        reward=_normal(*shape, seed=2),
        discount=jnp.ones(shape),
        next_observation=_normal(*shape, 27, seed=3),
        extras={
            "policy_extras": {
                "raw_action": _normal(*shape, 8, seed=4),
                "log_prob": _normal(*shape, seed=5),
                "distribution_params": _normal(*shape, 16, seed=6),
            },
            "state_extras": {"truncation": jnp.zeros(shape)},
        },
    )

    def loss(parameters: Any, data: Any, key: Any) -> Any:
        return losses.compute_ppo_loss(parameters, None, data, key, made)[0]

    return _trained(loss, parameters, data, jax.random.PRNGKey(1))


# -- flax, and qwix on it


def _linen_transformer() -> Any:
    from flax import linen

    class Transformer(linen.Module):
        @linen.compact
        def __call__(self, tokens: Any) -> Any:
            x = linen.Embed(256, 128)(tokens) + self.param("positions", linen.initializers.zeros, (128, 128))
            mask = linen.make_causal_mask(tokens)
            for _ in range(4):
                x = x + linen.SelfAttention(4)(linen.LayerNorm()(x), mask)
                x = x + linen.Dense(128)(linen.gelu(linen.Dense(512)(linen.LayerNorm()(x))))
            return linen.Dense(256)(linen.LayerNorm()(x))

    return Transformer()


def _of_tokens(model: Any) -> Client:
    data = _classes(8, 128, n=256), _classes(8, 128, n=256, seed=2)
    variables = model.init(jax.random.PRNGKey(0), data[0])

    def loss(variables: Any, tokens: Any, targets: Any) -> Any:
        return _cross_entropy(model.apply(variables, tokens), targets)

    return _trained(loss, variables, *data)


@_named("linen transformer")
def linen_transformer() -> Client:
    return _of_tokens(_linen_transformer())


@_named("qwix int8 training of a linen transformer")
def qwix_transformer() -> Client:
    import qwix

    rule = qwix.QtRule(module_path=".*", weight_qtype="int8", act_qtype="int8")
    return _of_tokens(qwix.quantize_model(_linen_transformer(), qwix.QtProvider([rule])))


@_named("linen CNN")
def linen_cnn() -> Client:
    from flax import linen

    class CNN(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = linen.avg_pool(linen.relu(linen.Conv(32, (3, 3))(x)), (2, 2), (2, 2))
            x = linen.avg_pool(linen.relu(linen.Conv(64, (3, 3))(x)), (2, 2), (2, 2))
            return linen.Dense(10)(linen.relu(linen.Dense(256)(x.reshape(x.shape[0], -1))))

    model, images, labels = CNN(), _normal(64, 28, 28, 1), _classes(64, n=10)
    variables = model.init(jax.random.PRNGKey(0), images)

    def loss(variables: Any, images: Any, labels: Any) -> Any:
        return _cross_entropy(model.apply(variables, images), labels)

    return _trained(loss, variables, images, labels)


@_named("linen LSTM, encoder and decoder")
def linen_lstm() -> Client:
    from flax import linen

    class Translate(linen.Module):
        @linen.compact
        def __call__(self, source: Any, target: Any) -> Any:
            carry, _ = linen.RNN(linen.LSTMCell(128), return_carry=True)(jax.nn.one_hot(source, 32))
            outputs = linen.RNN(linen.LSTMCell(128))(jax.nn.one_hot(target, 32), initial_carry=carry)
            return linen.Dense(32)(outputs)

    model, source, target = Translate(), _classes(64, 24, n=32), _classes(64, 24, n=32, seed=2)
    variables = model.init(jax.random.PRNGKey(0), source, target)

    def loss(variables: Any, source: Any, target: Any) -> Any:
        return _cross_entropy(model.apply(variables, source, target)[:, :-1], target[:, 1:])

    return _trained(loss, variables, source, target)


def _of_nnx(model: Any, run: Callable[..., Any], *data: Any) -> Client:
    """Returns the step of an nnx module, of a function that takes it and data to a loss."""
    from flax import nnx

    graph, parameters, rest = nnx.split(model, nnx.Param, ...)
    merged = lambda parameters, rest, *data: run(nnx.merge(graph, parameters, rest, copy=True), *data)
    return _trained(merged, parameters, rest, *data)


@_named("nnx transformer")
def nnx_transformer() -> Client:
    from flax import nnx

    rngs = nnx.Rngs(0)

    class Block(nnx.Module):
        def __init__(self) -> None:
            self.norm1, self.norm2 = nnx.LayerNorm(128, rngs=rngs), nnx.LayerNorm(128, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(4, 128, decode=False, rngs=rngs)
            self.up, self.down = nnx.Linear(128, 512, rngs=rngs), nnx.Linear(512, 128, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)

        def __call__(self, x: Any, mask: Any) -> Any:
            x = x + self.dropout(self.attention(self.norm1(x), mask=mask))
            return x + self.dropout(self.down(nnx.gelu(self.up(self.norm2(x)))))

    class Transformer(nnx.Module):
        def __init__(self) -> None:
            self.embed = nnx.Embed(256, 128, rngs=rngs)
            self.blocks = nnx.List([Block() for _ in range(4)])
            self.norm = nnx.LayerNorm(128, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            x, mask = self.embed(tokens), nnx.make_causal_mask(tokens)
            for block in self.blocks:
                x = block(x, mask)
            return self.embed.attend(self.norm(x))

    def run(model: Any, tokens: Any, targets: Any) -> Any:
        return _cross_entropy(model(tokens), targets)

    return _of_nnx(Transformer(), run, _classes(8, 128, n=256), _classes(8, 128, n=256, seed=2))


@_named("nnx autoencoder")
def nnx_autoencoder() -> Client:
    from flax import nnx

    rngs = nnx.Rngs(0)
    model = nnx.Sequential(
        nnx.Conv(3, 32, (3, 3), strides=2, rngs=rngs),
        nnx.BatchNorm(32, rngs=rngs),
        nnx.relu,
        nnx.Conv(32, 64, (3, 3), strides=2, rngs=rngs),
        nnx.relu,
        nnx.ConvTranspose(64, 32, (3, 3), strides=2, rngs=rngs),
        nnx.relu,
        nnx.ConvTranspose(32, 3, (3, 3), strides=2, rngs=rngs),
    )

    def run(model: Any, images: Any) -> Any:
        return jnp.mean((model(images) - images) ** 2)

    return _of_nnx(model, run, _normal(16, 32, 32, 3))
