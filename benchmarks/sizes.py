"""What sizes that change cost: a program for each, padding and masks by hand, and one program for many.

    python -m benchmarks.sizes [gpt] [batch] [decode] [lstm] [tensors] [memory] [full] [first] [seen]
        [--steps N] [--longest N] [--layers N] [--json FILE]

Each line is a way to run the same calls: programs, seconds of CPU time and of the clock for all calls, and the median
time of a call whose size was seen before. `full` compares calls of the largest size, where nothing is padded: what the
masks cost. `first` is what a new size costs in a known bucket, beside a cold compilation. `seen` is what a call costs
whose size was seen before, beside the plain call of an array that is padded by hand. Everything is compiled anew, so
unset `JAX_COMPILATION_CACHE_DIR`.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxaot as ja
from benchmarks.runner import peak_resident, write_json
from jaxaot.buckets.policy import read_buckets
from jaxaot.lower.padding import padded

RNG = np.random.default_rng(0)
bucket_of = read_buckets("pow2").of
N_LAYERS = 4
"""How many layers a GPT has."""


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


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of the compilers that it called."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


ROWS: list[dict[str, Any]] = []
"""What `run` measured."""


def run(part: str, what: str, calls: Sequence[tuple[Any, Callable[[], Any]]], n_programs: Callable[[], int]) -> None:
    """Makes calls, each with its size, and prints and notes what they took."""
    seen, again = set(), []
    cpu, clock = cpu_seconds(), time.perf_counter()
    for size, call in calls:
        start = time.perf_counter()
        jax.block_until_ready(call())
        if size in seen:
            again.append(time.perf_counter() - start)
        seen.add(size)
    cpu, clock = cpu_seconds() - cpu, time.perf_counter() - clock
    median = statistics.median(again) if again else None
    step = f"{median * 1e3:9.2f} ms" if median is not None else "        -"
    print(f"  {what:34}{n_programs():4} programs {cpu:9.1f} s CPU {clock:9.1f} s {step}", flush=True)
    ROWS.append(
        {
            "case": f"{part}: {len(calls)} calls, {len(seen)} sizes",
            "contestant": what,
            "programs": n_programs(),
            "cpu_seconds": cpu,
            "seconds": clock,
            "median_seconds_again": median,
        }
    )


def compare(
    title: str,
    fn: Callable[..., Any],
    dynamic: Any,
    arguments: Sequence[tuple[Any, tuple[Any, ...]]],
    by_hand: tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]],
) -> None:
    """Prints what the calls of a function take: exactly, by buckets, and padded and masked by hand.

    Args:
      title: What it is.
      fn: The function.
      dynamic: What of it changes.
      arguments: The calls, each with its size.
      by_hand: The function with masks, and what takes its arguments to those that are padded.
    """
    print(f"{title}: {len(arguments)} calls, {len({size for size, _ in arguments})} sizes")
    exact = untyped(jax.jit(lambda *args: fn(*args)))
    run(title, "jax.jit, a program for each", [(s, lambda a=a: exact(*a)) for s, a in arguments], exact._cache_size)
    step = untyped(ja.jit(fn, dynamic=dynamic))
    run(title, "ja.jit(dynamic=...)", [(s, lambda a=a: step(*a)) for s, a in arguments], lambda: step.n_programs)
    masked, pad = untyped(jax.jit(by_hand[0])), by_hand[1]
    what = "jax.jit, padded and masked by hand"
    run(title, what, [(s, lambda a=a: masked(*pad(*a))) for s, a in arguments], masked._cache_size)


def bucket(n: int, most: int) -> int:
    """Returns the bucket of a size, as where it is padded by hand."""
    return min(bucket_of(n) or n, most)


def up_to(array: Any, n: int, axis: int = 0) -> Any:
    """Returns an array with zeros behind it."""
    widths = [(0, n - size if i == axis else 0) for i, size in enumerate(array.shape)]
    return np.pad(np.asarray(array), widths)


def gpt(steps: int, longest: int) -> None:
    """Training steps of sequences of random lengths."""
    model = GPT(N_LAYERS, 128, longest)
    lengths = [int(n) for n in RNG.integers(2, longest + 1, steps)]
    arguments = [(t, (*model.start(), jnp.asarray(RNG.integers(0, model.words, (4, t))))) for t in lengths]

    def pad(params: Any, state: Any, ids: Any) -> tuple[Any, ...]:
        n = ids.shape[1]
        m = bucket(n, longest)
        return params, state, up_to(ids, m, 1), np.tile(np.arange(m) < n, (4, 1))

    compare("GPT", model.step, {"ids": 1}, arguments, (untyped(model.step), pad))


def batch(steps: int, longest: int) -> None:
    """Steps of a convolutional network with BatchNorm whose batches differ, the last one of each epoch too."""
    params = {"conv": weights(16, 3, 3, 3), "out": weights(16, 10)}

    def step(params: Any, images: Any, labels: Any, is_there: Any = None) -> Any:
        def loss(params: Any) -> Any:
            x = lax.conv_general_dilated(images, params["conv"], (1, 1), "SAME")
            if is_there is None:
                mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
            else:
                counted = is_there[:, None, None, None]
                n = is_there.sum() * x.shape[2] * x.shape[3]
                mean = jnp.where(counted, x, 0.0).sum((0, 2, 3), keepdims=True) / n
                var = jnp.where(counted, (x - mean) ** 2, 0.0).sum((0, 2, 3), keepdims=True) / n
            x = jax.nn.relu((x - mean) / jnp.sqrt(var + 1e-5)).mean((2, 3))
            picked = jnp.take_along_axis(jax.nn.log_softmax(x @ params["out"]), labels[:, None], 1)[:, 0]
            return -picked.mean() if is_there is None else -jnp.where(is_there, picked, 0.0).sum() / is_there.sum()

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def pad(params: Any, images: Any, labels: Any) -> tuple[Any, ...]:
        n = len(labels)
        m = bucket(n, 32)
        return params, up_to(images, m), up_to(labels, m), np.arange(m) < n

    arguments = []
    for _ in range(steps):
        n = random.Random(len(arguments)).randint(3, 32)
        images = jnp.asarray(RNG.normal(size=(n, 3, 16, 16)).astype(np.float32))
        arguments.append((n, (params, images, jnp.asarray(RNG.integers(0, 10, n)))))
    compare("CNN with BatchNorm, batches", step, {"images": 0, "labels": 0}, arguments, (step, pad))


def decode(steps: int, longest: int) -> None:
    """Attention to a cache that grows by a row at each call."""
    w = weights(64, 64)

    def step(cache: Any, x: Any) -> Any:
        cache = jnp.concatenate([cache, x[None] @ w])
        return jax.nn.softmax(cache @ x) @ cache

    def masked(cache: Any, x: Any, n: Any) -> Any:
        cache = lax.dynamic_update_slice(cache, x[None] @ w, (n, 0))
        scores = jnp.where(jnp.arange(cache.shape[0]) <= n, cache @ x, -jnp.inf)
        return jax.nn.softmax(scores) @ cache

    def pad(cache: Any, x: Any) -> tuple[Any, ...]:
        n = len(cache)
        return up_to(cache, bucket(n + 1, 2 * longest)), x, np.int32(n)

    arguments = [(n, (weights(n, 64), weights(64))) for n in range(3, min(steps, longest) + 3)]
    compare("decode, a cache that grows", step, {"cache": 0}, arguments, (masked, pad))


def lstm(steps: int, longest: int) -> None:
    """Training steps of an LSTM over sequences of random lengths."""
    params = {"in": weights(32, 256), "rec": weights(64, 256)}

    def step(params: Any, xs: Any, n: Any = None) -> Any:
        def loss(params: Any) -> Any:
            def cell(state: Any, x: Any) -> Any:
                h, c = state
                i, f, o, g = jnp.split(x @ params["in"] + h @ params["rec"], 4, -1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h

            start = jnp.zeros((xs.shape[1], 64)), jnp.zeros((xs.shape[1], 64))
            squares = lax.scan(cell, start, xs)[1] ** 2
            if n is None:
                return squares.mean()
            is_there = jnp.arange(len(xs))[:, None, None] < n
            return jnp.where(is_there, squares, 0.0).sum() / (n * squares.shape[1] * squares.shape[2])

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def pad(params: Any, xs: Any) -> tuple[Any, ...]:
        return params, up_to(xs, bucket(len(xs), 128)), np.int32(len(xs))

    lengths = [int(n) for n in RNG.integers(3, min(longest, 128), steps)]
    compare("LSTM", step, {"xs": 0}, [(t, (params, weights(t, 8, 32))) for t in lengths], (step, pad))


def full(steps: int, longest: int) -> None:
    """Calls of the largest size: what the masks cost, beside the exact program of `ja.jit`."""
    model = GPT(N_LAYERS, 128, longest)
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


def language_model(lib: Any, n_layers: int, width: int, longest: int) -> Any:
    """Returns a language model on the tensors of one of two libraries, jaxaot or PyTorch; it returns its loss."""
    nn: Any = lib.nn
    base: Any = nn.Module

    class Block(base):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            b, t, d = x.shape
            q, k, v = (y.reshape(b, t, 4, -1).transpose(1, 2) for y in self.qkv(self.before(x)).chunk(3, -1))
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
            return x + self.down(nn.functional.gelu(self.up(self.between(x))))

    class Tokens(base):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(128, width), nn.Embedding(longest, width)
            self.blocks = nn.ModuleList([Block() for _ in range(n_layers)])
            self.norm = nn.LayerNorm(width)

        def forward(self, ids: Any) -> Any:
            x = self.words(ids) + self.places(lib.arange(ids.shape[1]))
            for block in self.blocks:
                x = block(x)
            logits = self.norm(x) @ self.words.weight.t()
            return nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 128), ids[:, 1:].reshape(-1))

    return Tokens()


def first(steps: int, longest: int) -> None:
    """First calls of a new size in a known bucket, beside a cold compilation of the exact program."""
    new = [longest - 7 * i - 3 for i in range(1, 4)]
    print(f"first: CPU time of the first call of a size, {N_LAYERS} layers, lengths {new} in a bucket of {longest}")
    model = GPT(N_LAYERS, 128, longest)
    args: Any = model.start()
    ids = {n: RNG.integers(0, model.words, (4, n)) for n in (*new, longest)}
    in_bucket = untyped(ja.jit(model.step, dynamic={"ids": 1}, buckets=[longest]))
    calls: dict[str, list[tuple[str, Callable[[int], Any]]]] = {}
    exact = untyped(jax.jit(untyped(model.step)))
    calls["a step of arrays"] = [
        ("jax.jit", lambda n: exact(*args, ids[n])),
        ("ja.jit(dynamic=...)", lambda n: in_bucket(*args, ids[n])),
    ]
    net = language_model(ja, N_LAYERS, 128, longest)
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
    tensor, there = ja.interop.from_jax(w), {n: ja.interop.from_jax(x) for n, x in arrays.items()}
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


def memory(steps: int, longest: int) -> None:
    """The memory of a training step of the largest bucket, and of steps of all buckets in turn."""
    model = language_model(ja, N_LAYERS, 128, longest)
    fn = untyped(ja.compile(lambda ids: model(ids), dynamic={"ids": 1}))
    call = lambda n: fn(ja.tensor(RNG.integers(0, 128, (4, n)))).backward()
    sizes = [n for n in read_buckets("pow2").up_to(longest) if n >= longest // 4]
    for n in sizes:
        call(n)
    alone = [_most_resident(lambda n=n: call(n)) for n in sizes]
    together = _most_resident(lambda: [call(n) for n in sizes * 2])
    temporary = [
        max(e.memory_analysis().temp_size_in_bytes for e in program.executables.values()) for program in fn.programs
    ]
    live = sum(array.nbytes for array in jax.live_arrays())
    print(f"memory: steps of {sizes}, {fn.n_programs} programs, {live / 2**20:.0f} MiB of arrays stay")
    print(
        f"  temporaries of all programs: {sum(temporary) / 2**20:.0f} MiB, of the largest {max(temporary) / 2**20:.0f}"
    )
    print(f"  most that the process holds: {', '.join(f'{a / 2**20:.0f}' for a in alone)} MiB, each size for itself")
    print(f"  most that the process holds: {together / 2**20:.0f} MiB, all sizes in turn", flush=True)


def _most_resident(run: Callable[[], Any]) -> int:
    """Returns the most bytes that the process holds while something runs; Linux says so."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    jax.block_until_ready(run())
    return peak_resident()


