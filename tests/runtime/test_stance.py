"""What is said to the compiler by PyTorch's names: `reset`, `set_stance`, `graph_break`."""

import pytest

import jaxaot as ja


def counting():
    ran = []

    @ja.compile
    def step(x):
        if not ja.compiler.is_compiling():
            ran.append(1)
        return x * 2

    step(ja.ones(2))
    return step, ran


def test_a_stance_forces_eager_calls_for_a_block_or_a_function():
    step, ran = counting()
    with ja.compiler.set_stance("force_eager"):
        assert step(ja.ones(2)).tolist() == [2, 2] and step(ja.ones(3)).tolist() == [2, 2, 2]
    ja.compiler.set_stance("force_eager")(step)(ja.ones(2))
    assert len(ran) == 3 and step.cache_info().currsize == 1
    step(ja.ones(2))
    assert len(ran) == 3 and step.cache_info().hits == 1


def test_a_stance_makes_no_program_or_says_that_one_would_be_made():
    step, ran = counting()
    with ja.compiler.set_stance("eager_on_recompile"):
        step(ja.ones(2))
        assert not ran
        step(ja.ones(2, 2))
        assert len(ran) == 1
    with ja.compiler.set_stance("fail_on_recompile"):
        step(ja.ones(2))
        with pytest.raises(RuntimeError, match=r"Detected recompile.*`step` fits no program.*Call it once"):
            step(ja.ones(2, 2))
    ja.compiler.set_stance("eager_then_compile")
    ja.compiler.set_stance("default")
    step(ja.ones(2, 2))
    assert step.cache_info().currsize == 2 and len(ran) == 1
    with pytest.raises(ja.errors.ArgumentError, match="invalid stance"):
        ja.compiler.set_stance("eager")


def test_reset_drops_the_programs_of_all_functions():
    (one, _), (other, _) = counting(), counting()
    ja.compiler.reset()
    assert one.cache_info().currsize == other.cache_info().currsize == 0
    one(ja.ones(2))
    assert one.cache_info().currsize == 1


def test_names_of_dynamo_are_those_of_the_compiler():
    assert ja._dynamo.reset is ja.compiler.reset and ja._dynamo.disable is ja.compiler.disable
    fn = lambda x: x
    assert ja.compiler.allow_in_graph(fn) is fn and ja.compiler.disable(recursive=False)(fn)(3) == 3
    assert ja._dynamo.graph_break() is None and ja.compiler.cudagraph_mark_step_begin() is None

    @ja.compile(fullgraph=True)
    def broken(x):
        ja._dynamo.graph_break()
        return x

    with pytest.raises(ja.errors.JaxaotError, match="graph_break"):
        broken(ja.ones(1))
