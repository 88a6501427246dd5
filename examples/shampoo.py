"""Shampoo in place: all weights are blocks of one buffer, and each block is preconditioned through a view of it."""

from __future__ import annotations

import numpy as np

import jaxaot as ja

SHAPES = ((16, 32), (32, 32), (32, 4))


def inverse_root(matrix: ja.Tensor, power: float) -> ja.Tensor:
    """Returns a symmetric matrix to a negative power."""
    values, vectors = ja.linalg.eigh(matrix)
    return vectors @ ja.diag(values.clamp(min=1e-6) ** -power) @ vectors.mT


class Shampoo:
    """Preconditions each block by roots of the sums of its gradients' products, from the left and from the right.

    Gupta, Koren, Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization", 2018.
    """

    def __init__(self, blocks: list[ja.Tensor], lr: float, decay: float = 0.95) -> None:
        self.blocks, self.lr, self.decay = blocks, lr, decay
        self.left = [1e-4 * ja.eye(block.shape[0]) for block in blocks]
        self.right = [1e-4 * ja.eye(block.shape[1]) for block in blocks]

    def step(self, gradient: ja.Tensor) -> None:
        """Updates every block in place; `gradient` is that of the whole buffer."""
        start = 0
        for block, left, right in zip(self.blocks, self.left, self.right, strict=True):
            g = gradient[start : start + block.numel()].view(block.shape)
            left.mul_(self.decay).add_(g @ g.mT)
            right.mul_(self.decay).add_(g.mT @ g)
            block.sub_(self.lr * inverse_root(left, 0.25) @ g @ inverse_root(right, 0.25))
            start += block.numel()


def network(buffer: ja.Tensor, x: ja.Tensor) -> ja.Tensor:
    """Returns what a network with its weights in one buffer makes of inputs."""
    start = 0
    for shape in SHAPES:
        size = shape[0] * shape[1]
        x = x @ buffer[start : start + size].view(shape)
        start += size
        x = x.tanh() if start < buffer.numel() else x
    return x


def main(n_steps: int = 150, lr: float = 0.05) -> tuple[float, float, float]:
    """Returns the first loss, the last one with Shampoo, and the last one with plain gradient descent."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(256, 16)).astype(np.float32)
    targets = np.sin(inputs[:, :4] * inputs[:, 4:8])
    x, y = ja.from_numpy(inputs), ja.from_numpy(targets)
    first = np.concatenate([rng.normal(size=s).ravel() * s[0] ** -0.5 for s in SHAPES]).astype(np.float32)
    last = {}
    for name in ("shampoo", "descent"):
        buffer = ja.tensor(first, requires_grad=True)
        sizes = [rows * columns for rows, columns in SHAPES]
        blocks = [part.view(shape) for part, shape in zip(buffer.detach().split(sizes), SHAPES, strict=True)]
        shampoo = Shampoo(blocks, lr)

        @ja.compile
        def step(buffer: ja.Tensor = buffer, shampoo: Shampoo = shampoo, name: str = name) -> ja.Tensor:
            loss = (network(buffer, x) - y).square().mean()
            (gradient,) = ja.autograd.grad(loss, [buffer])
            if name == "shampoo":
                shampoo.step(gradient)  # writes into `buffer`, which the blocks are views of
            else:
                buffer.detach().sub_(0.3 * gradient)
            return loss.detach()

        losses = [step().item() for _ in range(n_steps)]
        last[name] = losses[-1]
        print(f"{name}: {losses[0]:.3f} to {losses[-1]:.4f}")
    return losses[0], last["shampoo"], last["descent"]


if __name__ == "__main__":
    main()