def tensors(steps: int, longest: int) -> None:
    """Steps of four models on tensors, against PyTorch's where it is installed."""
    lengths = [int(n) for n in RNG.integers(2, longest + 1, steps)]
    compare_libraries("GPT on tensors", gpt_step, lengths, longest)
    batches = [int(n) for n in RNG.integers(3, 33, steps)]
    compare_libraries("CNN on tensors, batches that vary", cnn_step, batches, longest)
    last = [32 if (i + 1) % 10 else 17 for i in range(steps)]
    compare_libraries("CNN on tensors, a last batch", cnn_step, last, longest)
    rows = [int(n) for n in RNG.integers(3, min(longest, 128), steps)]
    compare_libraries("LSTM on tensors", lstm_step, rows, longest)
    compare_libraries("decode on tensors, a cache that grows", decode_step, range(3, min(steps, longest) + 3), longest)


def compare_libraries(title: str, step_of: Callable[..., Any], sizes: Sequence[int], longest: int) -> None:
    """Prints what calls of many sizes take by `ja.compile`, and by `torch.compile` where it is installed.

    Args:
      title: What it is.
      step_of: Takes a library, its compiler and the largest size; returns what is compiled, and a step of a size.
      sizes: The sizes of the calls.
      longest: The largest size.
    """
    print(f"{title}: {len(sizes)} calls, {len(set(sizes))} sizes")
    for dynamic in (False, None):
        made, step = step_of(ja, lambda fn, dynamic=dynamic: ja.compile(fn, dynamic=dynamic), longest)
        calls = [(n, lambda n=n, step=step: step(n)) for n in sizes]
        run(title, f"ja.compile(dynamic={dynamic})", calls, lambda made=made: made.n_programs)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # else its compilers are nobody's children
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

    torch._dynamo.reset()
    _, step = step_of(torch, lambda fn: torch.compile(fn, dynamic=True, backend=counting), longest)
    run(title, "torch.compile(dynamic=True)", [(n, lambda n=n: step(n)) for n in sizes], lambda: n_compiled[0])


