"""Warm starts: what is kept and found again, what makes another key, damage, owners, many processes."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors, flow
from jaxaot.backend.cpu.machine import using
from jaxaot.ir.rewrite import inline
from jaxaot.lower.warm.digest import NotCacheable, graph_digest, surroundings
from jaxaot.lower.warm.entry import decode, encode
from jaxaot.lower.warm.folder import Folder
from jaxaot.partition.policies import Choice
from jaxaot.passes.pipeline import register_pass
from tests.laws import graphs
from tests.seeds import seeds, some

ROOT = pathlib.Path(ja.__file__).parents[1]
X = jax.device_put(np.linspace(-1, 1, 1024 * 64, dtype=np.float32).reshape(1024, 64))
W = jax.device_put(np.eye(64, dtype=np.float32) + np.float32(0.1))
ON_ONE_CORE = {"n_cores": 1, "cached_bytes": 0}
IN_SHARDS = {
    "n_cores": 2, "cached_bytes": 0, "min_shard_flops": 0, "max_handed_over": 1e9, "min_sharded_part": 0.5,
    "min_shard_products": 1,
}  # fmt: skip
IN_PARTS = {"n_cores": 1, "cached_bytes": 0, "heap_bytes": 1 << 20, "heap_room_bytes": 1 << 10}


@pytest.fixture
def folder(tmp_path):
    """A directory for entries; JAX's own cache is as before afterwards."""
    before = {name: getattr(jax.config, name) for name in SETTINGS}
    yield tmp_path / "warm"
    for name, value in before.items():
        jax.config.update(name, value)


SETTINGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


def outcomes(report):
    return [event.outcome for event in report]


class Joints:
    """Counts the joint graphs that are made."""

    def __init__(self, monkeypatch):
        self.n = 0
        build = flow.build_joint

        def counted(*args, **kwargs):
            self.n += 1
            return build(*args, **kwargs)

        monkeypatch.setattr(flow, "build_joint", counted)


def loss_and_gradient(fn, x=X, w=W, machine=ON_ONE_CORE, settings=None, **options):
    """The gradient of a function of two tensors by the second one, the function, and its loss."""
    compiled, w = ja.compile(fn, **options), ja.interop.from_jax(w).requires_grad_()
    with using(**machine), ja.config(**(settings or {})):
        loss = compiled(ja.interop.from_jax(x), w)
        loss.backward()
    return w.grad.jax(), compiled, loss.item()


def make_loss(factor=1.0):
    """A loss whose relu and gelu have rules of their own."""

    def loss(x, w):
        for _ in range(2):
            x = ja.nn.functional.gelu((x @ w).relu()) * factor
        return x.tanh().square().sum()

    return loss


def run(fn, x=X, w=W, machine=ON_ONE_CORE, **settings):
    """The gradient of a function compiled anew, and what became of its joint graph."""
    gradient, compiled, _ = loss_and_gradient(fn, x, w, machine, settings)
    return gradient, compiled.explain_cache()


@pytest.mark.slow
def test_modules_find_theirs(folder):
    def outcome():
        ja.manual_seed(0)
        model = ja.nn.Linear(32, 32)
        optimizer = ja.optim.SGD(model.parameters(), lr=0.001)
        loss_of = ja.compile(lambda x: model(x).tanh().square().sum())
        losses = []
        with using(**ON_ONE_CORE), ja.config(cache_dir=folder):
            for _ in range(3):
                optimizer.zero_grad()
                loss = loss_of(ja.ones(4, 32))
                loss.backward()
                optimizer.step()
                losses.append(float(loss))
        return losses, loss_of.explain_cache()

    losses, report = outcome()
    again, second = outcome()
    assert losses == again and losses[2] < losses[0]
    assert outcomes(report)[0] == "miss" and set(outcomes(second)) == {"hit"}


