"""Fills the op table: importing this module imports every module of rows for its effect."""

from jaxaot.ops import activations as activations
from jaxaot.ops import arithmetic as arithmetic
from jaxaot.ops import attention as attention
from jaxaot.ops import bessel as bessel
from jaxaot.ops import complex_numbers as complex_numbers
from jaxaot.ops import convolution as convolution
from jaxaot.ops import copies as copies
from jaxaot.ops import ctc as ctc
from jaxaot.ops import decompositions as decompositions
from jaxaot.ops import differences as differences
from jaxaot.ops import dropout as dropout
from jaxaot.ops import elementwise as elementwise
from jaxaot.ops import factories as factories
from jaxaot.ops import fourier as fourier
from jaxaot.ops import grids as grids
from jaxaot.ops import histograms as histograms
from jaxaot.ops import indefinite as indefinite
from jaxaot.ops import indexing as indexing
from jaxaot.ops import joining as joining
from jaxaot.ops import legacy as legacy
from jaxaot.ops import linalg as linalg
from jaxaot.ops import logic as logic
from jaxaot.ops import losses as losses
from jaxaot.ops import margins as margins
from jaxaot.ops import masked as masked
from jaxaot.ops import matrix_functions as matrix_functions
from jaxaot.ops import nn as nn
from jaxaot.ops import norms as norms
from jaxaot.ops import ordering as ordering
from jaxaot.ops import polynomials as polynomials
from jaxaot.ops import pooling as pooling
from jaxaot.ops import random as random
from jaxaot.ops import reductions as reductions
from jaxaot.ops import resampling as resampling
from jaxaot.ops import solvers as solvers
from jaxaot.ops import special as special
from jaxaot.ops import window_functions as window_functions

from jaxaot.ops import value_checks as value_checks  # isort: skip (checks belong to rows that are there)