def trained(lib: Any, model: Any, compiled: Callable[..., Any], batch: Callable[[int], Any]) -> tuple[Any, Any]:
    """Returns the compiled loss of a model, which the model returns, and a training step for a size."""
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3)

    def loss(*batch: Any) -> Any:
        return model(*batch)

    made = compiled(loss)

    def step(size: int) -> Any:
        optimizer.zero_grad()
        value = made(*map(lib.tensor, batch(size)))
        value.backward()
        optimizer.step()
        return value.item()

    return made, step


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def gpt_step(lib: Any, compiled: Callable[..., Any], longest: int) -> tuple[Any, Any]:
    model = language_model(lib, N_LAYERS, 128, longest)
    return trained(lib, model, compiled, lambda n: (RNG.integers(0, 128, (4, n)),))


def cnn_step(lib: Any, compiled: Callable[..., Any], longest: int) -> tuple[Any, Any]:
    """Two convolutions with BatchNorm; the batch is what changes."""
    nn: Any = lib.nn
    base: Any = nn.Module

    class Images(base):
        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList([nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, stride=2, padding=1)])
            self.norms = nn.ModuleList([nn.BatchNorm2d(16), nn.BatchNorm2d(32)])
            self.out = nn.Linear(32, 10)

        def forward(self, x: Any, labels: Any) -> Any:
            for conv, norm in zip(self.convs, self.norms, strict=True):
                x = nn.functional.relu(norm(conv(x)))
            return nn.functional.cross_entropy(self.out(x.mean((2, 3))), labels)

    return trained(lib, Images(), compiled, lambda n: (normal(n, 3, 16, 16), RNG.integers(0, 10, n)))


