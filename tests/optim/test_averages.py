"""Averaged models against PyTorch's, eager and compiled."""

import numpy as np
import pytest

import jaxaot as ja


def averaged(library, swa, how, update=None):
    model = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.BatchNorm1d(2))
    with library.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0)
    average = how(swa)
    given = {"multi_avg_fn": average[0]} if isinstance(average, list) else {"avg_fn": average}
    mean = swa.AveragedModel(model, **given, use_buffers=isinstance(average, list))
    step = lambda: mean.update_parameters(model)
    step = step if update is None else update(step)
    for i in range(4):
        with library.no_grad():
            model[0].weight.add_(0.5 + i)
            model[1].running_mean.add_(1.0)
        step()
    return [x.detach().numpy() for x in mean.state_dict().values()], step


AVERAGES = {
    "mean": lambda swa: None,
    "swa": lambda swa: swa.get_swa_avg_fn(),
    "ema": lambda swa: swa.get_ema_avg_fn(0.9),
    "multi": lambda swa: [swa.get_ema_multi_avg_fn(0.9)],
}


@pytest.mark.oracle
@pytest.mark.parametrize("how", AVERAGES)
def test_averages_are_those_of_pytorch(how):
    torch = pytest.importorskip("torch")
    found, _ = averaged(ja, ja.optim.swa_utils, AVERAGES[how])
    expected, _ = averaged(torch, torch.optim.swa_utils, AVERAGES[how])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("how", AVERAGES)
def test_averages_are_compiled_in_one_program(how):
    found, step = averaged(ja, ja.optim.swa_utils, AVERAGES[how], ja.compile)
    expected, _ = averaged(ja, ja.optim.swa_utils, AVERAGES[how])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert step.cache_info().misses == 1
    with pytest.raises(ValueError, match="Invalid decay value"):
        ja.optim.swa_utils.get_ema_avg_fn(2.0)


@pytest.mark.oracle
@pytest.mark.parametrize(("epochs", "strategy"), [(4, "cos"), (3, "linear"), (0, "cos")])
def test_the_rates_of_averaging_are_those_of_pytorch(epochs, strategy):
    torch = pytest.importorskip("torch")
    found = []
    for library in (ja, torch):
        optimizer = library.optim.SGD([{"params": [library.ones(2)]}, {"params": [library.ones(2)], "lr": 0.5}], lr=1.0)
        schedule = library.optim.swa_utils.SWALR(optimizer, [0.1, 0.2], epochs, strategy)
        rates = []
        for _ in range(6):
            optimizer.step()
            schedule.step()
            rates += schedule.get_last_lr()
        found.append(rates)
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_batch_norms_hold_the_statistics_of_all_batches():
    model = ja.nn.Sequential(ja.nn.BatchNorm1d(2)).eval()
    batches = [ja.arange(8.0).reshape(4, 2), ja.ones(4, 2)]
    ja.optim.swa_utils.update_bn([(x, None) for x in batches], model)
    assert model[0].running_mean.tolist() == [2.0, 2.5] and model[0].momentum == 0.1 and not model.training
    with pytest.raises(ValueError, match="Only one of avg_fn"):
        ja.optim.swa_utils.AveragedModel(model, avg_fn=min, multi_avg_fn=min)
