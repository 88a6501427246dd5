"""Files that are damaged, foreign, too large or of a later format are refused in words; nothing of them is executed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import zipfile
from typing import get_args

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.archive import codec, readers, references, state
from jaxaot.archive.container import FORMAT
from jaxaot.archive.graphs import program_from_bytes
from jaxaot.archive.kernels import refusals
from jaxaot.plan import alias, call, guards, members, rng, saved, world
from jaxaot.plan import cells as places
from jaxaot.plan import number_program as numbers
from tests.archive import damage
from tests.cases import each

OLD = pathlib.Path(__file__).parents[1] / "data" / "format1.jaxaot"


def fn(x, cache):
    cache[1:].add_(x[0, 1:])
    return x.sum(), cache[0]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The bytes of an archive with state, gradients, a view among its results and a number."""
    model = ja.nn.Sequential(ja.nn.Linear(3, 2), ja.nn.Dropout(0.5))
    path = tmp_path_factory.mktemp("archive") / "f.jaxaot"
    ja.export(lambda x, cache, n: (model(x) * n, *fn(x, cache)), ja.ones(2, 3), ja.zeros(3), 2.0).save(path)
    return path.read_bytes()


def load(content: bytes, folder: pathlib.Path):
    path = folder / "damaged.jaxaot"
    path.write_bytes(content)
    return ja.load(path)


def check_damage(file: bytes, folder: pathlib.Path, seeds: range) -> None:
    """Fails unless each damaged file is refused, or is the archive after all."""
    for seed in seeds:
        content = damage.damaged(file, random.Random(seed))
        try:
            loaded = load(content, folder)
        except ja.errors.ArchiveError as error:
            assert "damaged.jaxaot" in str(error), seed
        else:  # what was changed is no part: a date, a flag, bytes between parts
            assert load(file, folder).manifest == loaded.manifest, seed


def test_damaged_files(file, tmp_path):
    check_damage(file, tmp_path, range(100))


@pytest.mark.slow
def test_ten_thousand_damaged_files(file, tmp_path):
    check_damage(file, tmp_path, range(100, 10_000))


def test_every_cut(file, tmp_path):
    with pytest.raises(ja.errors.SavedFileError):  # of no kind
        load(file[:3], tmp_path)
    for n in [*range(7, 200, 7), *range(200, len(file), len(file) // 60)]:
        with pytest.raises(ja.errors.ArchiveError):
            load(file[:n], tmp_path)


# -- what somebody would write who means harm: other parts with right checksums ----------------------------------------


def rewritten(file: bytes, folder: pathlib.Path, change) -> pathlib.Path:
    """Returns an archive with other parts."""
    source, path = folder / "source.jaxaot", folder / "damaged.jaxaot"
    source.write_bytes(file)
    damage.rewritten(source, path, change)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damage")


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["zip", *damage.WITH_RIGHT_SUMS])
def test_harm(folder, kind):
    assert not list(damage.check(folder, kind, range(6)))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("zip", 2000), ("tables", 1000), ("manifest", 2000), ("programs", 700)])
def test_much_harm(tmp_path, kind, n):
    command = [sys.executable, "-W", "ignore", "-m", "tests.archive.damage", kind, "0", str(n)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=7200)
    said = [line for line in found.stdout.splitlines() if f" {kind} " in line]
    assert not said and found.stdout.endswith("finished\n"), [*said, found.stderr[-2000:]]


def test_numbers_in_plans_refer_to_what_is_there(file, tmp_path):
    def of_history(manifest, parts):
        plans = manifest["programs"][0]["plans"]
        made = next(spec for spec in plans["alias"]["made"] if spec["history"] is not None)
        made["history"] = len(plans["alias"]["histories"])

    def of_state(manifest, parts):
        manifest["state"]["tensors"][0]["spec"]["storage"] = 99

    def of_layout(manifest, parts):
        manifest["programs"][0]["plans"]["call"]["storages"][0]["layout"]["size"] = [1, 1]

    words = [
        "TensorSpec refers to history",
        "TensorSpec refers to storage .* 99, and there are",
        "input 0 is .* and not",
    ]
    for change, said in zip((of_history, of_state, of_layout), words, strict=True):
        with pytest.raises(ja.errors.ArchiveError, match=said):
            ja.load(rewritten(file, tmp_path, change))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"kind": ' * 50_000, "1" * 10_000, "NaN", '{"parts": NaN}', "", "\0"])
