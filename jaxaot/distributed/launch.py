"""Starts one program in several processes: `python -m jaxaot.distributed.launch -n 4 script.py [arguments]`.

Each process runs the script as `__main__`, after `jax.distributed.initialize`; on CPU they talk by gloo. When one of
them fails, is killed or never comes, the launcher ends the others, says which it was, and exits with its status. When
the launcher is asked to end, it ends them all.
"""

from __future__ import annotations

import argparse
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import jax

_RANK, _WORLD, _ADDRESS, _DEVICES = "RANK", "WORLD_SIZE", "JAXAOT_COORDINATOR", "JAXAOT_LOCAL_DEVICES"
_START_SECONDS = "JAXAOT_START_SECONDS"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: that of the first process that failed, 128 + n if a signal n ended it, or 0."""
    options = _parser().parse_args(arguments)
    if options.processes < 1 or options.devices < 1:
        _parser().error("there is at least one process, with at least one device: `-n 4`")
    address = options.coordinator or f"127.0.0.1:{_free_port()}"
    command = [sys.executable, "-m", "jaxaot.distributed.launch", "--is-worker", options.script, *options.arguments]
    workers: list[subprocess.Popen[str]] = []
    copies: list[threading.Thread] = []
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminated) if is_main else None
    try:
        for rank in range(options.processes):
            env = {
                **os.environ,
                _RANK: str(rank),
                _WORLD: str(options.processes),
                _ADDRESS: address,
                _DEVICES: str(options.devices),
                _START_SECONDS: str(options.start_seconds),
            }
            worker = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            workers.append(worker)
            copies.append(threading.Thread(target=_copy, args=(rank, worker.stdout), daemon=True))
            copies[-1].start()
        return _watch(workers, options.grace_seconds)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except _Terminated:
        return 128 + signal.SIGTERM
    finally:
        _end(workers, options.grace_seconds)
        for copy in copies:  # the last lines that they printed
            copy.join(options.grace_seconds)
        if is_main:
            signal.signal(signal.SIGTERM, before)


class _Terminated(BaseException):
    """The launcher itself was asked to end."""


def _terminated(number: int, frame: object) -> None:
    raise _Terminated


def _parser() -> argparse.ArgumentParser:
    about = "Starts one program in several processes, and ends them all when one fails."
    parser = argparse.ArgumentParser("python -m jaxaot.distributed.launch", description=about)
    parser.add_argument("-n", "--processes", type=int, default=2, help="how many processes")
    parser.add_argument("-d", "--devices", type=int, default=1, help="devices of each process, on CPU")
    parser.add_argument("--coordinator", help="address:port of the first process; by default a free port here")
    parser.add_argument("--start-seconds", type=int, default=60, help="how long processes wait for one another")
    parser.add_argument("--grace-seconds", type=float, default=5.0, help="time to end before a process is killed")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _copy(rank: int, stream: Any) -> None:
    """Copies what a process prints, each line with its rank."""
    for line in stream:
        sys.stdout.write(f"[{rank}] {line}")
        sys.stdout.flush()


def _watch(workers: Sequence[subprocess.Popen[str]], grace_seconds: float) -> int:
    """Returns the status of the first process that fails, once all have ended."""
    while True:
        statuses = [worker.poll() for worker in workers]
        failed = next((rank for rank, status in enumerate(statuses) if status), None)
        if failed is not None:
            status = statuses[failed]
            assert status is not None
            how = f"exited with status {status}" if status > 0 else f"was ended by {signal.Signals(-status).name}"
            others = [rank for rank, other in enumerate(statuses) if other is None]
            print(f"jaxaot.distributed.launch: process {failed} {how}; ending {_listed(others)}.", file=sys.stderr)
            _end(workers, grace_seconds)
            return status if status > 0 else 128 - status
        if all(status == 0 for status in statuses):
            return 0
        time.sleep(0.05)


def _listed(ranks: Sequence[int]) -> str:
    return f"the others, {', '.join(map(str, ranks))}" if ranks else "no others, all have ended"


def _end(workers: Sequence[subprocess.Popen[str]], grace_seconds: float) -> None:
    """Ends processes: asks first, and kills those that are still there after a while."""
    for worker in workers:
        if worker.poll() is None:
            worker.terminate()
    deadline = time.monotonic() + grace_seconds
    for worker in workers:
        try:
            worker.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def initialize() -> None:
    """Joins the processes that the launcher started; does nothing in a process that it did not start.

    `python -m jaxaot.distributed.launch` does this for the script that it starts.
    """
    if _ADDRESS not in os.environ:
        return
    platforms = os.environ.get("JAX_PLATFORMS", "").split(",")
    if platforms[0] in ("", "cpu"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    if platforms[0] == "cpu":
        jax.config.update("jax_num_cpu_devices", int(os.environ[_DEVICES]))
    rank, world = int(os.environ[_RANK]), int(os.environ[_WORLD])
    seconds = int(os.environ.get(_START_SECONDS, "60"))
    jax.distributed.initialize(os.environ[_ADDRESS], world, rank, initialization_timeout=seconds)


def _work(script: str, arguments: Sequence[str]) -> None:
    initialize()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--is-worker"]:
        _work(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main())
