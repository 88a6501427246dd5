"""Decodes with a model from an archive, with JAX alone; `serve_archive.py` makes the archive and runs this.

    python examples/archive_server.py model.jaxaot FIRST_TOKEN N_TOKENS

It needs `jax`, `flatbuffers` and `safetensors`. Of an archive it knows what `docs/shipping.md` says.
"""

from __future__ import annotations

import json
import sys
import zipfile

import jax
import jax.numpy as jnp
from jax import export
from safetensors.numpy import load


def main(path: str, first: int, n_tokens: int) -> list[int]:
    """Returns the tokens after a first one, as the model in the archive chooses them."""
    with zipfile.ZipFile(path) as archive:
        weights = {name: jnp.asarray(array) for name, array in load(archive.read("weights.safetensors")).items()}
        program = json.loads(archive.read("manifest.json"))["programs"][0]
        forward = export.deserialize(bytearray(archive.read(program["graphs"]["forward"])))
    inputs, outputs = program["signature"]["forward"]["inputs"], program["signature"]["forward"]["outputs"]
    is_cache = [slot["is"] == "argument" and slot["name"] == "args[2]" for slot in inputs]
    step = jax.jit(forward.call, donate_argnums=is_cache.index(True))  # so that the cache is written in place
    given = {"args[2]": jnp.zeros(inputs[is_cache.index(True)]["shape"])}
    tokens = [first]
    for place in range(n_tokens):
        given |= {"args[0]": jnp.array([tokens[-1]], jnp.int32), "args[1]": jnp.array([place], jnp.int32)}
        values = step(*(weights[s["weights"]] if s["is"] == "state" else given[s["name"]] for s in inputs))
        found = {slot.get("name") or slot.get("of"): value for slot, value in zip(outputs, values, strict=True)}
        given["args[2]"] = found["args[2]"]
        tokens.append(int(found["result"][0]))
    return tokens


if __name__ == "__main__":
    print(*main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    assert not {"jaxaot", "flax"} & set(sys.modules)
