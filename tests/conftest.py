"""What every test shares: a fresh generator, and rules for the tests that PyTorch decides."""

import gc
import importlib.util
import logging
import os

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None

KEPT = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
"""JAX keeps what it compiles for tests, most of which compile little else: `pytest --cache-clear` forgets it."""


def pytest_addoption(parser):
    parser.addoption("--require-oracle", action="store_true", help="fail where an oracle test is skipped")
    parser.addoption("--compiled-tape", action="store_true", help="run every backward under ja.compiled_autograd")


def pytest_configure(config):
    if config.getoption("--require-oracle") and not HAS_TORCH:
        raise pytest.UsageError("--require-oracle needs torch: pip install '.[oracle]'")
    if hasattr(config, "cache"):  # which `-p no:cacheprovider` switches off
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("jax")))
    for name, value in KEPT.items():
        os.environ.setdefault(name, value)


def pytest_collection_modifyitems(config, items):
    if not HAS_TORCH:
        for item in items:
            if item.get_closest_marker("oracle"):
                item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


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


@pytest.fixture(autouse=True)
def _same_random_numbers():
    """Tests do not depend on what was drawn before them."""
    from jaxaot.facade.generator import manual_seed

    manual_seed(0)


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

    with ja.compiled_autograd():
        yield


@pytest.fixture
def own_kernels(monkeypatch):
    """The test compiles eager kernels of its own, and leaves those of others alone."""
    from jaxaot.facade import dispatch

    for name in ("_kernels", "_grad_kernels", "_write_kernels"):
        monkeypatch.setattr(dispatch, name, {})


@pytest.fixture
def everything_is_large(monkeypatch):
    """The speed passes, the tuner and eager kernels take every value for large, and every product for worth it."""
    from jaxaot.backend.cpu import tune
    from jaxaot.backend.cpu.kernels import hold, select_scatters
    from jaxaot.backend.cpu.products import spread
    from jaxaot.lower import eager_kernel

    monkeypatch.setattr(select_scatters, "MIN_BYTES", 0)
    for module in (hold, tune):
        monkeypatch.setattr(module, "SMALL_BYTES", 0)
    monkeypatch.setattr(eager_kernel, "SMALL_BYTES", -1)
    monkeypatch.setattr(hold, "CACHE_BYTES", 0)
    for name in ("SEED_FLOPS", "FLOPS_PER_BYTE", "FLOPS_PER_EQUATION"):
        monkeypatch.setattr(spread, name, 0)
    monkeypatch.setattr(spread, "MIN_SEEDS", 1)
    monkeypatch.setattr(spread, "SHARED_FLOPS", 1 << 40)
    monkeypatch.setattr(spread, "n_cores", lambda: 2)


@pytest.fixture
def everything_is_cut(monkeypatch):
    """Graphs are cut wherever that leaves less in memory at once, however little they hold, and what can wait does."""
    from jaxaot.backend.cpu.memory import temporaries
    from jaxaot.backend.cpu.memory.sequential import is_free_of_effects
    from jaxaot.backend.cpu.tune import Tuned
    from jaxaot.lower import executable, jit

    for module in (executable, jit):
        monkeypatch.setattr(module, "can_be_cut", is_free_of_effects)
    monkeypatch.setattr(Tuned, "limit_bytes", 16)
    monkeypatch.setattr(temporaries, "_LARGE_BYTES", 0)
    monkeypatch.setattr(temporaries, "_LONG", 1)
