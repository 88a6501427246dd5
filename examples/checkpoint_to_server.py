"""A checkpoint that PyTorch wrote becomes an archive, and a server of HTTP answers from it; PyTorch is not needed.

    pip install "jaxaot[serve]" scikit-learn
    python examples/checkpoint_to_server.py

`digits.pt` is a file of `torch.save`: weights of the network in `digits_cnn_torch.py` after ten epochs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import jaxaot as ja

sys.path.insert(0, os.path.dirname(__file__))
from digits_cnn import Net
from http_server import app_of_archive, serving
from real_digits import read_digits


def export_checkpoint(checkpoint: str, archive: str, most: int) -> None:
    """Writes the network of a checkpoint as a function from some images, at most so many, to digits."""
    model = Net()
    model.load_state_dict(ja.load(checkpoint)["model"])
    model.eval()
    batch = ja.sizes.Dim("batch", max=most)
    images = ja.zeros(most, 1, 8, 8)
    program = ja.export(lambda x: model(x).argmax(1), images, dynamic_shapes=({0: batch},), with_gradients=False)
    program.save(archive)


def ask(url: str, content: object = None) -> Any:
    """Returns what a server answers to JSON."""
    body = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(url, body) as reply:
        return json.load(reply)


def main(n_images: int = 400, most: int = 16) -> float:
    """Returns the share of test images that the server recognises, asked for by eight clients, one image at a time."""
    images, digits = read_digits(n_images, first=1300)
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "digits.jaxaot")
        export_checkpoint(os.path.join(os.path.dirname(__file__), "digits.pt"), archive, most)
        print(f"archive: {os.path.getsize(archive):,} bytes")
        app = app_of_archive(archive)
    with serving(app) as url, ThreadPoolExecutor(8) as clients:
        found = list(clients.map(lambda image: ask(f"{url}/predict", [image]), images.tolist()))
        health = ask(f"{url}/health")
    accuracy = float((np.concatenate(found) == digits).mean())
    print(f"served: {health['requests']} images in {health['batches']} batches, {accuracy:.1%} right")
    return accuracy


if __name__ == "__main__":
    main()