def test_gradients_outside_of_the_compiled_function(folder):
    def outcome():
        w = ja.interop.from_jax(W).requires_grad_()
        loss = ja.compile(lambda x: (x @ w).tanh().sum())
        with using(**ON_ONE_CORE), ja.config(cache_dir=folder):
            loss(ja.interop.from_jax(X)).backward()
        return w.grad.jax(), loss.explain_cache()

    grad, _ = outcome()
    again, report = outcome()
    np.testing.assert_array_equal(grad, again)
    assert outcomes(report) == ["hit"]


@pytest.mark.few(1)
@pytest.mark.parametrize("machine", some([{"cached_bytes": 1 << 30}, ON_ONE_CORE], 1))
def test_a_hit_makes_no_joint_graph_and_cuts_nothing(folder, monkeypatch, machine):
    cached = {"cache_dir": folder}
    first, compiled, loss = loss_and_gradient(make_loss(), machine=machine, settings=cached)
    assert outcomes(compiled.explain_cache())[0] == "miss"
    joints = Joints(monkeypatch)
    again, compiled, same = loss_and_gradient(make_loss(), machine=machine, settings=cached)
    assert set(outcomes(compiled.explain_cache())) == {"hit"} and joints.n == 0
    np.testing.assert_array_equal(first, again)
    assert loss == same
    plan = compiled.programs[0].partition.plan
    assert [value.name for value in plan.saved] == [v.name for v in compiled.programs[0].whole_partition.plan.saved]
    assert joints.n == 1, "its equations are made where someone asks for them"
    np.testing.assert_allclose(again, loss_and_gradient(make_loss())[0], rtol=1e-4, atol=1e-5)


def test_a_cut_that_was_found_can_be_differentiated_again_and_explained(folder):
    def outcome():
        x, cube = ja.tensor([1.0, 2.0], requires_grad=True), ja.compile(lambda x: (x * x * x).sum())
        with ja.config(cache_dir=folder):
            (gradient,) = ja.autograd.grad(cube(x), x, create_graph=True)
            gradient.sum().backward()
            text = str(cube.explain(x))
        return x.grad.tolist(), text, outcomes(cube.explain_cache())

    first, again = outcome(), outcome()
    assert first[0] == again[0] == [6.0, 12.0] and first[1] == again[1]
    assert (first[2], again[2]) == (["miss"], ["hit"])


def test_writes_views_and_state_of_a_cut_that_was_found(folder):
    def outcome():
        w, cache = ja.interop.from_jax(W).requires_grad_(), ja.zeros(1024, 64)

        @ja.compile
        def step(x):
            y = (x @ w).relu()
            cache[1:].add_(y[:-1].detach())
            return y.sum(), cache[0]

        with using(**ON_ONE_CORE), ja.config(cache_dir=folder):
            for _ in range(2):
                loss, row = step(ja.interop.from_jax(X))
                loss.backward()
        row.add_(1)
        return w.grad.jax(), cache.jax(), step.explain_cache()

    first, again = outcome(), outcome()
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert "miss" in outcomes(first[2]) and set(outcomes(again[2])) == {"hit"}


@pytest.mark.slow
def test_what_a_cut_depends_on_makes_another_key(folder):
    def reason(factor=1.0, settings=(), **options):
        given = {"cache_dir": folder, **dict(settings)}
        return loss_and_gradient(make_loss(factor), settings=given, **options)[1].explain_cache()[0].reason

    assert "no graph" in reason() and reason() == ""
    assert reason(2.0).endswith("differs in: equations")
    assert reason(memory_budget=0.3).endswith("differs in: config")
    assert reason(policy="save_all").endswith("differs in: config")
    assert reason(settings={"passes": ("cse",)}).endswith("differs in: passes")
    assert reason(settings={"recompute_collectives": True}).endswith("differs in: config")
    assert "<lambda>` is not jaxaot's own and has no `cache_key`" in reason(policy=lambda eqn: Choice.EITHER)


def test_a_rule_of_the_users_is_part_of_what_a_function_computes(folder):
    def with_rule(scale):
        @jax.custom_jvp
        def f(x):
            return x * x

        f.defjvp(lambda primals, tangents: (f(primals[0]), scale * tangents[0]))  # calls itself
        return ja.compile(lambda x: ja.interop.from_jax(f(x.jax())).sum()), f

    def digest(scale):
        _, f = with_rule(scale)
        return graph_digest(jax.make_jaxpr(lambda x: f(x).sum())(jnp.ones(3)))

    assert digest(2.0) == digest(2.0) != digest(3.0)


