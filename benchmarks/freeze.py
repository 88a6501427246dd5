"""What a frozen model costs at each call, beside the same model compiled, `jax.jit`, and Inductor's freezing.

    python -m benchmarks.freeze [mlp] [kernels] [halves] [resnet] [vit] [gpt] [int8] [--rounds N] [--json FILE]

The baseline is the model by `ja.compile` under `no_grad`. `mlp` keeps weights as PyTorch does, `kernels` as flax does.
Bytes of weights and of what is packed are in the name of the case. `torch.compile` takes part where PyTorch and a C++
compiler are installed; its model has the same weights, and answers the same.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import Result, arguments, find_torch, measure, report
from jaxaot._util import format_bytes

FROZEN_BY_TORCH = "torch.compile, freezing"


def _normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32) / np.float32(shape[-1] ** 0.5)


def _result(name: str, frozen: Any, contestants: dict[str, Callable[[], Any]], n_rounds: int) -> Result:
    sizes = f"{format_bytes(frozen.parameter_bytes)} of weights, {format_bytes(frozen.packed_bytes)} packed"
    return measure(f"{name}: {sizes}", contestants, "ja.compile", n_rounds=n_rounds)


def _add_torch(contestants: dict[str, Callable[[], Any]], make: Callable[[Any], tuple[Any, Any]], close: float) -> None:
    """Adds the model as Inductor freezes it, or says why it takes no part.

    Args:
      contestants: Name → function.
      make: Takes PyTorch to a module and the tuple of its arguments.
      close: By how much its results may differ from those of `ja.compile`, beside the largest one.
    """
    torch = find_torch()
    if torch is None:
        print(f"{FROZEN_BY_TORCH} is left out: PyTorch is not installed.", file=sys.stderr)
        return
    importlib.import_module("torch._inductor.config").freezing = True
    module, given = make(torch)
    compiled = torch.compile(module.eval())

    def run() -> Any:
        with torch.no_grad():
            return compiled(*given)

    try:
        found = run()
    except Exception as error:  # no compiler for C++, or a Python that it does not know
        print(f"{FROZEN_BY_TORCH} is left out: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return
    expected = np.asarray(jnp.asarray(_array(contestants["ja.compile"]()), "float32"))
    difference = np.abs(found.float().numpy() - expected).max()
    assert difference <= close * np.abs(expected).max(), f"PyTorch's model computes something else: {difference}"
    contestants[FROZEN_BY_TORCH] = run


def _array(value: Any) -> Any:
    return value.detach().jax() if isinstance(value, ja.Tensor) else value


def _case(name: str, make: Callable[[Any], Any], *args: np.ndarray, n: int) -> Result:
    """Returns the times of a module that `make(library)` makes for jaxaot and for PyTorch, with weights in common."""
    model = make(ja).eval()
    given = tuple(map(ja.tensor, args))
    state = {key: value.detach().numpy().copy() for key, value in model.state_dict().items()}
    frozen: Any = ja.compiler.freeze(model, *given)
    compiled: Any = ja.compile(model)

    def unfrozen() -> Any:
        with ja.no_grad():
            return compiled(*given)

    def of_torch(torch: Any) -> tuple[Any, Any]:
        theirs = make(torch)
        theirs.load_state_dict({key: torch.from_numpy(value) for key, value in state.items()})
        return theirs, tuple(map(torch.tensor, args))

    contestants: dict[str, Callable[[], Any]] = {"ja.compile": unfrozen, "ja.compiler.freeze": lambda: frozen(*given)}
    _add_torch(contestants, of_torch, close=1e-3)
    return _result(name, frozen, contestants, n)


def mlp(n: int, dtype: str = "float32", is_turned: bool = True, batch: int = 8, name: str = "MLP, x @ w.T") -> Result:
    drawn, first = [_normal(2048, 2048) for _ in range(6)], _normal(batch, 2048)

    def run(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ (w.T if is_turned else w))
        return x

    def of_torch(torch: Any) -> tuple[Any, Any]:
        class Layers(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                made = [torch.tensor(w).to(getattr(torch, dtype)) for w in drawn]
                self.weights = torch.nn.ParameterList([torch.nn.Parameter(w, requires_grad=False) for w in made])

            def forward(self, x: Any) -> Any:
                for w in self.weights:
                    x = (x @ (w.T if is_turned else w)).tanh()
                return x

        return Layers(), (torch.tensor(first).to(getattr(torch, dtype)),)

    weights, x = [jnp.asarray(w, dtype) for w in drawn], jnp.asarray(first, dtype)
    frozen, compiled, jitted = ja.compiler.freeze(run, weights, x, argnums=0), ja.compile(run), jax.jit(run)
    contestants: dict[str, Callable[[], Any]] = {
        "ja.compile": lambda: compiled(weights, x),
        "ja.compiler.freeze": lambda: frozen(weights, x),
        "jax.jit": lambda: jitted(weights, x),
    }
    _add_torch(contestants, of_torch, close=1e-3 if dtype == "float32" else 0.1)
    return _result(f"{name}, batch {batch}", frozen, contestants, n)


def kernels(n: int) -> Result:
    return mlp(n, is_turned=False, name="MLP, x @ w")


def halves(n: int) -> Result:
    return mlp(n, dtype="bfloat16", is_turned=False, batch=1, name="MLP in bfloat16")


def resnet(n: int) -> Result:
    def make(lib: Any) -> Any:
        nn = lib.nn

        class Residual(nn.Module):
            def __init__(self, width: int):
                super().__init__()
                convs = [nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2)]
                self.convs, self.norms = nn.ModuleList(convs), nn.ModuleList([nn.BatchNorm2d(width) for _ in range(2)])

            def forward(self, x: Any) -> Any:
                y = self.norms[0](self.convs[0](x)).relu()
                return (x + self.norms[1](self.convs[1](y))).relu()

        return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *(Residual(32) for _ in range(4)))

    return _case("ResNet with BatchNorm, 16 images", make, _normal(16, 3, 32, 32), n=n)


def vit(n: int) -> Result:
    def make(lib: Any) -> Any:
        return lib.nn.TransformerEncoder(lib.nn.TransformerEncoderLayer(192, 3, 768, batch_first=True), 4)

    return _case("ViT, 4 layers, 8 images", make, _normal(8, 65, 192), n=n)


def _decoder(lib: Any, n_layers: int = 4, width: int = 512, length: int = 128) -> Any:
    """Returns a GPT that decodes a token, with the keys and values of those before it in buffers."""
    nn = lib.nn

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            linear = lambda n, m: nn.Linear(n, m, bias=False)
            self.embed, self.length = nn.Embedding(8192, width), length
            self.blocks = nn.ModuleList([
                nn.ModuleDict({
                    "q": linear(width, width), "k": linear(width, width), "v": linear(width, width),
                    "out": linear(width, width), "up": linear(width, 4 * width), "down": linear(4 * width, width),
                })
                for _ in range(n_layers)
            ])  # fmt: skip
            for i in range(n_layers):
                self.register_buffer(f"keys{i}", lib.zeros(length, 8, width // 8))
                self.register_buffer(f"values{i}", lib.zeros(length, 8, width // 8))

        def forward(self, token: Any, position: Any) -> Any:
            x = self.embed(token)
            for i, block in enumerate(self.blocks):
                q, k, v = (block[name](x).reshape(8, -1) for name in "qkv")
                keys, values = getattr(self, f"keys{i}"), getattr(self, f"values{i}")
                keys.index_copy_(0, position, k.unsqueeze(0))  # an index of PyTorch's would be read by Python
                values.index_copy_(0, position, v.unsqueeze(0))
                weights = lib.einsum("hd,thd->ht", q, keys).softmax(-1)
                x = x + block["out"](lib.einsum("ht,thd->hd", weights, values).reshape(-1))
                x = x + block["down"](nn.functional.gelu(block["up"](x)))
            return x @ self.embed.weight.T

    return Decoder()


def gpt(n: int) -> Result:
    return _case("GPT, one token", _decoder, np.asarray(3), np.asarray([5]), n=n)


def int8(n: int) -> Result:
    def make(lib: Any) -> Any:
        class Quantized(lib.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                for i in range(4):
                    whole = (lib.randn(1024, 1024) * 40).round().clamp(-127, 127)
                    self.register_buffer(f"w{i}", whole.to(lib.int8))
                    self.register_buffer(f"s{i}", lib.rand(1024, 1) / 1300)

            def forward(self, x: Any) -> Any:
                for i in range(4):
                    x = (x @ (getattr(self, f"w{i}").to(lib.float32) * getattr(self, f"s{i}")).T).tanh()
                return x

        return Quantized()

    return _case("int8 weights, batch 8", make, _normal(8, 1024), n=n)


CASES = {fn.__name__: fn for fn in (mlp, kernels, halves, resnet, vit, gpt, int8)}


def main() -> None:
    """Prints the table."""
    parser = arguments(__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    report("Frozen models", [CASES[name](options.rounds) for name in options.cases], options)


if __name__ == "__main__":
    main()
