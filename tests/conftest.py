"""What every test shares: a fresh generator, and rules for the tests that PyTorch decides."""

import contextlib
import gc
import importlib.util
import logging
import os
import pathlib
import signal
import sys

import pytest

from tests import seeds

if sys.__stdout__ is None:  # it is closed where the tests are started, and pytest would fail before the first of them
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.executable, sys.orig_argv)

try:
    import resource
except ImportError:  # on Windows
    resource = None

HAS_TORCH = importlib.util.find_spec("torch") is not None

KEPT = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
"""JAX keeps what it compiles for tests, most of which compile little else: `pytest --cache-clear` forgets it."""


def pytest_addoption(parser):
    parser.addoption("--require-oracle", action="store_true", help="fail where an oracle test is skipped")
    parser.addoption("--optimized", action="store_true", help="have XLA optimize machine code, as it does for users")
    parser.addoption(
        "--compiled-tape", action="store_true", help="run every backward under ja.compiler.compiled_autograd"
    )


def pytest_configure(config):
    if config.getoption("--require-oracle") and not HAS_TORCH:
        raise pytest.UsageError("--require-oracle needs torch: pip install '.[oracle]'")
    if hasattr(config, "cache"):  # which `-p no:cacheprovider` switches off
        with contextlib.suppress(OSError):  # a checkout that may only be read keeps nothing
            os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("jax")))
    for name, value in KEPT.items():
        os.environ.setdefault(name, value)
    os.environ["JAXAOT_KERNELS_DIR"] = ""  # no test writes into the home of who runs it
    if not config.getoption("--optimized"):
        # machine code of tests runs once: LLVM would take a quarter of the time; `.ci/run` has it optimize once
        os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
        if "codegen_split_count" not in os.environ.get("XLA_FLAGS", ""):
            # else LLVM makes a processor's description for each kernel: a tenth of what a small program costs
            flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_parallel_codegen_split_count=1"
            os.environ["XLA_FLAGS"] = flags.strip()
    seeds.slow_are_made = "not slow" not in config.getoption("markexpr")
    # each process that a test starts would compile the package's sources again, two seconds of a core
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(tryfirst=True)  # before pytest looks which are slow
def pytest_collection_modifyitems(config, items):
    seeds.mark_few(items)
    if not HAS_TORCH:
        for item in items:
            if item.get_closest_marker("oracle"):
                item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()  # what modules make when they are imported stays, and a sixth of the time went into looking at it
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Hundreds of thousands of objects of imported libraries stay: no garbage collection need look at them again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and item.config.getoption("--require-oracle") and item.get_closest_marker("oracle"):
        if hasattr(report, "wasxfail"):
            return
        report.outcome, report.longrepr = "failed", f"{item.nodeid} was skipped: {report.longrepr}"


MOST_RESIDENT_BYTES = 1400 << 20
"""A process of tests that is larger gives freed memory back after a test, and compiled programs after a module."""


