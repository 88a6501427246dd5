"""Habits that have to do with what Python keeps, makes, calls and asks."""

import collections
import contextlib
import dataclasses
import functools
import logging
import random
import threading
import time

import numpy as np

from tests.habits.parts import linear, mlp, ramp, row

GLOBAL = {"scale": 1.0}
SCALE = 1


def logging_in(t, c):
    log = logging.getLogger("habits")

    @c
    def f(x):
        log.debug("dropped %s", x.shape)
        return x + 1

    return [f(ramp(t, at=i)) for i in range(3)]


def try_except_shape(t, c):
    @c
    def f(x, w):
        try:
            return x @ w
        except RuntimeError:
            return x @ w.T

    return [f(ramp(t), w) for w in (ramp(t, 4, 3), ramp(t, 3, 4), ramp(t, 4, 3))]


def try_except_key(t, c):
    cache = {}

    @c
    def f(x, key):
        try:
            return x + cache[key]
        except KeyError:
            cache[key] = len(cache)
            return x

    return [f(ramp(t), key) for key in ("a", "b", "a", "b")], cache


def generator_fn(t, c):
    @c
    def f(x):
        for i in range(3):
            yield x * i

    return [list(f(ramp(t, at=i))) for i in range(3)]


def generator_arg(t, c):
    @c
    def f(items):
        return sum(item.sum() for item in items)

    return [f(ramp(t, at=i + j) for j in range(3)) for i in range(3)]


def zip_arg(t, c):
    @c
    def f(pairs):
        return [x + y for x, y in pairs]

    return [f(zip([ramp(t), row(t)], [ramp(t, at=i), row(t)], strict=True)) for i in range(3)]


def loader_in_fn(t, c):
    loader = [ramp(t, at=i) for i in range(3)]
    model = linear(t)

    @c
    def epoch():
        total = t.zeros(())
        for x in loader:
            total = total + model(x).square().mean()
        return total

    return [epoch() for _ in range(3)]


def loader_iterator_epoch_item(t, c):
    model, losses = linear(t), []

    @c
    def epoch(batches):
        for x in batches:
            loss = model(x).square().mean()
            losses.append(loss.item())
        return loss

    return [epoch(iter([ramp(t, at=i), ramp(t, at=i + 1)])) for i in range(3)], losses


def kwargs_default(t, c):
    @c
    def f(x, scale=2.0, **others):
        return x * scale + others.get("shift", 0)

    return f(ramp(t)), f(ramp(t), scale=3.0), f(ramp(t), shift=1), f(ramp(t))


def optional_arg(t, c):
    @c
    def f(x, mask=None):
        return x if mask is None else x * mask

    return f(ramp(t)), f(ramp(t), row(t)), f(ramp(t), None), f(ramp(t), mask=row(t))


def step_int_changes(t, c):
    @c
    def f(x, step):
        return x / (step + 1)

    return [f(ramp(t), step) for step in range(4)]


def batch_sizes(t, c):
    model = mlp(t)
    f = c(lambda x: model(x).mean())
    return [f(ramp(t, n, 4)) for n in (3, 2, 3, 4, 2)]


def tuple_dataclass_out(t, c):
    @dataclasses.dataclass
    class Out:
        loss: object
        logits: object
        hidden: object = None

    Pair = collections.namedtuple("Pair", "a b")

    @c
    def f(x):
        return Out(loss=x.sum(), logits=x * 2), Pair(x, 1)

    out = [f(ramp(t, at=i)) for i in range(3)]
    return [(o.loss, o.logits, o.hidden, p.a, p.b, type(o).__name__) for o, p in out]


def dict_batch(t, c):
    @c
    def f(batch):
        return {"out": batch["x"] * batch["mask"], "ids": batch["ids"]}

    return [f({"x": ramp(t, at=i), "mask": row(t), "ids": ["a", i]}) for i in range(3)]


def int_for_float(t, c):
    f = c(lambda x, scale: x * scale)
    return [f(ramp(t), scale) for scale in (1.5, 2, 2.5, 3)]


def numpy_scalar_arg(t, c):
    f = c(lambda x, scale: x * float(scale))
    return [f(ramp(t), np.float32(scale)) for scale in (1, 2, 3)]


def numpy_array_arg(t, c):
    f = c(lambda x, a: x + t.as_tensor(a))
    return [f(ramp(t), np.arange(4, dtype=np.float32) + i) for i in range(3)]


