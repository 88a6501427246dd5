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


NAMES = sorted(path.stem for path in (HERE / "four").glob("check_*.py"))


@pytest.mark.parametrize(
    ("name", "which"),
    [*((name, "not slow") for name in NAMES), *(pytest.param(name, "slow", marks=pytest.mark.slow) for name in NAMES)],
)
def test_on_four_devices(name, which):
    options = ("-p", "no:cacheprovider", "-n", "0", "-q", "-m", which)
    done = run(["-m", "pytest", *options, str(HERE / "four" / f"{name}.py")], 1500 if which == "slow" else 500)
    none_of_this_kind = pytest.ExitCode.NO_TESTS_COLLECTED
    assert done.returncode in (0, none_of_this_kind), done.stdout[-6000:] + done.stderr[-2000:]