def pytest_unconfigure(config):
    """Says what the whole run took: wall time means little on a busy machine."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or resource is None:
        return
    here, others = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(of.ru_utime + of.ru_stime for of in (here, others))
    unit = 1 if sys.platform == "darwin" else 1024  # bytes
    largest = max(here.ru_maxrss, others.ru_maxrss) * unit >> 20
    reporter.write_line(f"{seconds:.0f} s of processor time in all processes, {largest:,} MiB in the largest")


@pytest.fixture(scope="module", autouse=True)
def _programs_are_let_go():
    """Programs of other modules do not fill the memory; few modules compile so much that theirs are let go."""
    yield
    if resident_bytes() > MOST_RESIDENT_BYTES:
        if "tests.source" in sys.modules:
            sys.modules["tests.source"].forget()
        import jax

        from jaxaot.facade.dispatch.operands import clear_kernels
        from jaxaot.facade.kernels.fused_backward import clear_fused

        clear_kernels()
        clear_fused()
        jax.clear_caches()
        gc.collect()
        give_freed_memory_back()


@pytest.fixture(scope="module", autouse=True)
def _settings_stay():
    """A test that leaves a setting of JAX behind changes what others trace: it fails here, and not they there."""
    from jaxaot.lower.cache_key import jax_settings

    before = jax_settings()
    yield
    assert jax_settings() == before


@pytest.fixture(autouse=True)
def _freed_memory_is_given_back():
    """What executables keep of freed memory, 700 MB in one module, is not there beside what others compiled."""
    yield
    if resident_bytes() > MOST_RESIDENT_BYTES:
        give_freed_memory_back()


def give_freed_memory_back() -> None:
    """Returns to the system what this process keeps of freed memory."""
    from jaxaot import settings

    with settings.config(keep_heaps=False):
        pass


def resident_bytes() -> int:
    """Returns how much memory this process has now; 0 where the system does not say."""
    try:
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(autouse=True)
def _same_random_numbers():
    """Tests do not depend on what was drawn before them."""
    from jaxaot.facade.memory.generator import manual_seed

    manual_seed(0)


@pytest.fixture
def interpreted(monkeypatch, request):
    """Graphs run one equation at a time: for tests of what is read of Python, which need no machine code."""
    from jaxaot.lower import backends
    from jaxaot.lower.interpret import Interpreter

    if not request.config.getoption("--optimized"):
        monkeypatch.setitem(backends._backends, "xla", Interpreter)


@pytest.fixture(autouse=True)
def failed_passes(monkeypatch):
    """What is logged of passes that fail, which in tests none may; a test that has one fail empties the list."""
    from jaxaot.passes import attempt

    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    monkeypatch.setattr(attempt, "_said", set())
    log = logging.getLogger("jaxaot.passes")
    log.addHandler(handler)
    yield found
    log.removeHandler(handler)
    assert not found


@pytest.fixture(autouse=True)
def _kernels_for_the_default_settings():
    """Eager kernels look at no settings again, once a test with others is over."""
    from jaxaot import settings

    yield
    if settings.kernels_differ():
        settings._kernels_differ = False
        for forget in settings._when_kernels_differ:
            forget()


@pytest.fixture(autouse=True)
def _compiled_tape(request):
    if not request.config.getoption("--compiled-tape"):
        yield
        return
    import jaxaot as ja

    with ja.compiler.compiled_autograd():
        yield


@pytest.fixture
def optimized(request, monkeypatch):
    """What is compiled in the test is optimized as for users: for tests of what XLA makes of a program."""
    import jax

    monkeypatch.delenv("JAX_DISABLE_MOST_OPTIMIZATIONS", raising=False)  # for processes that it starts
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", not request.config.getoption("--optimized"))


@pytest.fixture
def interruptible():
    """SIGINT interrupts the test and processes that it starts, also in the background, where shells have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def own_kernels(monkeypatch):
    """The test compiles eager kernels of its own, and leaves those of others alone."""
    from jaxaot.facade.deferred import recorded_ops
    from jaxaot.facade.dispatch import dispatch, in_place, operands

    for name in ("KERNELS", "GRAD_KERNELS", "WRITE_KERNELS"):
        kernels = {}
        for module in (dispatch, in_place, operands, recorded_ops):
            monkeypatch.setattr(module, name, kernels, raising=False)


@pytest.fixture
def using_machine():
    """Takes facts of a machine, such as `n_cores=2`, that hold until the end of the test."""
    from jaxaot.backend.cpu import machine

    with contextlib.ExitStack() as stack:
        yield lambda **facts: stack.enter_context(machine.using(**facts))


@pytest.fixture
def everything_is_large(using_machine):
    """The speed passes, the tuner and eager kernels take every value for large, and every product for worth it."""
    using_machine(
        cached_bytes=0, unheld_bytes=0, min_selected_bytes=0, quick_kernel_bytes=-1, n_cores=2
    )  # fmt: skip


@pytest.fixture
def everything_is_cut(monkeypatch, using_machine):
    """Graphs are cut wherever that leaves less in memory at once, however little they hold, and what can wait does."""
    from jaxaot.backend.cpu import run
    from jaxaot.backend.cpu.memory.sequential import is_free_of_effects
    from jaxaot.backend.cpu.tune import Tuned

    monkeypatch.setattr(run, "can_be_cut", is_free_of_effects)
    monkeypatch.setattr(Tuned, "limit_bytes", 16)
    using_machine(late_bytes=0, late_kernels=1)