def self_counter(t, c):
    class Scaled:
        calls = 0

        def run(self, x):
            self.calls += 1
            return x * self.calls

    scaled = Scaled()
    run = c(scaled.run)
    return [run(ramp(t)) for _ in range(4)], scaled.calls


def tensor_dict_state(t, c):
    state = {"mean": t.zeros(4)}

    @c
    def f(x):
        state["mean"] = state["mean"] * 0.5 + x.mean(0) * 0.5
        return x - state["mean"]

    return [f(ramp(t, at=i)) for i in range(3)], state


def history_list(t, c):
    history = []

    @c
    def f(x):
        history.append(x.mean().detach())
        return x * 2

    return [f(ramp(t, at=i)) for i in range(4)], history


def deque_state(t, c):
    kept = collections.deque(maxlen=2)

    @c
    def f(x):
        kept.append(x.mean())
        return sum(kept) / len(kept)

    return [f(ramp(t, at=i)) for i in range(5)], list(kept)


def ring_buffer(t, c):
    buffer, at = t.zeros(3, 4), {"i": 0}

    @c
    def f(x):
        buffer[at["i"] % 3] = x
        at["i"] += 1
        return buffer.sum(0)

    return [f(row(t) + i) for i in range(5)], buffer, at


def queue_buffer_moco(t, c):
    class Moco(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("queue", t.zeros(6, 4))
            self.register_buffer("ptr", t.zeros(1, dtype=t.long))

        def forward(self, keys):
            ptr = int(self.ptr)
            self.queue[ptr : ptr + keys.shape[0]] = keys
            self.ptr[0] = (ptr + keys.shape[0]) % 6
            return self.queue.sum(0)

    moco = Moco()
    f = c(moco)
    return [f(ramp(t, 2, 4, at=i)) for i in range(5)], moco.queue, moco.ptr


def kv_cache_list(t, c):
    cache = []

    @c
    def f(x):
        cache.append(x)
        return t.stack(cache).sum(0)

    return [f(row(t) + i) for i in range(3)], cache


def kv_cache_cat(t, c):
    @c
    def f(x, cache):
        cache = x if cache is None else t.cat([cache, x])
        return cache.sum(0), cache

    cache, out = None, []
    for i in range(3):
        y, cache = f(ramp(t, 1, 4, at=i), cache)
        out.append(y)
    return out, cache


def kv_cache_pos(t, c):
    class Cache:
        def __init__(self):
            self.k, self.pos = t.zeros(4, 4), 0

    cache = Cache()

    @c
    def f(x):
        cache.k[cache.pos] = x
        cache.pos += 1
        return cache.k.sum(0)

    return [f(row(t) + i) for i in range(4)], cache.k, cache.pos


def global_mutated(t, c):
    GLOBAL["scale"] = 1.0

    @c
    def f(x):
        global SCALE
        SCALE = SCALE * 2
        return x * GLOBAL["scale"]

    out = []
    for i in range(3):
        GLOBAL["scale"] = float(i)
        out.append(f(ramp(t)))
    found, globals()["SCALE"] = SCALE, 1
    return out, found


def nonlocal_counter(t, c):
    n = 0

    @c
    def f(x):
        nonlocal n
        n += 1
        return x + n

    return [f(ramp(t)) for _ in range(4)], n


def python_random(t, c):
    random.seed(0)
    f = c(lambda x: x * random.random())
    return [f(ramp(t)) for _ in range(3)]


def numpy_random(t, c):
    np.random.seed(0)
    f = c(lambda x: x * float(np.random.rand()))
    return [f(ramp(t)) for _ in range(3)]


def mixup_beta(t, c):
    rng = np.random.default_rng(0)

    @c
    def f(x, y):
        lam = float(rng.beta(0.4, 0.4))
        return lam * x + (1 - lam) * y

    return [f(ramp(t), ramp(t, at=1)) for _ in range(3)]


def timing_in(t, c):
    took = []

    @c
    def f(x):
        start = time.perf_counter()
        y = x * 2
        took.append(time.perf_counter() - start)
        return y

    return [f(ramp(t, at=i)) for i in range(3)], len(took), len(set(took)) > 1


def timer_context(t, c):
    class Timer:
        def __init__(self):
            self.n, self.took = 0, []

        def __enter__(self):
            self.start = time.perf_counter()

        def __exit__(self, *error):
            self.took.append(time.perf_counter() - self.start)
            self.n += 1

    timer = Timer()

    @c
    def f(x):
        with timer:
            return x * 2

    return [f(ramp(t, at=i)) for i in range(3)], timer.n, len(set(timer.took)) > 1


def contextlib_manager(t, c):
    said = []

    @contextlib.contextmanager
    def scope(name):
        said.append(f"in {name}")
        yield 2
        said.append(f"out {name}")

    @c
    def f(x):
        with scope("a") as by, contextlib.suppress(ValueError):
            return x * by

    return [f(ramp(t, at=i)) for i in range(3)], said


def lock_in(t, c):
    lock, n = threading.Lock(), {"n": 0}

    @c
    def f(x):
        with lock:
            n["n"] += 1
        return x * 2

    return [f(ramp(t, at=i)) for i in range(3)], n, lock.locked()


def builtin_fn(t, c):
    f = c(lambda xs: (sum(xs), max(len(xs), 1), list(map(t.relu, reversed(xs))), sorted(x.ndim for x in xs)))
    return [f([ramp(t, at=i), row(t)]) for i in range(3)]


def partial_fn(t, c):
    f = c(functools.partial(t.nn.functional.leaky_relu, negative_slope=0.2))
    return [f(ramp(t, at=i)) for i in range(3)]


def bound_method(t, c):
    class Head:
        scale = 2

        def apply(self, x):
            return x * self.scale

    head = Head()
    f, out = c(head.apply), []
    for i in range(3):
        head.scale = i
        out.append(f(ramp(t)))
    return out


def callable_object(t, c):
    class Loss:
        def __init__(self, weight):
            self.weight = weight

        def __call__(self, x):
            return (x * self.weight).mean()

    loss = Loss(row(t))
    f, out = c(loss.__call__), []
    for i in range(3):
        loss.weight = row(t) + i
        out.append(f(ramp(t)))
    return out


def generator_object(t, c):
    generator = t.Generator().manual_seed(1)
    f = c(lambda x: x + t.rand(x.shape, generator=generator))
    out = [f(ramp(t)) for _ in range(3)]
    return out, bool((out[0] == out[1]).all())


def tqdm_in(t, c):
    class Tqdm:
        def __init__(self, items):
            self.items, self.n = items, 0

        def __iter__(self):
            for item in self.items:
                self.n, self.at = self.n + 1, time.time()
                yield item

    bar = Tqdm([1, 2, 3])

    @c
    def f(x):
        for i in bar:
            x = x * i
        return x

    return [f(ramp(t)) for _ in range(3)], bar.n


def stop_iteration_next(t, c):
    items, out = iter([1.0, 2.0]), []

    @c
    def f(x):
        try:
            return x * next(items)
        except StopIteration:
            return x * 0

    for _ in range(4):
        out.append(f(ramp(t)))
    return out


def isinstance_checks(t, c):
    @c
    def f(x, model):
        kinds = (isinstance(x, t.Tensor), t.is_tensor(x), isinstance(model, t.nn.Linear), hasattr(x, "shape"))
        if x.dtype == t.float32 and x.dtype.is_floating_point and x.dim() == 2:
            x = x * 2
        return x, kinds, t.is_floating_point(x)

    model = linear(t)
    return [f(ramp(t, at=i), model) for i in range(3)]


def device_idiom(t, c):
    device = t.device("cuda" if t.cuda.is_available() else "cpu")

    @c
    def f(x):
        mask = t.ones(x.shape[-1], device=x.device)
        return (x * mask).to(device), x.device.type, x.is_cuda

    return [f(ramp(t, at=i).to(device)) for i in range(3)]


def is_identity_out(t, c):
    f = c(lambda x: (x, x))
    out = []
    for i in range(3):
        x = ramp(t, at=i)
        a, b = f(x)
        out.append((a is x, b is a))
    return out


def view_out_mutate(t, c):
    f, out = c(lambda x: x[0]), []
    for i in range(3):
        x = ramp(t, at=i)
        f(x).add_(1)
        out.append(x)
    return out


def inplace_arg_slice(t, c):
    @c
    def f(x):
        x[:, 1:3] *= 2
        x[0].zero_()

    out = [ramp(t, at=i) for i in range(3)]
    for x in out:
        f(x)
    return out


def manual_seed_in(t, c):
    @c
    def f(x):
        t.manual_seed(3)
        return x + t.rand(4)

    out = [f(ramp(t)) for _ in range(3)]
    return out, bool((out[0] == out[1]).all())


def warmup_lambda(t, c):
    warmup = lambda step: min(1.0, (step + 1) / 3)
    f = c(lambda x, step: x * warmup(step))
    return [f(ramp(t), step) for step in range(5)]