def lstm_step(lib: Any, compiled: Callable[..., Any], longest: int) -> tuple[Any, Any]:
    """An LSTM over sequences whose length is what changes."""
    nn: Any = lib.nn
    base: Any = nn.Module

    class Sequences(base):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.out = nn.LSTM(32, 64), nn.Linear(64, 1)

        def forward(self, xs: Any) -> Any:
            return (self.out(self.lstm(xs)[0]) ** 2).mean()

    return trained(lib, Sequences(), compiled, lambda n: (normal(n, 8, 32),))


def decode_step(lib: Any, compiled: Callable[..., Any], longest: int) -> tuple[Any, Any]:
    """Attention to a cache to which each call adds a row."""
    w = lib.tensor(normal(64, 64) * 0.05)

    def attend(cache: Any, x: Any) -> Any:
        cache = lib.cat([cache, x[None] @ w])
        return (cache @ x).softmax(-1) @ cache

    made = compiled(attend)
    return made, lambda n: made(lib.tensor(normal(n, 64)), lib.tensor(normal(64))).tolist()


PARTS = {
    "gpt": gpt,
    "batch": batch,
    "decode": decode,
    "lstm": lstm,
    "tensors": tensors,
    "memory": memory,
    "full": full,
    "first": first,
    "seen": seen,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--longest", type=int, default=256)
    parser.add_argument("--layers", type=int, default=N_LAYERS)
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    options = parser.parse_args()
    N_LAYERS = options.layers
    for part in options.parts or PARTS:
        PARTS[part](options.steps, options.longest)
    title = "Sizes that change, functions of tensors" if options.parts == ["tensors"] else "Sizes that change"
    write_json(options.json, title=title, sizes=ROWS)
