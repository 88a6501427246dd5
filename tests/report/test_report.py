"""The report on a function: one object of plain data, the same facts in text, JSON and HTML."""

import dataclasses
import functools
import html
import json
import random
from html.parser import HTMLParser

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import ArgumentError, UsageError
from jaxaot.report.contents import Repeat
from jaxaot.report.repeats import repeats_of
from jaxaot.report.text import bars

X = jnp.ones((4, 3))


def made_step():
    w = ja.ones(3, 4, requires_grad=True)

    @ja.compile
    def step(x, cache):
        y = (x @ w).tanh()
        cache[1:].add_(y[:-1])
        z = y.sin() * y
        return z.sum(), cache[0]

    return step


@pytest.fixture(scope="module")
def report():
    step = made_step()
    step(ja.ones(4, 3), ja.zeros(4, 4))
    step(ja.ones(6, 3), ja.zeros(6, 4))
    step(ja.ones(6, 3), ja.zeros(6, 4))
    return step.explain(ja.ones(4, 3), ja.zeros(4, 4))


@pytest.mark.slow
def test_a_report_says_what_changes_what_is_saved_and_why_programs_were_made(report):
    assert report.changed == ("cache: float32[4,4], written", "output 1: shares the memory of cache")
    (part,) = report.parts
    assert [value.name for value in part.saved] == ["tanh_1"] and "operands" in part.saved[0].why
    assert [value.name for value in part.recomputed] == ["sin_6"]
    assert report.programs[0] == "2 programs; 1 calls found one, for 2 one was made"
    assert "`x` has shape [6, 3] instead of [4, 3]" in report.programs[1]
    assert any(line.startswith("joint: cse: ") for line in report.passes)
    (source,) = report.sources
    assert source.file == "test_report.py" and any("y = (x @ w).tanh()" in text for _, text in source.lines)


def test_a_saved_value_is_on_a_line_of_the_forward_and_on_those_that_read_it(report):
    (part,) = report.parts
    (made,) = [line for line in part.forward.lines if line.saved]
    readers = [line for line in part.backward.lines if "tanh_1" in line.saved]
    assert " tanh " in made.text and "saved" in made.note
    assert readers and all("tanh_1" in line.text for line in readers)
    assert [line.text.split(" = ")[1].split()[0] for line in part.backward.lines if line.is_recomputed] == ["sin"]


def test_the_text_begins_with_the_summary_and_fits_the_width(report):
    summary, _, stages = report.text(60).partition("\n\n# signature\n")
    assert summary.startswith("step, by ja.compile on cpu\n  changes:\n    cache: float32[4,4], written")
    assert max(map(len, summary.splitlines())) <= 60
    assert "y = (x @ w).tanh()" in summary and "tanh_1: float32[4,4], 64 B" in summary
    assert all(f"# {title}\n" in stages for title in ("traced", "joint", "sequence numbers", "partition"))
    assert repr(report) == str(report) == report.text()


def test_lines_of_one_entry_stay_lines(report):
    shown = dataclasses.replace(report, collectives=("forward: all-gather\n  held: 1 B", "backward: none")).text()
    assert "\n    forward: all-gather\n      held: 1 B\n    backward: none\n" in shown


def test_plain_data(report, tmp_path):
    found = json.loads(report.to_json())
    assert found["parts"][0]["saved"][0]["name"] == "tanh_1" and found["jaxaot"] == ja.__version__
    assert found == json.loads(json.dumps(report.to_dict()))
    report.save_html(tmp_path / "step.html")
    assert (tmp_path / "step.html").read_text() == report.to_html()
    with pytest.raises(UsageError, match=r"cannot write the report to .*nowhere"):
        report.save_html(tmp_path / "nowhere" / "step.html")


def test_without_arguments_the_report_is_on_the_latest_program():
    step = made_step()
    assert repr(step).startswith("<ja.compile of <function made_step") and "0 programs" in repr(step)
    with pytest.raises(ArgumentError, match=r"without its arguments.*`ja.trace\(step, x, cache\)`"):
        step.explain()
    step(ja.ones(6, 3), ja.zeros(6, 4))
    assert step.explain().changed[0] == "cache: float32[6,4], written"
    assert made_step().explain(ja.ones(4, 3), ja.zeros(4, 4)).programs == ("none yet: the first call compiles one",)


