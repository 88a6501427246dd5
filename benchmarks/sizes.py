"""What sizes that change cost: a program for each, padding and masks by hand, and one program for many.

    python -m benchmarks.sizes [gpt] [batch] [decode] [lstm] [tensors] [full] [first] [seen] [--steps N] [--longest N]

Each line is a way to run the same calls: programs, seconds of CPU time and of the clock for all calls, and the median
time of a call whose size was seen before. `full` compares calls of the largest size, where nothing is padded: what the
masks cost. `first` is what a new size costs in a known bucket, beside a cold compilation. `seen` is what a call costs
whose size was seen before, beside the plain call of an array that is padded by hand. Everything is compiled anew, so
unset `JAX_COMPILATION_CACHE_DIR`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxaot as ja
from jaxaot.buckets.policy import read_buckets
from jaxaot.lower.padding import padded

RNG = np.random.default_rng(0)
bucket_of = read_buckets("pow2").of


def weights(*shape: int) -> Any:
    return jnp.asarray(RNG.normal(size=shape).astype(np.float32) * 0.05)


def untyped(fn: Any) -> Any:
    return fn


class GPT:
    """Layers of attention and an MLP, trained by AdamW."""

    def __init__(self, n_layers: int, width: int, longest: int):
        self.heads, self.words, d = 4, 128, width
        shapes = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
        layers = [{name: weights(*shape) for name, shape in shapes.items()} for _ in range(n_layers)]
        self.params: Any = {"words": weights(self.words, d), "places": weights(longest, d), "layers": layers}

    def loss(self, params: Any, ids: Any, is_there: Any = None) -> Any:
        """Returns the loss; `is_there` says which ids are no padding, where it is masked by hand."""
        b, t = ids.shape
        norm = lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        heads = lambda y: y.reshape(b, t, self.heads, -1).transpose(0, 2, 1, 3)
        x = params["words"][ids] + params["places"][:t]
        for layer in params["layers"]:
            q, k, v = map(heads, jnp.split(norm(x) @ layer["qkv"], 3, -1))
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
            scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
            y = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(b, t, -1)
            x = x + y @ layer["out"]
            x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        chances = jax.nn.log_softmax(norm(x) @ params["words"].T)[:, :-1]
        picked = jnp.take_along_axis(chances, ids[:, 1:, None], 2)[..., 0]
        if is_there is None:
            return -picked.mean()
        counted = is_there[:, 1:]
        return -jnp.where(counted, picked, 0.0).sum() / counted.sum()

    def step(self, params: Any, state: Any, ids: Any, is_there: Any = None) -> Any:
        loss, grads = jax.value_and_grad(self.loss)(params, ids, is_there)
        m, v = state
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grads)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / (jnp.sqrt(v) + 1e-6) + 0.01 * p), params, m, v)
        return loss, params, (m, v)

    def start(self) -> Any:
        zeros = lambda: jax.tree.map(jnp.zeros_like, self.params)
        return self.params, (zeros(), zeros())


def run(what: str, calls: Sequence[tuple[Any, Callable[[], Any]]], n_programs: Callable[[], int]) -> None:
    """Makes calls, each with its size, and prints what they took."""
    seen, again = set(), []
    cpu, clock = time.process_time(), time.perf_counter()
    for size, call in calls:
        start = time.perf_counter()
        jax.block_until_ready(call())
        if size in seen:
            again.append(time.perf_counter() - start)
        seen.add(size)
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    median = f"{statistics.median(again) * 1e3:9.2f} ms" if again else "        -"
    print(f"  {what:34}{n_programs():4} programs {cpu:9.1f} s CPU {clock:9.1f} s {median}", flush=True)


def compare(title: str, fn: Callable[..., Any], dynamic: Any, arguments: Sequence[tuple[Any, tuple[Any, ...]]]) -> None:
    """Prints what the calls of a function take, exactly and by buckets."""
    print(f"{title}: {len(arguments)} calls, {len({size for size, _ in arguments})} sizes")
    exact = untyped(jax.jit(lambda *args: fn(*args)))
    run("jax.jit, a program for each", [(s, lambda a=a: exact(*a)) for s, a in arguments], exact._cache_size)
    step = untyped(ja.jit(fn, dynamic=dynamic))
    run("ja.jit(dynamic=...)", [(s, lambda a=a: step(*a)) for s, a in arguments], lambda: step.n_programs)


def gpt(steps: int, longest: int) -> None:
    """Training steps of sequences of random lengths."""
    model = GPT(4, 128, longest)
    lengths = [int(n) for n in RNG.integers(3, longest + 1, steps)]
    arguments = [(t, (*model.start(), jnp.asarray(RNG.integers(0, model.words, (4, t))))) for t in lengths]
    compare("gpt", model.step, {"ids": 1}, arguments)
    by_hand = untyped(jax.jit(untyped(model.step)))

    def padded(*given: Any) -> Any:
        params, state, ids = given
        n = ids.shape[1]
        bucket = min(bucket_of(n) or n, longest)
        is_there = np.zeros((4, bucket), bool)
        is_there[:, :n] = True
        return by_hand(params, state, np.pad(np.asarray(ids), ((0, 0), (0, bucket - n))), is_there)

    run("jax.jit, padded and masked by hand", [(t, lambda a=a: padded(*a)) for t, a in arguments], by_hand._cache_size)


def batch(steps: int, longest: int) -> None:
    """Steps of a convolutional network with BatchNorm whose batches differ."""
    params = {"conv": weights(16, 3, 3, 3), "out": weights(16, 10)}

    def step(params: Any, images: Any, labels: Any) -> Any:
        def loss(params: Any) -> Any:
            x = lax.conv_general_dilated(images, params["conv"], (1, 1), "SAME")
            mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
            x = jax.nn.relu((x - mean) / jnp.sqrt(var + 1e-5)).mean((2, 3))
            return -jnp.take_along_axis(jax.nn.log_softmax(x @ params["out"]), labels[:, None], 1).mean()

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    arguments = []
    for _ in range(steps):
        n = random.Random(len(arguments)).randint(3, 32)
        images = jnp.asarray(RNG.normal(size=(n, 3, 16, 16)).astype(np.float32))
        arguments.append((n, (params, images, jnp.asarray(RNG.integers(0, 10, n)))))
    compare("batch", step, {"images": 0, "labels": 0}, arguments)


def decode(steps: int, longest: int) -> None:
    """Attention to a cache that grows by a row at each call."""
    w = weights(64, 64)

    def step(cache: Any, x: Any) -> Any:
        cache = jnp.concatenate([cache, x[None] @ w])
        return jax.nn.softmax(cache @ x) @ cache

    arguments = [(n, (weights(n, 64), weights(64))) for n in range(3, min(steps, longest) + 3)]
    compare("decode", step, {"cache": 0}, arguments)


def lstm(steps: int, longest: int) -> None:
    """Training steps of an LSTM over sequences of random lengths."""
    params = {"in": weights(32, 256), "rec": weights(64, 256)}

    def step(params: Any, xs: Any) -> Any:
        def loss(params: Any) -> Any:
            def cell(state: Any, x: Any) -> Any:
                h, c = state
                i, f, o, g = jnp.split(x @ params["in"] + h @ params["rec"], 4, -1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h

            start = jnp.zeros((xs.shape[1], 64)), jnp.zeros((xs.shape[1], 64))
            return (lax.scan(cell, start, xs)[1] ** 2).mean()

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    lengths = [int(n) for n in RNG.integers(3, min(longest, 128), steps)]
    compare("lstm", step, {"xs": 0}, [(t, (params, weights(t, 8, 32))) for t in lengths])


def full(steps: int, longest: int) -> None:
    """Calls of the largest size: what the masks cost, beside the exact program of `ja.jit`."""
    model = GPT(4, 128, longest)
    ids = jnp.asarray(RNG.integers(0, model.words, (8, longest)))
    print(f"full: {longest} of {longest}, in turns")
    exact = untyped(ja.jit(untyped(model.step)))
    step = untyped(ja.jit(model.step, dynamic={"ids": 1}, buckets=[longest]))
    args: Any = (*model.start(), ids)
    took: dict[str, list[float]] = {"exact": [], "bucket": []}
    for name, fn in (("exact", exact), ("bucket", step)):
        start = time.process_time()
        jax.block_until_ready(fn(*args))
        print(f"  {name}: first call {time.process_time() - start:.2f} s CPU")
    for _ in range(max(steps, 5)):
        for name, fn in (("exact", exact), ("bucket", step)):
            start = time.process_time()
            jax.block_until_ready(fn(*args))
            took[name].append(time.process_time() - start)
    ratio = statistics.median(b / a for a, b in zip(took["exact"], took["bucket"], strict=True))
    print(f"  CPU time of a call at the bucket over the exact one: {ratio:.2f}")
    start = time.process_time()
    jax.block_until_ready(step(*args[:2], ids[:, : longest - 7]))
    print(f"  first call of another size of the bucket: {time.process_time() - start:.2f} s CPU")


class Block(ja.nn.Module):
    """A layer of attention and an MLP, on tensors."""

    def __init__(self, width: int):
        super().__init__()
        nn = ja.nn
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        q, k, v = (y.reshape(b, t, 4, -1).transpose(1, 2) for y in self.qkv(self.before(x)).chunk(3, -1))
        y = ja.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(ja.nn.functional.gelu(self.up(self.between(x))))


class Tokens(ja.nn.Module):
    """A language model on tensors; it returns its loss."""

    def __init__(self, n_layers: int, width: int, longest: int):
        super().__init__()
        self.words, self.places = ja.nn.Embedding(128, width), ja.nn.Embedding(longest, width)
        self.blocks = ja.nn.ModuleList([Block(width) for _ in range(n_layers)])
        self.norm = ja.nn.LayerNorm(width)

    def forward(self, ids: Any) -> Any:
        x = self.words(ids) + self.places(ja.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.words.weight.t()
        return ja.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 128), ids[:, 1:].reshape(-1))


def first(steps: int, longest: int) -> None:
    """First calls of a new size in a known bucket, beside a cold compilation of the exact program."""
    new = [longest - 7 * i - 3 for i in range(1, 4)]
    print(f"first: CPU time of the first call of a size, 4 layers, lengths {new} in a bucket of {longest}")
    model = GPT(4, 128, longest)
    args: Any = model.start()
    ids = {n: RNG.integers(0, model.words, (4, n)) for n in (*new, longest)}
    bucket = untyped(ja.jit(model.step, dynamic={"ids": 1}, buckets=[longest]))
    calls: dict[str, list[tuple[str, Callable[[int], Any]]]] = {}
    exact = untyped(jax.jit(untyped(model.step)))
    calls["a step of arrays"] = [
        ("jax.jit", lambda n: exact(*args, ids[n])),
        ("ja.jit(dynamic=...)", lambda n: bucket(*args, ids[n])),
    ]
    net = Tokens(4, 128, longest)
    adam = ja.optim.AdamW(net.parameters(), lr=1e-3)

    def loss(ids: Any) -> Any:
        return net(ids)

    def whole(ids: Any) -> Any:
        adam.zero_grad()
        value = net(ids)
        value.backward()
        adam.step()
        return value.detach()

    for title, fn, is_open in (("a loss of tensors, and backward", loss, True), ("a step of tensors", whole, False)):
        calls[title] = []
        for name, dynamic in (
            ("ja.compile(dynamic=False)", False),
            ("ja.compile(dynamic=...)", {"ids": {1: [longest]}}),
        ):
            made = untyped(ja.compile(fn, dynamic=dynamic))

            def by_length(n: int, made: Any = made, is_open: bool = is_open) -> Any:
                value = made(ja.tensor(ids[n]))
                if is_open:
                    value.backward()
                return value.item()

            calls[title].append((name, by_length))
    for title, (cold, by_bucket) in calls.items():
        by_bucket[1](longest)  # the program of the bucket
        took = []
        for name, call in (cold, by_bucket):
            times = []
            for n in new:
                start = time.process_time()
                jax.block_until_ready(call(n))
                again = time.process_time()
                jax.block_until_ready(call(n))
                times.append(2 * again - start - time.process_time())
            took.append(statistics.median(times))
            print(f"  {title}, {name}: {', '.join(f'{t:.2f}' for t in times)} s", flush=True)
        print(f"  {title}: {took[1] / took[0]:.2f} of a cold compilation", flush=True)


def seen(steps: int, longest: int) -> None:
    """Calls of a small function whose sizes were seen before, in turns of 50."""
    arrays = {n: jnp.asarray(RNG.normal(size=(n, 4)).astype(np.float32)) for n in (13, 14, 15, 16)}
    w = weights(4, 4)
    fn = lambda w, x: (x @ w).sum()
    plain, sized = untyped(ja.jit(fn)), untyped(ja.jit(fn, dynamic={"x": 0}))
    compiled, at_sizes = untyped(ja.compile(fn, dynamic=False)), untyped(ja.compile(fn, dynamic={"x": 0}))
    tensor, there = ja.from_jax(w), {n: ja.from_jax(x) for n, x in arrays.items()}
    by_hand = lambda n: padded(arrays[n], (16, 4))
    turns: dict[str, Callable[[int], Any]] = {
        "ja.jit, padded by hand": lambda n: plain(w, by_hand(n)),
        "ja.jit(dynamic=...)": lambda n: sized(w, arrays[n]),
        "ja.compile, padded by hand": lambda n: compiled(tensor, by_hand(n)),
        "ja.compile(dynamic=...)": lambda n: at_sizes(tensor, there[n]),
    }
    for sizes in ((13,), (13, 14, 15)):
        took: dict[str, list[float]] = {name: [] for name in turns}
        for turn in range(max(steps, 40) + 3):
            for name, call in turns.items():
                start = time.process_time()
                for i in range(50):
                    call(sizes[i % len(sizes)])
                if turn >= 3:
                    took[name].append((time.process_time() - start) / 50 * 1e6)
        print(f"seen: CPU time of a call, sizes {sizes} in turn: median, fastest tenth")
        for name, times in took.items():
            print(
                f"  {name:30} {statistics.median(times):7.1f} us {statistics.quantiles(times, n=10)[0]:7.1f} us",
                flush=True,
            )


def tensors(steps: int, longest: int) -> None:
    """Training steps of a module on tensors, against PyTorch's where it is installed."""
    lengths = [int(n) for n in RNG.integers(3, longest + 1, steps)]
    print(f"tensors: {steps} calls, {len(set(lengths))} sizes")
    for dynamic in (False, None):
        loss, step = _steps_of(ja, lambda fn, dynamic=dynamic: ja.compile(fn, dynamic=dynamic))
        run(f"ja.compile(dynamic={dynamic})", [(n, lambda n=n: step(n)) for n in lengths], lambda: loss.n_programs)
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        print("  torch is not installed")
        return
    n_compiled = [0]

    def counting(graph: Any, inputs: Any) -> Any:
        from torch._inductor.compile_fx import compile_fx  # pyright: ignore[reportMissingImports]

        n_compiled[0] += 1
        return compile_fx(graph, inputs)

    _, step = _steps_of(torch, lambda fn: torch.compile(fn, dynamic=True, backend=counting))
    run("torch.compile(dynamic=True)", [(n, lambda n=n: step(n)) for n in lengths], lambda: n_compiled[0])


def _steps_of(lib: Any, compiled: Callable[..., Any]) -> tuple[Any, Callable[[int], Any]]:
    """Returns the compiled loss of a small language model in one of two libraries, and its step for a length."""
    nn = lib.nn
    model = nn.Sequential(nn.Embedding(64, 128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 64))
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3)

    def loss(ids: Any) -> Any:
        logits = model(ids[:, :-1])
        return nn.functional.cross_entropy(logits.reshape(-1, 64), ids[:, 1:].reshape(-1))

    made = compiled(loss)

    def step(length: int) -> Any:
        optimizer.zero_grad()
        value = made(lib.tensor(RNG.integers(0, 64, (4, length))))
        value.backward()
        optimizer.step()
        return value.item()

    return made, step


PARTS = {
    "gpt": gpt,
    "batch": batch,
    "decode": decode,
    "lstm": lstm,
    "tensors": tensors,
    "full": full,
    "first": first,
    "seen": seen,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--longest", type=int, default=256)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options.steps, options.longest)
