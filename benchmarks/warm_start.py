"""CPU seconds from the start of a process to the end of its first training step, cold and with a warm cache.

    python -m benchmarks.warm_start [--layers 4 12] [--runs 3]

`jax.jit` has JAX's persistent cache, ours `cache_dir`, which sets the same one. Each number is the least of some
processes; those of the contestants are interleaved. A second cold start fills nothing: each has an empty directory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

STEP = """
import sys
kind, n_layers, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
import jax
if kind == "jax.jit":
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
else:
    import jaxaot as ja
    ja.config.set(cache_dir=folder)
from benchmarks.models import gpt
model = gpt(n_layers)

def step(parameters, *data):
    loss, gradients = jax.value_and_grad(model.loss)(parameters, *data)
    return loss, jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradients)

if kind == "ja.compile":
    compiled = ja.compile(lambda *args: step(*args))
    result = compiled(model.parameters, *model.data)
else:
    compiled = (jax.jit if kind == "jax.jit" else ja.jit)(step)
    result = compiled(model.parameters, *model.data)
jax.block_until_ready(jax.tree.leaves(result))
"""


def start(kind: str, n_layers: int, folder: str) -> float:
    """Returns the CPU seconds of a process, all its threads, that takes one step."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", STEP, kind, str(n_layers), folder], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 12])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
    kinds = ("jax.jit", "ja.jit", "ja.compile")
    for n_layers in options.layers:
        with tempfile.TemporaryDirectory() as root:
            folders = {kind: os.path.join(root, kind) for kind in kinds}
            cold = {kind: start(kind, n_layers, folder) for kind, folder in folders.items()}
            rounds = [{kind: start(kind, n_layers, folders[kind]) for kind in kinds} for _ in range(options.runs)]
        warm = {kind: min(one[kind] for one in rounds) for kind in kinds}
        print(f"GPT, {n_layers} layers: CPU seconds from the start of the process to the end of the first step")
        for kind in kinds:
            ratios = (
                f"{warm[kind] / warm['jax.jit']:.2f} of jax.jit warm, {warm[kind] / cold[kind]:.2f} of its own cold"
            )
            print(f"  {kind:10}  cold {cold[kind]:6.2f}  warm {warm[kind]:6.2f}  {ratios}", flush=True)


if __name__ == "__main__":
    main()
