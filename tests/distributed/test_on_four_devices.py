"""Runs the checks of `four/` in a process with four devices, and those of two processes."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


def run(args, timeout_seconds, **env):
    """Returns what a process of Python did that sees this checkout and four devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    paths = os.pathsep.join(filter(None, [str(HERE.parents[1]), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": paths, **env}
    return subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True, timeout=timeout_seconds)


CHECKS = sorted(map(str, (HERE / "four").glob("check_*.py")))


@pytest.mark.parametrize("which", ["not slow", pytest.param("slow", marks=pytest.mark.slow)])
def test_on_four_devices(which):
    # one process for all: each would import JAX and compile the same small kernels again
    options = ("-p", "no:cacheprovider", "-n", "0", "-q", "-m", which)
    done = run(["-m", "pytest", *options, *CHECKS], 10_000 if which == "slow" else 2_000)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