@pytest.mark.slow
def test_hooks_count_by_the_hash_that_users_give_them(folder):
    def outcome(scale, text=None):
        pack, unpack = lambda x: x * scale, lambda x: x / scale
        if text is not None:
            pack.user_cache_hash = unpack.user_cache_hash = text
        with ja.autograd.graph.saved_tensors_hooks(pack, unpack):
            return loss_and_gradient(make_loss(), settings={"cache_dir": folder})[1].explain_cache()[0]

    assert "have no `user_cache_hash`" in outcome(2.0).reason
    assert outcome(2.0, "double").outcome == "miss" and outcome(2.0, "double").outcome == "hit"
    assert outcome(4.0, "four times").reason.endswith("differs in: hooks")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("change", some(["plan", "graphs", "in_roles", "tape"], 1))
def test_cuts_that_say_something_else_only_compile(folder, change):
    first, _, _ = loss_and_gradient(make_loss(), settings={"cache_dir": folder})
    (file,) = [f for f in folder.glob("*.warm") if "plan" in decode(f.read_bytes()).manifest]
    manifest, blobs = decode(file.read_bytes())
    file.write_bytes(encode({**manifest, change: [] if change != "graphs" else {}}, blobs))
    os.chmod(file, 0o600)
    again, compiled, _ = loss_and_gradient(make_loss(), settings={"cache_dir": folder})
    assert "cannot be read" in compiled.explain_cache()[0].reason
    np.testing.assert_array_equal(first, again)


SCALE = 2.0


@pytest.mark.slow
def test_what_the_graph_depends_on_makes_another_key(folder, monkeypatch):
    def reads(factor):
        def loss(x, w):
            return (x @ w).tanh().sum() * factor * SCALE

        return loss

    def gradient(fn):
        return loss_and_gradient(fn)[0]

    _, report = run(reads(1.0), cache_dir=folder)
    result, report = run(reads(3.0), cache_dir=folder)  # another closure
    assert outcomes(report) == ["miss"] and "differs in: equations" in report[0].reason
    np.testing.assert_allclose(result, gradient(reads(3.0)), rtol=1e-5)
    monkeypatch.setitem(globals(), "SCALE", 5.0)  # another global
    result, report = run(reads(1.0), cache_dir=folder)
    assert outcomes(report) == ["miss"]
    np.testing.assert_allclose(result, gradient(reads(1.0)), rtol=1e-5)

    def loss(x, w):  # other source
        return (x @ w).tanh().sum() * 1.0 / 5.0

    assert outcomes(run(loss, cache_dir=folder)[1]) == ["miss"]
    assert outcomes(run(reads(1.0), cache_dir=folder)[1]) == ["hit"]


@pytest.mark.slow
def test_what_else_the_passes_depend_on_makes_another_key(folder, monkeypatch):
    run(make_loss(), cache_dir=folder)

    def reason(machine=ON_ONE_CORE, **settings):
        (event,) = run(make_loss(), machine=machine, cache_dir=folder, **settings)[1]
        return event.reason

    assert "differs in: config, passes" in reason(exact_rounding=True).replace("passes, config", "config, passes")
    assert reason(passes=("fold_transposes",)).endswith("differs in: passes")
    assert reason({**ON_ONE_CORE, "max_thin_columns": 3}).endswith("differs in: machine")
    with jax.default_matmul_precision("highest"):
        assert "settings" in reason()
    monkeypatch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", "") + " ")
    assert reason().endswith("differs in: flags")
    monkeypatch.undo()
    monkeypatch.setattr("jaxaot.lower.warm.store.surroundings", lambda: (("jaxaot", "another"),))
    assert "jaxaot" in reason()
    assert "of these types" in run(make_loss(), X[:512], cache_dir=folder)[1][0].reason


