"""The entry points of functorch.compile, on the stages of jaxaot."""

from jaxaot._jax import load as _load
from jaxaot._util import show_only_public as _show_only_public
from jaxaot.aot.compilers import make_boxed_compiler as make_boxed_compiler
from jaxaot.aot.compilers import make_boxed_func as make_boxed_func
from jaxaot.aot.export import aot_export_joint_simple as aot_export_joint_simple
from jaxaot.aot.export import aot_export_module as aot_export_module
from jaxaot.aot.function import aot_function as aot_function
from jaxaot.aot.function import clear_compile_cache as clear_compile_cache
from jaxaot.aot.graph import ExportedGraph as ExportedGraph
from jaxaot.aot.module import AotModule as AotModule
from jaxaot.aot.module import aot_module as aot_module
from jaxaot.aot.module import memory_efficient_fusion as memory_efficient_fusion
from jaxaot.aot.partitions import default_partition as default_partition
from jaxaot.aot.partitions import min_cut_rematerialization_partition as min_cut_rematerialization_partition
from jaxaot.aot.signature import BackwardSignature as BackwardSignature
from jaxaot.aot.signature import GraphSignature as GraphSignature

_load("jax.extend.core")  # compilers of graphs are written with it, and `import jax` alone does not load it
_show_only_public(globals())