def test_manifests_that_are_no_plans(tmp_path, text):
    path, content = tmp_path / "f.jaxaot", text.encode()
    with zipfile.ZipFile(path, "w") as written:
        written.writestr("jaxaot-archive", json.dumps({"format": 1, "sha256": hashlib.sha256(content).hexdigest()}))
        written.writestr("manifest.json", content)
    with pytest.raises(ja.errors.ArchiveError, match="is damaged"):
        ja.load(path)


NEVER = {cls for union, held in codec._MAY_BE.items() for cls in get_args(union) if cls not in held}
PLANS = [
    value
    for module in (alias, call, guards, members, numbers, places, rng, saved, state, world)
    for value in vars(module).values()
    if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == module.__name__
    if value not in NEVER
]


@each("cls", PLANS)
def test_each_number_of_a_plan_says_what_it_is_the_number_of(cls):
    fields = codec.fields_of(cls)
    plain = {"n", "n_leaves", "n_written", "n_draws", "offset", "seed", "bytes", "save_all_bytes", "start", "stop"}
    numbers = {field for field, reader in fields.items() if reader is readers.INT}
    assert numbers - plain <= set(references.references_of(cls).keys())


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([["root", "fn"], ["attr", "__class__"]], "no path has the step"),
        ([["root", "fn"], ["global", "os"]], "no path has the step"),
        ([["root", "TREE"], ["item", 0]], "no path begins with"),
        ([["root", "args"], ["item", {"is": "float", "hex": "0x1p0"}]], "is not of type str or int"),
    ],
)
def test_paths_lead_to_arguments_and_the_state_alone(file, tmp_path, path, words):
    def change(manifest, parts):
        manifest["programs"][0]["plans"]["call"]["tensors"][0]["path"] = path

    with pytest.raises(ja.errors.ArchiveError, match=words):
        ja.load(rewritten(file, tmp_path, change))


def test_no_class_and_no_operation_is_looked_up_by_its_name(file, tmp_path):
    def names_a_class(manifest, parts):
        manifest["programs"][0]["plans"]["call"]["numbers"]["numbers"][0]["cls"] = {"is": "type", "name": "eval"}

    def names_an_operation(manifest, parts):
        step = {"is": "ComputedNumber", "how": "system", "operands": ["echo"]}
        manifest["programs"][0]["plans"]["call"]["numbers"]["numbers"] = [step]

    for change in (names_a_class, names_an_operation):
        with pytest.raises(ja.errors.ArchiveError, match="is none of"):
            ja.load(rewritten(file, tmp_path, change))


def test_a_program_that_calls_what_is_no_kernel_is_refused(file, tmp_path):
    foreign = jax.jit(jax.ffi.ffi_call("what_nobody_knows", jax.ShapeDtypeStruct((), jnp.float32)))
    checks = [jax.export.DisabledSafetyCheck.custom_call("what_nobody_knows")]
    content = bytes(jax.export.export(foreign, disabled_checks=checks)(jnp.float32(1)).serialize())

    def change(manifest, parts):
        parts[manifest["programs"][0]["graphs"]["forward"]] = content

    with pytest.raises(ja.errors.ArchiveError, match="none of the kernels that compute arrays from arrays"):
        ja.load(rewritten(file, tmp_path, change))


MATRIX = jax.ShapeDtypeStruct((3, 4), jnp.float32)


