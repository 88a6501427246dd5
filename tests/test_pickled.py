"""What stands for graphs and executables is pickled by its name or not at all, and its copies work."""

import copy
import pickle

import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import UnpicklableError


@ja.compile
def doubled(x):
    return x * 2


@ja.jit
def tripled(x):
    return x * 3


class Scaled:
    factor = 4

    @ja.compile
    def scale(self, x):
        return x * self.factor


def test_stages_say_what_to_save_in_their_place_and_a_copy_is_the_stage():
    traced = ja.trace(lambda x: (x * 2).sum(), ja.ones(3, requires_grad=True))
    partition = traced.joint().partition()
    for stage in (traced, traced.joint(), partition, partition.compile()):
        with pytest.raises(UnpicklableError, match=r"(?s)`.*` cannot be pickled.*`ja\.export\(fn, \*args\)"):
            pickle.dumps(stage)
        assert copy.copy(stage) is stage and copy.deepcopy([stage])[0] is stage


def test_functions_of_a_module_are_pickled_by_name_and_others_refused():
    for fn in (doubled, tripled, Scaled.scale):
        assert pickle.loads(pickle.dumps(fn)) is fn
    again = pickle.loads(pickle.dumps(Scaled().scale))
    assert again(ja.ones(1)).item() == 4
    with pytest.raises(UnpicklableError, match=r"`.*<lambda>` cannot be pickled.*step\.fn"):
        pickle.dumps({"step": ja.compile(lambda x: x)})
    local = ja.compile(doubled.fn)
    assert copy.copy(local)(ja.ones(1)).item() == copy.deepcopy(local)(ja.ones(1)).item() == 2
    assert float(copy.copy(tripled)(jnp.float32(1))) == 3
