"""The original of `digits_cnn.py`, in PyTorch."""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np
import safetensors.torch
import torch

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, padding=1),
            torch.nn.BatchNorm2d(16),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
        )
        self.drop = torch.nn.Dropout(0.1)
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(self.conv(x).flatten(1)))


def main(n_epochs: int = 5, n_images: int = 1300, batch: int = 100) -> float:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_epochs)
    images, digits = read_digits(n_images)
    test_images, test_digits = read_digits(400, first=1300)

    @torch.compile
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y.long())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    @torch.compile
    def evaluate(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return model(x).argmax(1)

    for epoch in range(n_epochs):
        model.train()
        order = np.random.default_rng(epoch).permutation(n_images)
        for rows in order.reshape(-1, batch):
            loss = step(torch.from_numpy(images[rows]), torch.from_numpy(digits[rows]))
        schedule.step()
        model.eval()
        found = evaluate(torch.from_numpy(test_images))
        accuracy = (found == torch.from_numpy(test_digits)).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.3f}, right {accuracy:.1%}")
    path = os.path.join(tempfile.mkdtemp(), "digits.safetensors")
    safetensors.torch.save_file(model.state_dict(), path)
    model.load_state_dict(safetensors.torch.load_file(path))
    return accuracy


if __name__ == "__main__":
    main()
