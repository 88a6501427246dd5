"""Names of PyTorch that public programs take, though they do little here, or belong to its inside."""

import importlib

import jaxaot as ja
from jaxaot import nn


def test_scripted_functions_are_functions():
    @ja.jit.script
    def gated(a, b):
        return ja.tanh(a) * ja.sigmoid(b)

    class Net(nn.Module):
        n: ja.jit.Final[int] = 2

        def forward(self, x):
            return gated(x, x) if not ja.jit.is_scripting() else self.helper(x)

        @ja.jit.unused
        @ja.jit.ignore(drop=True)
        def helper(self, x):
            return x

        @ja.jit.export
        def twice(self, x):
            return 2 * ja.jit.annotate(ja.Tensor, self(x))

    net, x = Net(), ja.linspace(-1, 1, 3)
    assert ja.jit.script(net) is net and ja.jit.trace(net, x) is net
    assert ja.allclose(ja.compile(net)(x), x.tanh() * x.sigmoid())
    assert net.helper(x) is x and ja.allclose(net.twice(x), 2 * net(x))


def test_convolutions_take_other_weights():
    class Scaled(nn.Conv2d):  # as LoRA does
        def forward(self, x):
            return self._conv_forward(x, self.weight * 2, self.bias)

    conv, x = Scaled(1, 2, 3, padding=1, padding_mode="reflect", bias=False), ja.ones(1, 1, 4, 4)
    assert ja.allclose(conv(x), 2 * nn.Conv2d.forward(conv, x).detach())


def test_modules_are_found_by_their_paths():
    for path, name in {
        "utils.data.sampler": "Sampler",
        "utils.data.dataloader": "DataLoader",
        "utils.data.dataset": "Dataset",
        "utils._pytree": "tree_map",
        "distributions.categorical": "Categorical",
        "distributions.normal": "Normal",
        "nn.modules.conv": "_ConvNd",
    }.items():
        assert hasattr(importlib.import_module(f"jaxaot.{path}"), name)
    assert ja.utils.data.sampler.Sampler is ja.utils.data.Sampler


def test_scripts_that_ask_for_process_groups_go_on_without():
    assert not (ja.distributed.is_available() or ja.distributed.is_initialized())
