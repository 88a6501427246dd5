"""A checkpoint that PyTorch wrote becomes an archive, and a server of HTTP answers from it; PyTorch is not needed.

    python examples/checkpoint_to_server.py

`digits.pt` is a file of `torch.save`: weights of the network in `digits_cnn_torch.py` after ten epochs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import jaxaot as ja

sys.path.insert(0, os.path.dirname(__file__))
from digits_cnn import Net
from real_digits import read_digits


def export_checkpoint(checkpoint: str, archive: str, batch: int) -> None:
    """Writes the network of a checkpoint as a function from a batch of images to digits."""
    model = Net()
    model.load_state_dict(ja.load(checkpoint)["model"])
    model.eval()
    program = ja.export(lambda x: model(x).argmax(1), ja.zeros(batch, 1, 8, 8), with_gradients=False)
    program.save(archive)


def server_of(archive: str, batch: int) -> ThreadingHTTPServer:
    """Returns a server that takes images as JSON, (n, 1, 8, 8) with n up to a batch, and answers with their digits."""
    recognise = ja.load(archive)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            images = np.array(json.loads(self.rfile.read(int(self.headers["Content-Length"]))), np.float32)
            padded = np.zeros((batch, 1, 8, 8), np.float32)
            padded[: len(images)] = images
            answer = json.dumps(recognise(ja.from_numpy(padded)).tolist()[: len(images)]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing of each request."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def main(n_images: int = 400, batch: int = 50) -> float:
    """Returns the share of test images that the server recognises."""
    images, digits = read_digits(n_images, first=1300)
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "digits.jaxaot")
        export_checkpoint(os.path.join(os.path.dirname(__file__), "digits.pt"), archive, batch)
        print(f"archive: {os.path.getsize(archive):,} bytes")
        server = server_of(archive, batch)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = []
    for start in range(0, n_images, batch):
        body = json.dumps(images[start : start + batch].tolist()).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", body) as reply:
            found += json.load(reply)
    server.shutdown()
    server.server_close()
    accuracy = float((np.array(found) == digits).mean())
    print(f"served: {len(found)} images, {accuracy:.1%} right")
    return accuracy


if __name__ == "__main__":
    main()