@pytest.mark.slow
def test_another_version_or_processor_is_a_miss_that_says_so(folder, monkeypatch):
    def reasons():
        compiled = loss_and_gradient(make_loss(), settings={"cache_dir": folder})[1]
        return [event.reason for event in compiled.explain_cache()]

    reasons()
    assert reasons() == [""]
    monkeypatch.setattr(jax, "__version__", "0.99.0")
    assert all(reason.endswith("differs in: versions") for reason in reasons())
    monkeypatch.undo()
    assert reasons() == [""]
    here = dict(surroundings())
    other = tuple({**here, "processor": "another 1234 of x86_64"}.items())
    monkeypatch.setattr("jaxaot.lower.warm.store.surroundings", lambda: other)
    assert all(reason.endswith("differs in: processor") for reason in reasons())


def test_constants_and_parameters_count_by_content():
    def digest(table, value):
        fn = lambda x: x[table] + jnp.asarray(value) * jax.nn.relu(x).sum()
        return graph_digest(inline(jax.make_jaxpr(fn)(jnp.ones(9)), also_custom=True))

    table = np.arange(2000) % 9
    other = table.copy()
    other[1000] = 3  # in the middle, which a printed array leaves out
    value = np.float32(2)
    assert digest(table, value) == digest(table.copy(), value)
    assert len({digest(table, value), digest(other, value), digest(table, np.float32(2.0000002))}) == 3

    def of_python(factor):
        host = lambda x: np.asarray(x) * factor
        fn = lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((3,), "float32"), x)
        return jax.make_jaxpr(fn)(jnp.ones(3))

    with pytest.raises(NotCacheable, match="of `pure_callback` is"):
        graph_digest(of_python(2))


@pytest.mark.slow
def test_what_cannot_be_kept_is_counted_and_may_be_refused(folder):
    def with_effects(x, w):
        jax.debug.callback(lambda v: None, x.jax()[0, 0])
        return (x @ w).sum()

    _, report = run(with_effects, cache_dir=folder)
    assert outcomes(report) == ["bypass"] and "side effects" in report[0].reason
    with pytest.raises(errors.CacheBypassError, match=r"`with_effects` cannot be kept .*: it has side"):
        run(with_effects, cache_dir=folder, strict_cache=True)

    def pure(x, w):
        kind = jax.ShapeDtypeStruct(x.shape, "float32")
        return (ja.interop.from_jax(jax.pure_callback(lambda v: np.asarray(v) * 2, kind, x.jax())) @ w).sum()

    assert outcomes(run(pure, cache_dir=folder)[1]) == ["bypass"]
    for machine in (IN_PARTS, IN_SHARDS):
        result, report = run(make_loss(), machine=machine, cache_dir=folder)
        assert outcomes(report) == ["bypass"] and "runs as several programs" in report[0].reason
        np.testing.assert_allclose(result, loss_and_gradient(make_loss())[0], rtol=1e-4, atol=1e-5)
    assert list(folder.glob("*.warm")) == []


@pytest.mark.slow
def test_passes_of_the_user_need_a_text_that_names_them(folder):
    def fold_transposes(closed):
        return closed

    from jaxaot.passes.pipeline import _passes

    own = _passes["fold_transposes"]
    register_pass("fold_transposes", fold_transposes)
    try:
        _, report = run(make_loss(), cache_dir=folder)
        assert "fold_transposes` is not jaxaot's own" in report[0].reason
        fold_transposes.cache_key = "version 1"
        assert outcomes(run(make_loss(), cache_dir=folder)[1]) == ["miss"]
        assert outcomes(run(make_loss(), cache_dir=folder)[1]) == ["hit"]
        fold_transposes.cache_key = "version 2"
        assert run(make_loss(), cache_dir=folder)[1][0].reason.endswith("differs in: passes")
    finally:
        register_pass("fold_transposes", own)