def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)


@pytest.mark.slow
def test_functions_of_arrays():
    w = jnp.ones((3, 2))
    cut = ja.remat(loss, policy="min_cut")  # the default leaves to JAX what no cut improves
    report = ja.remat(loss, policy="save_nothing").explain(w, X)
    assert report.kind == "ja.remat" and report.parts[0].saved == () and report.parts[0].recomputed
    report = ja.jit(jax.grad(cut), donate_argnums=1).explain(w, X)
    titles = [part.title for part in report.parts]
    assert titles == ["graph", "the partition of a function under ja.remat"]
    assert "donated" in report.changed[0] and report.parts[1].saved
    text = str(ja.explain(jax.grad(cut), w, X))
    begin = text.index("linear_map[the backward of a function under ja.remat]")  # it is written out under its line
    result = text[:begin].split("\n")[-1].split(":")[0].strip()
    assert f"\n      {result}.0: " in text[begin:] and "<function>" not in text
    assert "linear_map[the backward of" in str(ja.trace(jax.value_and_grad(cut), w, X).joint())
    report = ja.jit(loss, dynamic={"x": 0}).explain(w, X)
    assert report.kind.startswith("ja.jit(dynamic") and report.programs[0].startswith("loss: 1 programs")
    assert ja.explain(jax.grad(cut), w, X).kind == "ja.compile"  # which has the attributes of what it wraps
    assert "ja.remat(loss).explain(...)" in ja.explain(loss, w, X).hints[0]


@pytest.mark.slow
def test_anything_is_explained():
    w = jnp.ones((3, 2))
    x = ja.ones(4, 3)
    for fn, args, kind in [
        (made_step(), (x, ja.zeros(4, 4)), "ja.compile"),
        (lambda x: x * 2, (x,), "ja.compile"),
        (functools.partial(loss, w), (X,), "ja.compile"),
        (ja.jit(loss), (w, X), "ja.jit"),
        (ja.remat(loss), (w, X), "ja.remat"),
        (ja.trace(lambda x: x * 2, x), (), "ja.trace"),
    ]:
        assert ja.explain(fn, *args).kind == kind
    v = ja.ones(3, 2, requires_grad=True)
    assert ja.explain(lambda x: (x @ v).sin().sum(), x, policy="save_nothing").parts[0].saved == ()

    class Own:
        explain = "this is the user's"

        def __call__(self, x):
            return x + 1

    assert ja.explain(Own(), x).name == "Own"
    with pytest.raises(UsageError, match="has its own"):
        ja.explain(ja.jit(loss), w, X, memory_budget=0.5)


