"""Containers are taken apart as by `torch.utils._pytree`."""

import jaxaot as ja
from jaxaot.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


def test_what_is_taken_apart_is_put_together_again():
    tree = {"b": [ja.ones(2), None], "a": (1, {"x": "y"})}
    leaves, structure = tree_flatten(tree)
    assert leaves[1:] == [None, 1, "y"] and leaves[0] is tree["b"][0]
    assert tree_unflatten(leaves, structure) == tree and structure.num_leaves == 4
    assert tree_map(lambda x, y: (x, y), [1, None], [2, 3]) == [(1, 2), (None, 3)]
    assert tree_leaves([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert ja.utils._pytree.tree_map(lambda x: x, None) is None