def damaged(content, rng):
    """An entry after some accident."""
    content, place = bytearray(content), rng.randrange(len(content))
    match rng.randrange(5):
        case 0:
            return bytes(content[:place])
        case 1:
            content[place] ^= 1 << rng.randrange(8)
        case 2:
            content[place:place] = rng.randbytes(rng.randint(1, 9))
        case 3:
            return bytes(content) + b"more"
        case 4:
            content[place : place + 16] = bytes(16)
    return bytes(content)


@pytest.mark.slow
def test_damaged_entries_are_none(folder):
    run(make_loss(), cache_dir=folder)
    (file,) = folder.glob("*.warm")
    content, rng = file.read_bytes(), random.Random(0)
    assert decode(content) is not None
    for _ in range(2000):
        other = damaged(content, rng)
        assert other == content or decode(other) is None
    file.write_bytes(damaged(content[:-9], rng))
    os.chmod(file, 0o600)
    result, report = run(make_loss(), cache_dir=folder)
    assert report[0].reason == "its entry is damaged"
    np.testing.assert_allclose(result, loss_and_gradient(make_loss())[0], rtol=1e-4, atol=1e-5)
    assert outcomes(run(make_loss(), cache_dir=folder)[1]) == ["hit"]


@pytest.mark.few(5)
@pytest.mark.parametrize("change", ["format", "key", "how", "blob", "types", "missing"])
def test_entries_that_say_something_else_only_compile(folder, change):
    run(make_loss(), cache_dir=folder)
    (file,) = folder.glob("*.warm")
    manifest, blobs = decode(file.read_bytes())
    other = jax.export.export(jax.jit(lambda x: x))(jax.ShapeDtypeStruct((3,), "float32")).serialize()
    changes = {
        "format": ({**manifest, "format": 99}, blobs),
        "key": ({**manifest, "key": manifest["key"][1:]}, blobs),
        "how": ({**manifest, "graphs": {"forward": {**manifest["graphs"]["forward"], "how": "BY_MAGIC"}}}, blobs),
        "blob": (manifest, [b"nothing", blobs[1]]),
        "types": (manifest, [bytes(other), blobs[1]]),
        "missing": ({key: value for key, value in manifest.items() if key != "tape"}, blobs),
    }
    file.write_bytes(encode(*changes[change]))
    os.chmod(file, 0o600)
    result, report = run(make_loss(), cache_dir=folder)
    assert outcomes(report) == ["miss"] and "cannot be read" in report[0].reason
    np.testing.assert_allclose(result, loss_and_gradient(make_loss())[0], rtol=1e-4, atol=1e-5)


