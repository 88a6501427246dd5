"""What a traced function asks of tensors beside their values is the answer of each call, not of the first one."""

import pytest

import jaxaot as ja
from tests.cases import each

pytestmark = pytest.mark.usefixtures("interpreted")


def written(n):
    t = ja.arange(4.0)
    for _ in range(n):
        t.add_(1)
    return t


def leaf(hooks=0, **changes):
    t = ja.arange(4.0, requires_grad=True)
    for _ in range(hooks):
        t.register_hook(lambda grad: grad)
    for name, value in changes.items():
        setattr(t, name, value)
    return t


def retained():
    t = leaf() * 1.0
    t.retain_grad()
    return t


def inferred():
    with ja.inference_mode():
        return ja.arange(4.0)


def grown():
    t = ja.arange(4.0)
    t.untyped_storage().resize_(64)
    return t


def read_version(t):
    try:
        return t._version, t[:1]._version, t.detach()._version, t.data._version
    except RuntimeError:
        return "inference"


MADE = {
    "plain": lambda: ja.arange(4.0), "first half": lambda: ja.arange(8.0)[:4], "middle": lambda: ja.arange(8.0)[2:6],
    "of sixteen": lambda: ja.arange(16.0)[4:8], "all": lambda: ja.arange(4.0).view(4), "grown": grown,
    "steps": lambda: ja.arange(8.0)[::2], "turned": lambda: ja.ones(2, 2).t(), "once": lambda: written(1),
    "twice": lambda: written(2), "leaf": leaf, "hook": lambda: leaf(1), "hooks": lambda: leaf(2),
    "grad": lambda: leaf(grad=ja.ones(4)), "product": lambda: leaf() * 1.0, "exp": lambda: leaf().exp(),
    "exp of product": lambda: (leaf() * 1.0).exp(), "part of product": lambda: (leaf() * 1.0)[1:3],
    "third": lambda: leaf().unbind(0)[2], "retained": retained, "inferred": inferred, "ints": lambda: ja.arange(4),
    "parameter": lambda: ja.nn.Parameter(ja.arange(4.0)), "conj": lambda: ja.ones(4, dtype=ja.complex64).conj(),
    "neg": lambda: (ja.ones(4, dtype=ja.complex64) * 1j).conj().imag,
}  # fmt: skip
ASKED = {
    "storage_offset": (lambda t: t.storage_offset(), "first half,middle"),
    "offset of a view": (lambda t: t.view_as(t).storage_offset(), "first half,middle"),
    "stride": (lambda t: (t.stride(), t.is_contiguous()), "plain,steps"),
    "bytes": (lambda t: (t.untyped_storage().nbytes(), t.storage().size()), "plain,middle,grown"),
    "place": (lambda t: t.data_ptr() == t.untyped_storage().data_ptr(), "plain,middle"),
    "version": (read_version, "plain,once,twice,inferred"),
    "a view": (lambda t: t._is_view(), "plain,all"),
    "base": (lambda t: None if t._base is None else (t._base._version, t._base.shape), "plain,all,of sixteen"),
    "leaf": (lambda t: (t.is_leaf, t.requires_grad), "plain,leaf,product"),
    "grad_fn": (lambda t: t.grad_fn is None, "leaf,product,part of product"),
    "nodes": (lambda t: t.grad_fn and [node and node.name() for node, _ in t.grad_fn.next_functions], "exp,product"),
    "deeper": (lambda t: t.grad_fn and t.grad_fn.next_functions[0][0].name(), "exp,exp of product"),
    "output": (lambda t: t.output_nr, "product,third"),
    "grad": (lambda t: t.is_leaf and t.grad is None, "leaf,grad"),
    "retains": (lambda t: t.retains_grad, "product,retained"),
    "hooks": (lambda t: len(t._backward_hooks or ()), "leaf,hook,hooks"),
    "inference": (lambda t: t.is_inference(), "plain,inferred"),
    "kind": (lambda t: (type(t) is ja.Tensor, isinstance(t, ja.nn.Parameter)), "leaf,parameter"),
    "dtype": (lambda t: (str(t.dtype), t.element_size(), t.is_conj(), t.is_neg()), "plain,ints,conj,neg"),
}
held = ja.ones(1)


def compare(ask, kinds, is_passed=True):
    """Asks for something of tensors of several kinds, captured or passed too, in functions that are compiled."""
    of_captured = ja.compile(lambda: ask(held), fullgraph=True)
    of_argument = ja.compile(lambda t: ask(t), fullgraph=True) if is_passed else ask
    for kind in (*kinds, kinds[0]):
        globals()["held"] = MADE[kind]()
        expected = ask(held)
        assert (of_captured(), of_argument(held)) == (expected, expected), kind


@each("name", ASKED)
def test_what_is_asked_of_a_tensor_is_asked_at_each_call(name):
    ask, kinds = ASKED[name]
    compare(ask, kinds.split(","), name in ("version", "a view", "hooks", "inference", "kind"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_any_question_between_tensors_of_any_kinds(name):
    compare(ASKED[name][0], list(MADE))


def test_the_number_of_a_place_is_guarded_where_it_is_used_as_one():
    same = ja.compile(lambda a, b: a.data_ptr() == b.data_ptr(), fullgraph=True)
    x = ja.ones(2)
    assert [same(x, x), same(x, ja.ones(2)), same(ja.ones(2), ja.ones(2))] == [True, False, False]
    assert same.n_programs == 2

    number = ja.compile(lambda a: a.data_ptr() % 1009, fullgraph=True)
    kept = [ja.ones(2), ja.ones(2)]
    assert [number(a) for a in (*kept, *kept)] == [a.data_ptr() % 1009 for a in (*kept, *kept)]
    returned = ja.compile(lambda a: (a * a.data_ptr(), a.data_ptr()), fullgraph=True)
    for a in kept:
        scaled, place = returned(a)
        assert type(place) is int and place == a.data_ptr() and scaled.tolist() == (a * place).tolist()


def test_a_metadata_question_inside_control_flow_is_guarded_too():
    def branch(flag, x):
        return ja.cond(flag, lambda t: t + held.storage_offset(), lambda t: t + held._version, (x,))

    f = ja.compile(branch, fullgraph=True)
    for kind in ("middle", "of sixteen", "once"):
        globals()["held"] = MADE[kind]()
        for flag in (True, False):
            got = f(ja.tensor(flag), ja.zeros(1))
            assert got.tolist() == [held.storage_offset() if flag else held._version]


def test_an_exported_function_refuses_to_forget_what_it_asked():
    with pytest.raises(ja.errors.ExportError, match="asks for the `_version`"):
        ja.export(lambda t: t * t._version, ja.ones(2))