@each(
    "target, operands, results, options",
    [
        ("lapack_sgetrf_ffi", [MATRIX], [MATRIX, ((2,), "i4"), ((), "i4")], {}),
        ("lapack_sgetrf_ffi", [MATRIX], [((1, 4), "f4"), ((3,), "i4"), ((), "i4")], {}),
        ("lapack_dgetrf_ffi", [MATRIX], [MATRIX, ((3,), "i4"), ((), "i4")], {}),
        ("lapack_spotrf_ffi", [MATRIX], [MATRIX, ((), "i4")], {"uplo": np.uint8(76)}),
        ("lapack_sgeqrf_ffi", [MATRIX], [MATRIX, ((4,), "f4")], {}),
        ("lapack_sorgqr_ffi", [((4, 3), "f4"), ((4,), "f4")], [((4, 3), "f4")], {}),
        (
            "lapack_sgesdd_ffi", [MATRIX],
            [MATRIX, ((3,), "f4"), ((3, 3), "f4"), ((3, 4), "f4"), ((), "i4")], {"mode": np.uint8(ord("A"))},
        ),
        ("lapack_strsm_ffi", [((3, 3), "f4"), MATRIX], [MATRIX], {"side": np.uint8(ord("R"))}),
        ("ProductOfElementaryHouseholderReflectors", [MATRIX], [MATRIX], {}),
        ("lapack_snothing_ffi", [MATRIX], [MATRIX], {}),
    ],
)  # fmt: skip
def test_kernels_of_matrices_get_results_of_the_right_shapes(target, operands, results, options):
    """A kernel of LAPACK writes as much as its operands say, whatever the file says of its results."""
    types = lambda given: [x if isinstance(x, jax.ShapeDtypeStruct) else jax.ShapeDtypeStruct(*x) for x in given]
    call = jax.jit(lambda *xs: jax.ffi.ffi_call(target, types(results))(*xs, **options))
    checks = [jax.export.DisabledSafetyCheck.custom_call(target)]
    with jax.enable_x64(True):
        content = bytes(jax.export.export(call, disabled_checks=checks)(*types(operands)).serialize())
    with pytest.raises(ja.errors.ArchiveError, match=f"{target} with results of other shapes|is none of the"):
        program_from_bytes(content, "forward", jax.__version__)


def test_kernels_of_matrices_as_jax_calls_them():
    calls = {
        "lu": lax.linalg.lu, "qr": lax.linalg.qr, "svd": lax.linalg.svd,
        "thin": lambda x: lax.linalg.svd(x, full_matrices=False),
        "square": lambda x: (lax.linalg.eigh(x @ x.T), lax.linalg.eig(x @ x.T), lax.linalg.cholesky(x @ x.T)),
        "more": lambda x: (lax.linalg.schur(x @ x.T), lax.linalg.hessenberg(x @ x.T), lax.linalg.tridiagonal(x @ x.T)),
        "solve": lambda x: lax.linalg.triangular_solve(x @ x.T, x, left_side=True),
        "solve right": lambda x: lax.linalg.triangular_solve(x.T @ x, x),
    }  # fmt: skip
    for name, kernel in calls.items():
        for dtype in ("float32", "complex64"):
            types = [jax.ShapeDtypeStruct((3, 4), dtype), jax.ShapeDtypeStruct((2, 1, 4, 3), dtype)]
            for of_type, fn in zip(types, (kernel, jax.vmap(jax.vmap(kernel))), strict=True):
                found = jax.export.export(jax.jit(fn))(of_type)
                assert not list(refusals(found.mlir_module())), (name, dtype)
    found = jax.export.export(jax.jit(lax.linalg.lu), platforms=("cpu", "cuda", "tpu"))(MATRIX)
    assert not list(refusals(found.mlir_module()))


def test_a_function_that_prints_is_not_exported(tmp_path):
    def noisy(x):
        ja.print("x is {}", x)
        return x + 1

    with pytest.raises(ja.errors.ExportError, match="JAX cannot export the forward"):
        ja.export(noisy, ja.ones(2)).save(tmp_path / "f.jaxaot")
    assert not list(tmp_path.iterdir())


# -- files of another kind ---------------------------------------------------------------------------------------------


def test_foreign_files(tmp_path):
    ja.save({"w": ja.ones(2)}, tmp_path / "w.safetensors")
    assert ja.load(tmp_path / "w.safetensors")["w"].tolist() == [1, 1]
    with pytest.raises(ja.errors.ArgumentError, match="is a file of tensors"):
        ja.load(tmp_path / "w.safetensors", weights={"w": ja.ones(2)})
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "empty"):
        with pytest.raises(ja.errors.SavedFileError, match="is not a whole file of safetensors"):
            ja.load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("data.pkl", b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ja.errors.ArchiveError, match="is no archive of jaxaot"):
        ja.load(tmp_path / "other.zip")
    with pytest.raises(FileNotFoundError):
        ja.load(tmp_path / "absent")


