"""Many processes: the launcher, and one program over several of them."""

import os
import re
import runpy
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from jaxaot.distributed import launch
from tests.distributed.test_on_four_devices import HERE, run


def losses_of(text):
    """Returns the losses that each process printed."""
    return [[float(x) for x in line.split()] for line in re.findall(r"losses ([\d. ]+) total", text)]


@pytest.mark.parametrize(
    ("script", "n"),
    [("training.py", 2), pytest.param("gpt_training.py", 4, marks=pytest.mark.slow)],
)
def test_processes_train_as_one_device(script, n, capsys):
    path = str(HERE / "many" / script)
    done = run(["-m", "jaxaot.distributed.launch", "-n", str(n), path], 2000, XLA_FLAGS="")  # on a busy machine
    assert done.returncode == 0, done.stdout + done.stderr
    runpy.run_path(path)
    found, (right,) = losses_of(done.stdout), losses_of(capsys.readouterr().out)
    assert len(found) == n and right[-1] < right[0], done.stdout
    for losses in found:
        np.testing.assert_allclose(losses, right, rtol=1e-5)
    if script == "training.py":
        assert done.stdout.count("total 6.0 devices 2") == 2  # of parts that each process made


def launched(*hows):
    """Returns code that launches `failing.py` without `jax.distributed`, which takes longer to start than the rest."""
    return f"""
import sys
from jaxaot.distributed import launch
start = launch.subprocess.Popen
launch.subprocess.Popen = lambda command, **options: start([sys.executable, *command[4:]], **options)
options = ["-n", "3", "--grace-seconds", "2", {str(HERE / "many" / "failing.py")!r}]
status = [launch.main([*options, how]) for how in {hows!r}]
print(*status)
sys.exit(status[-1])
"""


@pytest.mark.slow
def test_a_process_that_ends_ends_the_others():
    begin = time.monotonic()
    done = run(["-c", launched("exits", "killed")], 100)
    assert done.returncode == 137 and "3 137" in done.stdout, done.stderr
    assert time.monotonic() - begin < 90  # they sleep for 600 seconds
    for words in ("process 1 exited with status 3", "process 1 was ended by SIGKILL"):
        assert words in done.stderr
    assert done.stderr.count("ending the others, 0, 2.") == 2


@pytest.mark.slow
def test_a_launcher_that_is_ended_ends_its_processes():
    paths = os.pathsep.join(filter(None, [str(HERE.parents[1]), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": paths}
    launcher = subprocess.Popen([sys.executable, "-c", launched("waits")], env=env, stdout=subprocess.PIPE, text=True)
    pids = [int(launcher.stdout.readline().split()[-1]) for _ in range(3)]
    launcher.terminate()
    assert launcher.wait() == 128 + signal.SIGTERM
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_a_process_that_never_comes_is_not_waited_for():
    settings = {"RANK": "0", "WORLD_SIZE": "2", "JAXAOT_COORDINATOR": f"127.0.0.1:{launch._free_port()}"}
    settings |= {"JAXAOT_LOCAL_DEVICES": "1", "JAXAOT_START_SECONDS": "2", "XLA_FLAGS": ""}
    done = run(["-c", "from jaxaot.distributed import launch; launch.initialize()"], 100, **settings)
    assert done.returncode != 0 and "DEADLINE_EXCEEDED" in done.stdout + done.stderr


def test_bad_arguments(capsys):
    with pytest.raises(SystemExit):
        launch.main(["-n", "0", "script.py"])
    assert "there is at least one process" in capsys.readouterr().err
