"""A vision transformer: patches of an image as words, trained in one compiled step."""

from __future__ import annotations

import os
import sys

import numpy as np

import jaxaot as ja
from jaxaot import nn

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class ViT(nn.Module):
    """Images of 8 x 8 dots to logits of ten digits."""

    def __init__(self, width: int, n_layers: int, patch: int = 2) -> None:
        super().__init__()
        n_patches = (8 // patch) ** 2
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.summary = nn.Parameter(ja.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * ja.randn(1, n_patches + 1, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, 2 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, images: ja.Tensor) -> ja.Tensor:
        words = self.patches(images).flatten(2).transpose(1, 2)
        words = ja.cat([self.summary.expand(images.shape[0], -1, -1), words], 1) + self.places
        return self.head(self.norm(self.encoder(words)[:, 0]))


def main(n_steps: int = 250, batch: int = 64, width: int = 32, n_layers: int = 2) -> tuple[float, float, float]:
    """Trains; returns the first loss, the last one, and the share of test images that are recognised."""
    ja.manual_seed(0)
    model = ViT(width, n_layers)
    optimizer = ja.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = ja.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=n_steps, cycle_momentum=False)
    images, digits = read_digits(1300)

    @ja.compile
    def step(x: ja.Tensor, y: ja.Tensor) -> ja.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        return loss

    rng, losses = np.random.default_rng(0), []
    for n in range(n_steps):
        rows = rng.integers(0, len(images), batch)
        losses.append(step(ja.from_numpy(images[rows]), ja.from_numpy(digits[rows])).item())
        schedule.step()
        if n % 50 == 0:
            print(f"step {n}: loss {losses[-1]:.3f}")
    model.eval()
    test_images, test_digits = read_digits(400, first=1300)
    with ja.no_grad():
        found = ja.compile(model)(ja.from_numpy(test_images)).argmax(1)
    accuracy = (found == ja.from_numpy(test_digits)).float().mean().item()
    print(f"right: {accuracy:.1%}")
    return losses[0], losses[-1], accuracy


if __name__ == "__main__":
    main()