def test_exchanges_between_devices_are_listed():
    summed = jax.vmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")
    mesh = jax.make_mesh((1,), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    replicated = jax.sharding.PartitionSpec()
    fn = jax.shard_map(lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=spec, out_specs=replicated, check_vma=False)
    x = jax.device_put(X, jax.sharding.NamedSharding(mesh, spec))
    (line,) = ja.jit(fn).explain(x).collectives
    assert "1 psum" in line and "48 B" in line and "test_report.py" in line
    assert ja.jit(summed).explain(X).collectives == ()


class Tags(HTMLParser):
    """The tags of a page, which must nest, and what it would load."""

    VOID = {"meta", "input", "line", "path", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.ids, self.rows = [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loaded += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        self.ids += [given["id"]] if "id" in given else []
        self.rows += [given] if "data-saved" in given else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def parsed(page):
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert not tags.open
    return tags


def test_the_page_is_whole_and_loads_nothing(report):
    page = report.to_html()
    tags = parsed(page)
    assert not tags.loaded and len(set(tags.ids)) == len(tags.ids)
    assert "http://" not in page and "https://" not in page and "@import" not in page and "url(" not in page
    assert "prefers-color-scheme: dark" in page and 'name="viewport"' in page
    assert sum("tanh_1" in row["data-saved"].split() for row in tags.rows) >= 4  # button, source, forward, backward


def test_repeats_are_found_and_folded():
    layer = ["matmul", "add", "tanh", "sin"]
    assert repeats_of(["iota", *layer * 5, "sum", "iota"]) == (Repeat(1, 4, 5),)
    assert repeats_of(layer) == () and repeats_of([]) == ()
    w = ja.ones(3, 3, requires_grad=True)

    def deep(x):
        for _ in range(5):
            x = (x @ w).tanh() * x.sin()
        return x.sum()

    shown = ja.explain(deep, ja.ones(2, 3))
    (part,) = shown.parts
    (repeat,) = part.forward.repeats
    assert repeat.count >= 4 and repeat.length >= 4
    page = shown.to_html()
    parsed(page)
    assert f"… the {repeat.length} above {repeat.count - 1} times more" in page
    assert page.count('class="row eqn') == len(part.lines)  # folded ones are there too


@pytest.mark.parametrize("seed", range(8))
def test_folded_equations_are_those_before_them(seed):
    rng = random.Random(seed)
    keys = [rng.choice("abc") for _ in range(rng.randrange(4))] + [rng.choice("abcd") for _ in range(5)] * 4
    keys += [rng.choice("abc") for _ in range(rng.randrange(9))]
    last = 0
    for repeat in repeats_of(keys):
        end = repeat.first + repeat.length * repeat.count
        assert last <= repeat.first and end <= len(keys) and repeat.count >= 2
        assert all(keys[i] == keys[i + repeat.length] for i in range(repeat.first, end - repeat.length))
        last = end
    assert last >= 15


def test_ways_stand_side_by_side_and_one_is_in_force(report):
    (part,) = report.parts
    partition = made_step().trace(ja.ones(4, 3), ja.zeros(4, 4)).joint().partition()
    (this,) = [way for way in part.ways if way.is_this]
    assert (this.saved_bytes, this.n_saved) == (partition.saved_bytes, len(partition.saved))
    by_code = {way.code: way for way in part.ways}
    assert by_code["policy='save_all'"].n_recomputed == 0
    assert by_code["policy=jax.checkpoint_policies.nothing_saveable"].saved_bytes == 0
    assert all(max(way.curve) == way.peak_bytes for way in part.ways)
    page = report.to_html()
    assert page.count('<tr class="way') == len(part.ways) and "memory_budget=0.2" in page


def test_moments_of_the_picture_are_equations_and_the_programs_stand_beside_xlas(report):
    (part,) = report.parts
    page = report.to_html()
    total = page.split('data-total="')[1].split('"')[0].split(",")
    assert len(total) == page.count('class="row eqn') == len(part.lines)
    assert part.memory.alive and all(value.bytes > 0 for value in part.memory.alive)
    assert [section.title for section in report.lowered] == ["forward", "backward"]
    assert all("stablehlo" in section.text for section in report.lowered)
    assert "forward: the program, and what XLA gets of it" in page


def test_breaks_are_shown():
    @ja.compile
    def branches(x):
        return x.sin() if x.sum() > 0 else x

    report = branches.explain(ja.ones(3))
    assert (
        report.breaks and "test_report.py" in report.breaks[0] and report.breaks[0] in html.unescape(report.to_html())
    )


def test_names_are_text_on_the_page():
    def evil(x):
        return x.sin()

    evil.__name__ = "<script>alert(1)</script>&"
    page = ja.explain(evil, ja.ones(3)).to_html()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    parsed(page)


class Plain(HTMLParser):
    """Reads what GitHub shows of a notebook's output, where it drops styles, scripts, and SVGs outside of pictures."""

    TAGS = {"b", "br", "details", "div", "img", "p", "pre", "summary", "table", "td", "tr"}

    def __init__(self, page):
        super().__init__()
        self.text, self.pictures = "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        assert tag in self.TAGS, tag
        assert {name for name, _ in attrs} <= {"style", "src", "alt", "width"}
        if tag == "img":
            source, given = dict(attrs)["src"], dict(attrs).get("alt")
            assert source.startswith(("data:image/png;base64,", "data:image/svg+xml;base64,"))
            self.pictures.append(given)

    def handle_data(self, data):
        self.text += data


def test_what_notebooks_show_is_all_there_on_a_page_without_styles_and_scripts(report):
    w = ja.tensor([[1.5, -2.0]], requires_grad=True)
    step = ja.compile(lambda x: (x @ w).tanh().sum())
    step(ja.ones(2, 1)).backward()
    traced = ja.trace(lambda x: (x @ w).tanh().sum(), ja.ones(2, 1))
    joint = traced.joint()
    partition = joint.partition()
    exported = ja.export(lambda x: x @ w.detach(), ja.ones(2, 1), with_gradients=False)
    for shown, words, n_pictures in (
        (w, ["(1, 2)", "float32", "1.5", "-2.0", "requires grad"], 0),
        (ja.ones(2, 2, 2), ["tensor(", "1."], 0),
        (report, ["step, by ja.compile on cpu", "tanh_1", "Memory over time"], 1),
        (traced, ["traced", "tanh"], 1),
        (joint, ["joint", "tanh"], 0),
        (partition, ["partition", "forward", "backward"], 1),
        (partition.compile(), ["Executable(forward", "partition"], 1),
        (partition.plan, ["saves", "recomputes"], 0),
        (traced.signature, ["storages:", "float32[2, 1], read"], 0),
        (step, ["1 program;", "float32[2, 1], read", "explain()"], 0),
        (exported, ["lambda", "bytes of state"], 0),
    ):
        seen = Plain(shown._repr_html_())
        parsed(shown._repr_html_().replace("<img", "<br"))
        assert all(word in seen.text for word in words), (type(shown), seen.text[:500])
        assert len(seen.pictures) == n_pictures
        assert len(repr(shown)) < 800 or repr(shown) == str(shown)  # what a terminal shows


def test_notebooks_show_plans_with_their_angles():
    w = ja.ones(3, 2, requires_grad=True)
    scope = {"w": w}
    exec(compile("def loss(x): return (x @ w).tanh().exp().sum()", "<string>", "exec"), scope)
    partition = ja.trace(scope["loss"], ja.ones(4, 3)).joint().partition()
    for shown in (partition.plan, partition.timeline):
        assert "<string>:1" in Plain(shown._repr_html_()).text


def test_bars_show_the_memory_of_both_sides(report):
    memory = report.parts[0].memory
    shown = bars(memory, 20)
    assert 20 <= len(shown.replace("|", "")) <= len(memory.bytes) and shown.count("|") == 1 and "█" in shown
    assert len(bars(memory, 1)) == 1


def random_program(seed):
    """Returns a random function of a few lines, tensors that it writes, and its arguments."""
    rng = random.Random(seed)
    w = ja.ones(3, 3, requires_grad=True)
    ops = [
        lambda a, b: a @ w,
        lambda a, b: a.tanh(),
        lambda a, b: a * b,
        lambda a, b: a.sin() + b,
        lambda a, b: a.exp(),
    ]
    picks = [(rng.choice(ops), rng.random()) for _ in range(rng.randrange(1, 7))]
    writes, policy = rng.random() < 0.5, rng.choice(["min_cut", "save_all", "save_nothing"])

    def fn(x, cache):
        a, b = x, x
        for op, chance in picks:
            a, b = op(a, b), a if chance < 0.5 else b
        if writes:
            cache.add_(a)
        return a.sum() + (x @ w).sum()

    return fn, (ja.ones(3, 3), ja.zeros(3, 3)), policy, writes


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 60))])
def test_reports_of_random_functions_agree_with_their_partitions(seed):
    fn, args, policy, writes = random_program(seed)
    report = ja.explain(fn, *args, policy=policy)
    partition = ja.trace(fn, *args).joint().partition(policy)
    (part,) = report.parts
    assert {v.name for v in part.saved} == {v.name for v in partition.saved}
    assert sum(v.bytes for v in part.saved) == partition.saved_bytes
    assert len(part.forward.lines) == len(partition.forward.eqns)
    assert len(part.backward.lines) == len(partition.backward.eqns)
    made = {name for line in part.forward.lines for name in line.saved}
    read = {name for line in part.backward.lines for name in line.saved}
    assert read <= made == {v.name for v in part.saved}
    assert bool(report.changed) == writes
    assert len(part.memory.bytes) == len(part.forward.lines) + len(part.backward.lines)
    parsed(report.to_html())
    assert json.loads(report.to_json())["name"] == "fn"
