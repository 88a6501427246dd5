"""One program over many devices and processes (`torch.distributed.tensor`): tensors spread over a mesh of devices.

XLA carries out what crosses devices. Here is only what says where things lie.
"""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.distributed.accumulate import no_sync as no_sync
from jaxaot.distributed.checkpoint import load as load
from jaxaot.distributed.checkpoint import save as save
from jaxaot.distributed.fsdp import MixedPrecisionPolicy as MixedPrecisionPolicy
from jaxaot.distributed.fsdp import fully_shard as fully_shard
from jaxaot.distributed.fsdp import gathered as gathered
from jaxaot.distributed.local_map import local_map as local_map
from jaxaot.distributed.meshes import distribute_tensor as distribute_tensor
from jaxaot.distributed.meshes import from_local as from_local
from jaxaot.distributed.meshes import init_device_mesh as init_device_mesh
from jaxaot.distributed.meshes import is_available as is_available
from jaxaot.distributed.meshes import is_initialized as is_initialized
from jaxaot.distributed.partial import PartialTensor as PartialTensor
from jaxaot.distributed.per_device import per_device as per_device
from jaxaot.facade.members.placements import Partial as Partial
from jaxaot.facade.members.placements import Placement as Placement
from jaxaot.facade.members.placements import Replicate as Replicate
from jaxaot.facade.members.placements import Shard as Shard
from jaxaot.lower.collectives import Collective as Collective
from jaxaot.lower.collectives import collectives as collectives
from jaxaot.lower.on_devices import DeviceProgram as DeviceProgram

_show_only_public(globals(), ())