def test_nothing_is_pickled(folder):
    run(make_loss(), cache_dir=folder)
    (file,) = folder.glob("*.warm")
    content = file.read_bytes()
    length = int.from_bytes(content[40:48], "little")
    assert json.loads(content[48 : 48 + length])["graphs"]["forward"]["how"] == "PROGRAM"
    sources = "".join(path.read_text() for path in (ROOT / "jaxaot" / "lower" / "warm").glob("*.py"))
    assert "import pickle" not in sources and "eval(" not in sources


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of Unix")
def test_directories_that_others_may_write_to_are_refused(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    os.chmod(folder, 0o770)
    with pytest.raises(errors.CacheFolderError, match=r"others may write to it, its mode is 770(.|\n)*chmod 700"):
        Folder(folder, 1 << 20)
    os.chmod(folder, 0o700)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(errors.CacheFolderError, match=f"it belongs to the user {me}"):
        Folder(folder, 1 << 20)
    monkeypatch.undo()
    link = folder.parent / "link"
    link.symlink_to(folder)
    with pytest.raises(errors.CacheFolderError, match="no directory"):
        Folder(link, 1 << 20)
    with pytest.raises(errors.CacheFolderError, match="cannot be used"):
        Folder("/proc/nowhere/at/all", 1 << 20)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of Unix")
def test_files_are_the_owners(folder):
    kept = Folder(folder, 1 << 20)
    kept.write("a.warm", b"content")
    assert os.stat(folder / "a.warm").st_mode & 0o777 == 0o600
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert kept.read("a.warm") == b"content"
    os.chmod(folder / "a.warm", 0o622)
    assert kept.read("a.warm") is None
    (folder / "b.warm").symlink_to("/etc/hostname")
    assert kept.read("b.warm") is None and kept.read("c.warm") is None


def test_what_was_used_least_recently_goes(folder):
    kept = Folder(folder, 1000)
    for i, name in enumerate("abc"):
        kept.write(f"{name}.warm", bytes(300))
        os.utime(folder / f"{name}.warm", (1000 + i, 1000 + i))
    kept.read("a.warm")  # used now
    kept.write("d.warm", bytes(300))
    assert kept.entries() == ["a.warm", "c.warm", "d.warm"]
    kept.write("e.warm", bytes(2000))
    assert sum(size for _, size, _ in kept.files()) <= 1000


def test_settings_change_no_program(folder):
    w = ja.interop.from_jax(W).requires_grad_()
    loss = ja.compile(lambda x: (x @ w).tanh().sum())
    with using(**ON_ONE_CORE):
        loss(ja.interop.from_jax(X))
        with ja.config(cache_dir=str(folder)):
            loss(ja.interop.from_jax(X))
    assert loss.explain_cache() == () and "no joint graph was looked for" in str(loss.explain_cache())


def test_a_cache_moves_as_its_directory(folder, tmp_path):
    run(make_loss(), cache_dir=folder)
    other = shutil.copytree(folder, tmp_path / "other")
    assert outcomes(run(make_loss(), cache_dir=other)[1]) == ["hit"]


PROCESS = """
    import sys, jaxaot as ja
    from jaxaot.backend.cpu.machine import using

    w = ja.ones(32, 32, requires_grad=True)
    loss = ja.compile(lambda x: (x @ w).tanh().sum())
    with using(n_cores=1, cached_bytes=0):
        result = loss(ja.full((64, 32), 0.01))
        result.backward()
    print(float(result), *(event.outcome for event in loss.explain_cache()))
    print(*("scipy.linalg" in sys.modules, w.grad.sum().item() > 0))
"""


@pytest.mark.parametrize("n_at_once", some([1, 2], 1))
def test_processes_on_an_empty_directory(tmp_path, n_at_once):
    environment = {**os.environ, "JAXAOT_CACHE_DIR": str(tmp_path / "warm"), "PYTHONPATH": str(ROOT)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)  # a user's own, as CI's, stays the place of executables

    def start():
        code = textwrap.dedent(PROCESS)
        return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=-1, stderr=-1, text=True)

    def ended(process):
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out.split()

    first, *others = [ended(process) for process in [start() for _ in range(n_at_once)]]
    assert all(other[0] == first[0] for other in others)
    assert {outcome for found in (first, *others) for outcome in found[1:2]} <= {"miss", "hit"}
    assert len(list((tmp_path / "warm").glob("*.warm"))) == 1
    assert not list((tmp_path / "warm").glob(".writing*"))
    assert ended(start()) == [first[0], "hit", "False", "True"]
    assert any((tmp_path / "warm" / "executables").iterdir()), "JAX keeps what XLA compiled"


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", seeds(500, 4))
def test_random_graphs_are_found_again(seed, folder):
    args, program = graphs.inputs(seed), graphs.program(seed, 6)
    trained = [i for i, x in enumerate(args) if jnp.issubdtype(jnp.result_type(x), jnp.inexact)]
    found = []
    with using(**ON_ONE_CORE), ja.config(cache_dir=folder):
        for _ in range(2):
            tensors = [ja.interop.from_jax(jnp.asarray(x)).requires_grad_(i in trained) for i, x in enumerate(args)]
            results = jax.tree.leaves((compiled := ja.compile(ja.autograd.jax_function(program)))(*tensors))
            flowing = [r.sum() for r in results if r.requires_grad]
            if not flowing:
                assert compiled.explain_cache() == ()
                return
            sum(flowing).backward()
            gradients = [tensors[i].grad for i in trained]
            found.append([np.asarray(x.jax()) for x in (*results, *gradients) if x is not None])
            outcome = outcomes(compiled.explain_cache())
    assert outcome == ["hit"]
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
