"""Random functions of three square tensors that write, and arguments that share memory, for any library."""

import random

import numpy as np

SIZE = 3


def body_of(seed):
    """Returns a random function of three square tensors, the same for both libraries.

    Operands are cloned: what a write gives whose operand overlaps its target is undefined in PyTorch.
    """
    rng = random.Random(seed)
    steps = []
    for _ in range(rng.randint(2, 6)):
        a, b = rng.randrange(3), rng.randrange(3)
        i, j = rng.randrange(SIZE), rng.randrange(SIZE)
        steps.append(
            rng.choice([
                lambda v, a=a, b=b: v[a].add_(v[b].clone()),
                lambda v, a=a: v[a].mul_(0.5),
                lambda v, a=a, b=b: v[a].copy_(v[b].t().clone()),
                lambda v, a=a, b=b, i=i, j=j: v[a][i].sub_(v[b][:, j].clone()),
                lambda v, a=a, i=i: v[a].__setitem__((slice(None), i), 2.0),
                lambda v, a=a, b=b: v.append(v[a] @ v[b]),
                lambda v, a=a, b=b: v.append(v[a].tanh() + v[b]),
                lambda v, a=a: v.append(v[a].t()),
                lambda v, a=a, i=i: v.append(v[a].narrow(0, min(i, 1), 2)),
                lambda v: v[-1].add_(1),
                lambda v: v.append(v[-1].detach()),
                lambda v, a=a: v[a].t_(),
            ])
        )  # fmt: skip
    returned = [rng.randrange(-3, 3) for _ in range(rng.randint(1, 3))]

    def body(x, y, z):
        values = [x, y, z]
        for step in steps:
            step(values)
        return [values[k] for k in returned]

    return body


def numbers(seed, *size):
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def arguments(lib, pattern, seed, grad):
    """Returns three square tensors that share memory as a pattern says, and leaves whose gradients to compare."""
    leaves = []

    def fresh(k, *size):
        made = lib.tensor(numbers(seed + k, *(size or (SIZE, SIZE))).tolist())
        if not grad:
            return made
        leaves.append(made.requires_grad_())
        return made * 1.0

    match pattern:
        case "apart":
            return (fresh(0), fresh(1), fresh(2)), leaves
        case "same twice":
            x = fresh(0)
            return (x, x, fresh(1)), leaves
        case "same thrice":
            x = fresh(0)
            return (x, x, x), leaves
        case "transposed":
            x = fresh(0)
            return (x, x.t(), fresh(1)), leaves
        case "overlapping rows":
            base = fresh(0, 5, SIZE)
            return (base[:3], base[1:4], base[2:]), leaves
        case "disjoint rows":
            base = fresh(0, 9, SIZE)
            return (base[:3], base[3:6], base[6:]), leaves
        case "columns":
            base = fresh(0, SIZE, 7)
            return (base[:, :3], base[:, 3:6], base[:, 1:4]), leaves
        case "base and view":
            base = fresh(0)
            return (base, base.view(9).view(3, 3), fresh(1)), leaves
        case "strided":
            base = fresh(0, 6, 6)
            return (base[::2, ::2], base[1::2, 1::2], base[3:, 3:]), leaves
        case "detached":
            x = fresh(0)
            return (x, x.detach(), fresh(1)), leaves
        case _:  # one without gradient
            x = lib.tensor(numbers(seed, SIZE, SIZE).tolist())
            return (x, fresh(1), fresh(2)), leaves


PATTERNS = (
    "apart", "same twice", "same thrice", "transposed", "overlapping rows", "disjoint rows", "columns", "base and view",
    "strided", "detached", "one without gradient",
)  # fmt: skip
