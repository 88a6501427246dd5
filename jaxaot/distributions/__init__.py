"""Distributions with gradients (`torch.distributions`): the same shapes, densities and checks, other draws."""

import sys as _sys

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.distributions import constraints as constraints
from jaxaot.distributions.continuous import Beta as Beta
from jaxaot.distributions.continuous import Cauchy as Cauchy
from jaxaot.distributions.continuous import Chi2 as Chi2
from jaxaot.distributions.continuous import Dirichlet as Dirichlet
from jaxaot.distributions.continuous import Exponential as Exponential
from jaxaot.distributions.continuous import Gamma as Gamma
from jaxaot.distributions.continuous import Gumbel as Gumbel
from jaxaot.distributions.continuous import HalfNormal as HalfNormal
from jaxaot.distributions.continuous import Laplace as Laplace
from jaxaot.distributions.continuous import LogNormal as LogNormal
from jaxaot.distributions.continuous import Normal as Normal
from jaxaot.distributions.continuous import StudentT as StudentT
from jaxaot.distributions.continuous import Uniform as Uniform
from jaxaot.distributions.discrete import Bernoulli as Bernoulli
from jaxaot.distributions.discrete import Categorical as Categorical
from jaxaot.distributions.discrete import Geometric as Geometric
from jaxaot.distributions.discrete import OneHotCategorical as OneHotCategorical
from jaxaot.distributions.discrete import Poisson as Poisson
from jaxaot.distributions.distribution import Distribution as Distribution
from jaxaot.distributions.distribution import Independent as Independent
from jaxaot.distributions.kl import kl_divergence as kl_divergence
from jaxaot.distributions.kl import register_kl as register_kl
from jaxaot.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal

for _theirs, _ours in {
    "bernoulli": "discrete", "beta": "continuous", "categorical": "discrete", "dirichlet": "continuous",
    "gamma": "continuous", "independent": "distribution", "laplace": "continuous", "normal": "continuous",
    "one_hot_categorical": "discrete", "uniform": "continuous",
}.items():  # fmt: skip  # `from torch.distributions.categorical import Categorical`
    globals()[_theirs] = _sys.modules[f"{__name__}.{_theirs}"] = _sys.modules[f"{__name__}.{_ours}"]
_show_only_public(globals(), ("constraints",))
