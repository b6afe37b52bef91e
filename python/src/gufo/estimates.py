"""The memory that a model needs to run.

>>> estimate = gufo.estimate(model, n_ctx=256)
>>> estimate.n_ctx
256
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gufo import _core
from gufo import models
from gufo.given import Size, bytes_in
from gufo.models import Model

__all__ = ["Estimate", "EstimateDevice", "estimate"]

FLASH_ATTENTION = {None: 0, True: 1, False: 2}

@dataclass(frozen=True)
class EstimateDevice:
    """What is in the memory of the host, or of a device.

    >>> gufo.estimate(model).host.model_bytes > 0
    True
    """

    #: Weights; of the host, and the ranges of files that are mapped for them.
    model_bytes: int
    mapped_bytes: int
    #: The cache of keys and values, and recurrent state.
    kv_bytes: int
    state_bytes: int
    #: Buffers for computing, which may be that much too low or too high, and how well they are known:
    #: "exact", "fitted", "rough", "not known".
    compute_bytes: int
    compute_margin: int
    compute_quality: str
    output_bytes: int
    adapter_bytes: int
    projector_bytes: int
    draft_bytes: int
    #: Repeating layers that are here.
    layers: int
    #: What one token of a sequence whose context is full reads.
    read_bytes: int
    #: Everything, with the margins.
    most_bytes: int


@dataclass(frozen=True)
class Estimate:
    """How a model runs, and the memory that it then needs: `gufo.estimate` makes it.

    >>> gufo.estimate(model, devices=1).devices[0].layers
    2
    """

    n_ctx: int
    n_batch: int
    n_ubatch: int
    flash_attention: bool
    #: Of the cache, for each further token.
    kv_token_bytes: int
    unused_bytes: int
    missing_tensors: int
    #: Layers on devices; None: all of them.
    n_gpu_layers: int | None
    n_cpu_moe: int
    host: EstimateDevice
    devices: list[EstimateDevice]

    @property
    def most_bytes(self) -> int:
        """Everything, on the host and on all devices.

        >>> gufo.estimate(model).most_bytes > 0
        True
        """
        return self.host.most_bytes + sum(device.most_bytes for device in self.devices)

    def tokens_per_second(self, host: float = 0, devices: Sequence[float] = ()) -> float:
        """An upper bound, if reading memory takes all the time: bytes per second that the host and each
        device read; 0: not known, takes no time.

        >>> gufo.estimate(model).tokens_per_second(host=50e9) > 0
        True
        """
        speeds = [host, *devices, *[0.0] * len(self.devices)]
        places = [self.host, *self.devices]
        time = sum(place.read_bytes / speed for place, speed in zip(places, speeds) if speed)
        return 1 / time if time else 0.0

    def _repr_html_(self) -> str:
        from gufo.notebook import estimate_html

        return estimate_html(self)


def core_of(source: Any) -> _core.Model:
    return (source if isinstance(source, Model) else models.open(source, metadata_only=True)).core


def estimate(
    model: Any,
    *,
    n_ctx: int = 0,
    n_batch: int = 0,
    n_ubatch: int = 0,
    n_seq: int = 0,
    type_k: str | None = None,
    type_v: str | None = None,
    flash_attention: bool | None = None,
    kv_unified: bool = False,
    swa_full: bool = False,
    embeddings: bool = False,
    no_kv_offload: bool = False,
    devices: int | Sequence[Size] = 0,
    host: Size | None = None,
    n_gpu_layers: int | None = None,
    n_cpu_moe: int | None = None,
    tensor_split: Sequence[float] | None = None,
    least_ctx: int = 0,
    adapters: Sequence[Any] = (),
    projector: Any = None,
    draft: Any = None,
) -> Estimate:
    """What llama.cpp allocates for a model, from its header alone.

    The options are those of llama.cpp.  `devices` is their number, or what each of them has
    ("24GiB"); with sizes, or one for the `host`, the call finds how the model fits: the context that
    was not given, the layers on devices, the experts on the host.

    >>> gufo.estimate(model, devices=["1GiB"]).n_ctx
    4096
    >>> gufo.estimate(model, type_k="F32").host.kv_bytes > gufo.estimate(model).host.kv_bytes
    True
    """
    models.need("estimates")
    sizes = None if isinstance(devices, int) else [bytes_in(size) for size in devices]
    if flash_attention not in FLASH_ATTENTION:
        raise ValueError("flash_attention is True, False or None")
    options: dict[str, Any] = {
        "n_ctx": n_ctx,
        "n_batch": n_batch,
        "n_ubatch": n_ubatch,
        "n_seq": n_seq,
        "type_k": type_k,
        "type_v": type_v,
        "flash_attention": FLASH_ATTENTION[flash_attention],
        "kv_unified": kv_unified,
        "swa_full": swa_full,
        "embeddings": embeddings,
        "no_kv_offload": no_kv_offload,
        "n_devices": devices if sizes is None else len(sizes),
        "has_gpu_layers": n_gpu_layers is not None,
        "n_gpu_layers": n_gpu_layers,
        "has_cpu_moe": n_cpu_moe is not None,
        "n_cpu_moe": n_cpu_moe,
        "fits": sizes is not None or host is not None,
        "host_bytes": None if host is None else bytes_in(host),
        "least_ctx": least_ctx,
    }
    if sizes is not None:
        options["device_bytes"] = sizes
    if tensor_split is not None:
        options["tensor_split"] = [float(share) for share in tensor_split]
    beside = [] if projector is None else [core_of(projector)]
    found = _core.estimate(
        core_of(model),
        [core_of(adapter) for adapter in adapters],
        beside,
        None if draft is None else core_of(draft),
        options,
    )
    places = [EstimateDevice(**device) for device in found.pop("devices")]
    if not found.pop("has_gpu_layers"):
        found["n_gpu_layers"] = None
    return Estimate(**found, host=places[0], devices=places[1:])
