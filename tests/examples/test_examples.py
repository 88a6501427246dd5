"""The scripts in `examples/` run, learn, and are listed; the port of the digits is its original line by line."""

import ast
import importlib.util
import pathlib
import re

import numpy as np
import pytest

import jaxaot as ja

FOLDER = pathlib.Path(__file__).parents[2] / "examples"


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_digits_are_learned(capsys):
    assert loaded("digits_cnn").main(n_epochs=3) > 0.7
    assert capsys.readouterr().out.count("epoch") == 3


@pytest.mark.slow
def test_the_autoencoder_learns():
    before, after = loaded("vae").main(n_steps=120, batch=64, n_hidden=64)
    assert after < 0.8 * before


@pytest.mark.slow
def test_the_language_model_learns():
    losses = loaded("lstm_text").main(n_epochs=3)
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.slow
def test_the_server_says_what_the_model_says(capsys):
    assert loaded("serve_archive").main(n_tokens=4)
    assert capsys.readouterr().out.count(" 7 ") == 3


@pytest.mark.slow
def test_a_server_answers_from_a_checkpoint_of_pytorch(capsys):
    assert loaded("checkpoint_to_server").main(n_images=90) > 0.9  # the last batch is not full
    assert "90 images" in capsys.readouterr().out


@pytest.mark.oracle
def test_the_checkpoint_is_that_of_the_original():
    torch = pytest.importorskip("torch")
    model = loaded("digits_cnn_torch").Net()
    model.load_state_dict(torch.load(FOLDER / "digits.pt")["model"])
    ours = loaded("digits_cnn").Net()
    ours.load_state_dict(ja.load(FOLDER / "digits.pt")["model"])
    images, _ = loaded("real_digits").read_digits(8, first=1300)
    theirs = model.eval()(torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(ours.eval()(ja.from_numpy(images)).tolist(), theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_gpt_learns_within_its_budget():
    losses, kept, of_all = loaded("gpt").main(n_steps=12, n_layers=1, width=16, length=16, memory_budget=0.3)
    assert losses[-1] < losses[0] and 0 < kept <= 0.3 * of_all


@pytest.mark.slow
def test_a_vision_transformer_learns():
    first, last, accuracy = loaded("vit").main(n_steps=100, batch=32, width=16, n_layers=1)
    assert last < first and accuracy > 0.2


@pytest.mark.slow
def test_a_cache_gives_the_same_tokens_by_one_program():
    with_cache, without, n_programs = loaded("kv_cache").main(n_tokens=20, width=16, n_layers=1, length=10)
    assert with_cache == without and len(with_cache) == 10 and n_programs == 1


@pytest.mark.slow
def test_shampoo_writes_through_views_and_beats_descent():
    first, shampoo, descent = loaded("shampoo").main(n_steps=40)
    assert shampoo < descent < first


@pytest.mark.slow
def test_few_numbers_beside_frozen_weights_learn():
    before, after, share, is_frozen = loaded("lora").main(n_steps=60)
    assert after > before + 0.2 and share < 0.1 and is_frozen


@pytest.mark.slow
def test_the_walker_finds_the_goal():
    policy, value = loaded("dqn").main(n_steps=150)
    assert policy == [1] * 7 and value > 0


@pytest.mark.slow
def test_a_resumed_run_has_the_same_losses():
    straight, again, accuracy = loaded("long_run").main(n_steps=80, n_parts=2)
    assert straight == again and len(again) == 40 and accuracy > 0.3


@pytest.mark.oracle
def test_the_original_of_the_digits_learns_as_well(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "compile", lambda fn: fn)  # whose compiler of C++ need not be there
    assert loaded("digits_cnn_torch").main(n_epochs=3) > 0.7


def test_the_port_is_the_original_line_by_line():
    strip = lambda text: text.partition("from __future__")[2].splitlines()
    ours = strip((FOLDER / "digits_cnn.py").read_text())
    theirs = strip((FOLDER / "digits_cnn_torch.py").read_text())
    ported = [line.replace("torch.", "ja.") for line in theirs if line != "import safetensors.torch"]
    ported = [line.replace("import torch", "import jaxaot as ja").replace("y.long()", "y") for line in ported]
    ported = [line.replace("safetensors.ja.save_file", "ja.save") for line in ported]
    ported = [line.replace("safetensors.ja.load_file", "ja.load") for line in ported]
    assert [line for line in ours if line] == [line for line in ported if line]


def test_every_script_is_listed_typed_and_tried_and_says_how_it_is_run_where_that_is_not_all_it_takes():
    page = (FOLDER / "README.md").read_text()
    tests = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    scripts = {path.stem: path.read_text() for path in FOLDER.glob("*.py")}
    assert scripts.keys() == set(re.findall(r"\]\((\w+)\.py\)", page))
    for name, text in scripts.items():
        body = ast.parse(text).body
        mains = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "main"]
        for main in mains if name != "digits_cnn_torch" else ():
            assert main.returns and all(arg.annotation for arg in main.args.args + main.args.kwonlyargs), name
        assert f'loaded("{name}")' in tests or name == "archive_server"  # which `serve_archive` runs
        if re.search(r"\bsys\.argv\b|\bargparse\b", text):
            assert f"python examples/{name}.py " in text, "it has arguments, and no line says how it is called"
        elif mains:
            assert all(len(main.args.defaults) == len(main.args.args) for main in mains), f"{name}.py needs arguments"
