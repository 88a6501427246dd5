"""A variational autoencoder with two optimizers: one for the encoder, one for the decoder, in one compiled step."""

from __future__ import annotations

import os
import sys

import numpy as np

import jaxaot as ja
from jaxaot import nn
from jaxaot.nn import functional

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class Encoder(nn.Module):
    """Images to the mean and the logarithm of the variance of what they are drawn from."""

    def __init__(self, n_hidden: int, n_latent: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(64, n_hidden), nn.SiLU())
        self.mean = nn.Linear(n_hidden, n_latent)
        self.log_var = nn.Linear(n_hidden, n_latent)

    def forward(self, images: ja.Tensor) -> tuple[ja.Tensor, ja.Tensor]:
        hidden = self.body(images)
        return self.mean(hidden), self.log_var(hidden)


def decoder_of(n_hidden: int, n_latent: int) -> nn.Module:
    """Returns a module from what images are drawn from to logits of their dots."""
    return nn.Sequential(nn.Linear(n_latent, n_hidden), nn.SiLU(), nn.Linear(n_hidden, 64), nn.Unflatten(1, (1, 8, 8)))


def main(n_steps: int = 600, batch: int = 128, n_hidden: int = 128, n_latent: int = 8) -> list[float]:
    """Trains, and returns the mean losses of the first and the last 20 steps, in nats for an image."""
    ja.manual_seed(0)
    encoder, decoder = Encoder(n_hidden, n_latent), decoder_of(n_hidden, n_latent)
    encoder_optimizer = ja.optim.Adam(encoder.parameters(), lr=2e-3)
    decoder_optimizer = ja.optim.RMSprop(decoder.parameters(), lr=5e-4)
    images, _ = read_digits(1300)

    @ja.compile
    def step(x: ja.Tensor) -> ja.Tensor:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        mean, log_var = encoder(x)
        latent = mean + (log_var / 2).exp() * ja.randn_like(mean)
        likelihood = functional.binary_cross_entropy_with_logits(decoder(latent), x, reduction="sum")
        divergence = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum()
        loss = (likelihood + divergence) / x.shape[0]
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        return loss

    rng, losses = np.random.default_rng(0), []
    for n in range(n_steps):
        losses.append(step(ja.from_numpy(images[rng.integers(0, len(images), batch)])).item())
        if n % 100 == 0:
            print(f"step {n}: {losses[-1]:.2f} nats for an image")
    with ja.no_grad():
        drawn = decoder(ja.randn(2, n_latent)).sigmoid()
    for row in drawn.movedim(0, 1).reshape(8, 16).tolist():
        print("".join(" .:+#"[min(4, int(5 * dot))] for dot in row))
    return [float(np.mean(losses[:20])), float(np.mean(losses[-20:]))]


if __name__ == "__main__":
    main()
