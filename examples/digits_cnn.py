"""A network for digits, ported from PyTorch line by line: compare it with `digits_cnn_torch.py`.

Of the lines only the imports, the name of the package and the two lines about files differ.
"""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np

import jaxaot as ja

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class Net(ja.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = ja.nn.Sequential(
            ja.nn.Conv2d(1, 8, 3, padding=1),
            ja.nn.BatchNorm2d(8),
            ja.nn.ReLU(),
            ja.nn.MaxPool2d(2),
            ja.nn.Conv2d(8, 16, 3, padding=1),
            ja.nn.BatchNorm2d(16),
            ja.nn.ReLU(),
            ja.nn.MaxPool2d(2),
        )
        self.drop = ja.nn.Dropout(0.1)
        self.head = ja.nn.Linear(64, 10)

    def forward(self, x: ja.Tensor) -> ja.Tensor:
        return self.head(self.drop(self.conv(x).flatten(1)))


def main(n_epochs: int = 5, n_images: int = 1300, batch: int = 100) -> float:
    ja.manual_seed(0)
    model = Net()
    optimizer = ja.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = ja.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_epochs)
    images, digits = read_digits(n_images)
    test_images, test_digits = read_digits(400, first=1300)

    @ja.compile
    def step(x: ja.Tensor, y: ja.Tensor) -> ja.Tensor:
        optimizer.zero_grad()
        loss = ja.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        ja.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    @ja.compile
    def evaluate(x: ja.Tensor) -> ja.Tensor:
        with ja.no_grad():
            return model(x).argmax(1)

    for epoch in range(n_epochs):
        model.train()
        order = np.random.default_rng(epoch).permutation(n_images)
        for rows in order.reshape(-1, batch):
            loss = step(ja.from_numpy(images[rows]), ja.from_numpy(digits[rows]))
        schedule.step()
        model.eval()
        found = evaluate(ja.from_numpy(test_images))
        accuracy = (found == ja.from_numpy(test_digits)).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.3f}, right {accuracy:.1%}")
    path = os.path.join(tempfile.mkdtemp(), "digits.safetensors")
    ja.save(model.state_dict(), path)
    model.load_state_dict(ja.load(path))
    return accuracy


if __name__ == "__main__":
    main()