def test_a_later_format(file, tmp_path):
    path = tmp_path / "f.jaxaot"
    with zipfile.ZipFile(path, "w") as later:
        later.writestr("jaxaot-archive", json.dumps({"format": FORMAT + 1, "sha256": "", "more": 1}))
    with pytest.raises(
        ja.errors.ArchiveError, match=f"format {FORMAT + 1}, and this jaxaot reads formats up to {FORMAT}"
    ):
        ja.load(path)


def test_a_kind_of_a_later_version(file, tmp_path):
    with pytest.raises(ja.errors.ArchiveError, match="holds a 'dream'"):
        ja.load(rewritten(file, tmp_path, lambda manifest, parts: manifest.update(kind="dream")))


def test_a_bomb_is_not_inflated(tmp_path):
    path = tmp_path / "bomb.jaxaot"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("jaxaot-archive", json.dumps({"format": 1, "sha256": ""}))
        bomb.writestr("manifest.json", b" " * 50_000_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(ja.errors.ArchiveError, match="compressed, or more than the file has room for"):
        ja.load(path)


def test_other_types_of_64_bits(file, tmp_path):
    with jax.enable_x64(True), pytest.raises(ja.errors.ArchiveError, match="jax_enable_x64"):
        load(file, tmp_path)


def test_a_program_of_a_jax_that_is_gone(file, tmp_path):
    def change(manifest, parts):
        parts[manifest["programs"][0]["graphs"]["forward"]] = b"of another time"
        manifest["written_by"]["jax"] = "0.1.2"

    with pytest.raises(ja.errors.ArchiveError, match=r"load the archive with JAX 0\.1\.2"):
        ja.load(rewritten(file, tmp_path, change))


def test_an_archive_of_format_1_loads():
    step = ja.load(OLD)
    cache = ja.zeros(3)
    ja.manual_seed(0)
    loss, view = step(ja.ones(2, 3), cache)
    loss.backward()
    np.testing.assert_allclose(cache.numpy(), [0, 1, 1])
    np.testing.assert_allclose(loss.item(), 9.0, rtol=1e-6)
    assert view._base is cache
    np.testing.assert_allclose(dict(step.named_parameters())["w"].grad.numpy(), [2, 2, 2])


# -- plans as data -----------------------------------------------------------------------------------------------------


@each("cls", PLANS)
def test_each_field_of_a_plan_is_written_or_has_a_value_without(cls):
    fields = codec.fields_of(cls)
    held = {field.name: field for field in dataclasses.fields(cls)}
    assert set(fields) <= set(held)
    for missing in set(held) - set(fields):
        field = held[missing]
        assert field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def test_plans_come_back():
    model = ja.nn.Sequential(ja.nn.Linear(3, 2), ja.nn.Dropout(0.5))
    exported = ja.export(lambda x, c, n: (model(x) * n, *fn(x, c)), ja.ones(2, 3), ja.zeros(3), 2.0)
    traced = exported.programs[0].traced
    for plan in (traced.call, traced.alias, traced.rng, traced.places, traced.world, exported.state):
        text = json.dumps(codec.to_json(plan))
        assert codec.record(type(plan))(json.loads(text)) == plan
    for tree in (traced.in_tree, traced.out_tree):
        assert readers.TREE(json.loads(json.dumps(codec.to_json(tree)))) == tree


def test_equal_archives_are_equal_files(tmp_path):
    weight = ja.ones(3)
    for name in ("one", "other"):
        ja.export(lambda x: x * weight, ja.ones(3)).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_reader_has_one_state_of_a_file_that_is_written_meanwhile(file, tmp_path):
    """Whatever instant another archive takes its place at, a load gives one of both."""
    path, other = tmp_path / "f.jaxaot", tmp_path / "other.jaxaot"
    ja.export(lambda x: x + 1, ja.ones(2)).save(other)
    content, opened = other.read_bytes(), zipfile.ZipFile.open

    def replaced(*args, **kwargs):
        written = path.with_suffix(".new")
        written.write_bytes(content)
        written.replace(path)
        return opened(*args, **kwargs)

    path.write_bytes(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "open", replaced)
        loaded = ja.load(path)
    assert loaded.name == "<lambda>" and len(loaded.manifest["state"]["tensors"]) > 1
    path.unlink()
    assert len(loaded.graph("joint").in_avals) > 1
