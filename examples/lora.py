"""LoRA: a model that is trained is frozen, and learns another task by factors of low rank beside its weights."""

from __future__ import annotations

import os
import sys

import numpy as np

import jaxaot as ja
from jaxaot import nn

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class LoRA(nn.Module):
    """A frozen linear layer with a product of two thin matrices beside it, which starts as zero.

    Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021.
    """

    def __init__(self, frozen: nn.Linear, rank: int, scale: float = 2.0) -> None:
        super().__init__()
        self.frozen, self.scale = frozen.requires_grad_(False), scale
        self.down = nn.Parameter(ja.randn(rank, frozen.in_features) * frozen.in_features**-0.5)
        self.up = nn.Parameter(ja.zeros(frozen.out_features, rank))

    def forward(self, x: ja.Tensor) -> ja.Tensor:
        return self.frozen(x) + self.scale * (x @ self.down.mT @ self.up.mT)


def trained(model: nn.Module, images: np.ndarray, labels: np.ndarray, n_steps: int, lr: float) -> float:
    """Trains what of a model requires grad, and returns the share of images that it labels right."""
    optimizer = ja.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr, weight_decay=0.0)

    @ja.compile
    def step(x: ja.Tensor, y: ja.Tensor) -> ja.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    rng = np.random.default_rng(0)
    for _ in range(n_steps):
        rows = rng.integers(0, len(images), 128)
        step(ja.from_numpy(images[rows]), ja.from_numpy(labels[rows]))
    with ja.no_grad():
        return (model(ja.from_numpy(images)).argmax(1) == ja.from_numpy(labels)).float().mean().item()


def main(n_steps: int = 200, rank: int = 4) -> tuple[float, float, float, bool]:
    """Returns how often the new task is right before and after, what share is trained, and whether weights stayed."""
    ja.manual_seed(0)
    images, digits = read_digits(1300)
    first, second, last = nn.Linear(64, 128), nn.Linear(128, 128), nn.Linear(128, 10)
    model = nn.Sequential(nn.Flatten(), first, nn.ReLU(), second, nn.ReLU(), last)
    print(f"digits: {trained(model, images, digits, n_steps, 3e-3):.1%} right")
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    mirrored = np.ascontiguousarray(images[..., ::-1])
    with ja.no_grad():
        before = (model(ja.from_numpy(mirrored)).argmax(1) == ja.from_numpy(digits)).float().mean().item()
    adapted = nn.Sequential(*(LoRA(layer, rank) if isinstance(layer, nn.Linear) else layer for layer in model))
    after = trained(adapted, mirrored, digits, n_steps, 1e-2)
    sizes = [(p.numel(), p.requires_grad) for p in adapted.parameters()]
    share = sum(size for size, is_trained in sizes if is_trained) / sum(size for size, _ in sizes)
    print(f"mirrored digits: {before:.1%} right before, {after:.1%} after training {share:.1%} of the numbers")
    is_frozen = all(ja.equal(value, kept[name]) for name, value in model.state_dict().items())
    return before, after, share, is_frozen


if __name__ == "__main__":
    main()
