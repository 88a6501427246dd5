"""Optimizers, written in place (`torch.optim`).

optimizer = ja.optim.AdamW(model.parameters(), lr=1e-3)

@ja.compile
def step(x, y):
    optimizer.zero_grad()
    loss = ja.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss
"""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.optim import lr_scheduler as lr_scheduler
from jaxaot.optim import optimizer as optimizer
from jaxaot.optim import swa_utils as swa_utils
from jaxaot.optim.rules.adafactor import Adafactor as Adafactor
from jaxaot.optim.rules.adam import Adam as Adam
from jaxaot.optim.rules.adam import Adamax as Adamax
from jaxaot.optim.rules.adam import AdamW as AdamW
from jaxaot.optim.rules.adam import NAdam as NAdam
from jaxaot.optim.rules.adam import RAdam as RAdam
from jaxaot.optim.rules.averages import Adadelta as Adadelta
from jaxaot.optim.rules.averages import Adagrad as Adagrad
from jaxaot.optim.rules.averages import RMSprop as RMSprop
from jaxaot.optim.rules.gradient import SGD as SGD
from jaxaot.optim.rules.gradient import Muon as Muon
from jaxaot.optim.rules.gradient import Rprop as Rprop
from jaxaot.optim.rules.lbfgs import LBFGS as LBFGS
from jaxaot.optim.rules.of_optax import OptaxOptimizer as OptaxOptimizer
from jaxaot.optim.rules.of_optax import from_optax as from_optax
from jaxaot.optim.rules.optimizer import Optimizer as Optimizer

_show_only_public(globals(), ("lr_scheduler", "optimizer", "swa_utils"))
