"""Numbers, names and tables of gufo.constants: a part that always runs, and one against gguf itself where it is."""

from __future__ import annotations

import enum
import inspect
from types import ModuleType
from typing import Any

import pytest

from conftest import is_release
from gufo import constants

ENUMS = [name for name, thing in vars(constants).items()
         if inspect.isclass(thing) and issubclass(thing, enum.Enum) and thing.__module__ == constants.__name__]


def members(thing: type) -> dict[str, Any]:
    """The members of an enum, or of a class of plain values, nested classes included."""
    found: dict[str, Any] = {}
    for name, value in vars(thing).items():
        if isinstance(value, type):
            found.update({f"{name}.{inner}": v for inner, v in members(value).items()})
        elif not name.startswith("_") and not callable(value) and not isinstance(value, staticmethod):
            found[name] = value.value if isinstance(value, enum.Enum) else value
    return found


def by_name(table: dict[Any, Any]) -> dict[str, Any]:
    return {key.name: sorted(t.name for t in value) if isinstance(value, list) else value for key, value in table.items()}


def missing(wanted: dict[str, Any], there: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What is not there as it is wanted; more may be there."""
    return {name: (value, there.get(name)) for name, value in wanted.items() if there.get(name) != value}


def test_numbers_of_the_format() -> None:
    assert constants.GGUF_MAGIC.to_bytes(4, "little") == b"GGUF"
    assert (constants.GGUF_VERSION, constants.GGUF_DEFAULT_ALIGNMENT, constants.GGML_QUANT_VERSION) == (3, 32, 2)
    assert [t.name for t in constants.GGUFValueType] == [
        "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "BOOL", "STRING", "ARRAY", "UINT64", "INT64",
        "FLOAT64"]
    assert list(constants.GGUFValueType) == list(range(13))


def test_element_types() -> None:
    types, sizes = constants.GGMLQuantizationType, constants.GGML_QUANT_SIZES
    assert (types.Q4_K, types.MXFP4, types.Q2_0, types.TQ4_1S) == (12, 39, 42, 46)
    assert (sizes[types.F16], sizes[types.Q4_K], sizes[types.TQ3_1S]) == ((1, 2), (256, 144), (32, 16))
    assert set(sizes) == set(types)
    with pytest.raises(ValueError):
        types(4)


def test_keys() -> None:
    assert constants.Keys.General.ARCHITECTURE == "general.architecture"
    assert constants.Keys.Attention.Indexer.TOP_K == "{arch}.attention.indexer.top_k"
    assert constants.KEY_TOKENIZER_LIST is constants.Keys.Tokenizer.LIST


def test_tables_of_architectures() -> None:
    archs, tensors = constants.MODEL_ARCH, constants.MODEL_TENSOR
    assert constants.MODEL_ARCH_NAMES[archs.QWEN3MOE] == "qwen3moe"
    assert constants.TENSOR_NAMES[tensors.ATTN_Q] == "blk.{bid}.attn_q"
    assert set(constants.MODEL_ARCH_NAMES) == set(constants.MODEL_TENSORS) == set(archs)
    assert len(set(constants.MODEL_ARCH_NAMES.values())) == len(archs)
    assert tensors.FFN_PRE_NORM in constants.MODEL_TENSORS[archs.GEMMA2]
    assert tensors.FFN_NORM not in constants.MODEL_TENSORS[archs.GEMMA2]
    for arch, has in constants.MODEL_TENSORS.items():
        assert len(set(has)) == len(has), arch


@pytest.mark.parametrize("value, name", [
    ("a", "STRING"), (b"a", "STRING"), (bytearray(b"a"), "STRING"), ([], "ARRAY"), (1.5, "FLOAT32"), (True, "BOOL"),
    (-1, "INT32")])
def test_type_of_a_value(value: Any, name: str) -> None:
    assert constants.GGUFValueType.get_type(value) is constants.GGUFValueType[name]


@pytest.mark.parametrize("value", [None, {}, (1,), 1j])
def test_value_without_a_type(value: Any) -> None:
    with pytest.raises(ValueError, match="no type"):
        constants.GGUFValueType.get_type(value)


def test_gguf_has_nothing_else(peer: ModuleType) -> None:
    theirs = {name: value for name, value in vars(peer.constants).items() if isinstance(value, (int, str))
              and not name.startswith("_")}
    assert missing(theirs, vars(constants)) == {}


@pytest.mark.parametrize("name", ENUMS + ["Keys", "GGUFType", "VisionProjectorType"])
def test_members_are_those_of_gguf(peer: ModuleType, name: str) -> None:
    theirs = getattr(peer.constants, name)
    ours = getattr(constants, name)
    assert theirs.__bases__ == ours.__bases__
    if is_release(peer) and name in ("MODEL_ARCH", "MODEL_TENSOR"):  # new members shift the numbers
        assert set(members(theirs)) - set(members(ours)) == set()
    else:
        assert missing(members(theirs), members(ours)) == {}


@pytest.mark.parametrize("name", ["MODEL_ARCH_NAMES", "VISION_PROJECTOR_TYPE_NAMES", "TENSOR_NAMES", "MODEL_TENSORS",
                                  "MODEL_TENSOR_SKIP", "GGML_QUANT_SIZES"])
def test_tables_are_those_of_gguf(peer: ModuleType, name: str) -> None:
    theirs = by_name(getattr(peer.constants, name))
    ours = by_name(getattr(constants, name))
    if name == "MODEL_TENSORS":
        theirs = {arch: sorted(set(tensors)) for arch, tensors in theirs.items()}
        if is_release(peer):  # it lacks tensors that came later
            ours = {arch: sorted(set(ours[arch]) & set(tensors)) for arch, tensors in theirs.items()}
    if name == "GGML_QUANT_SIZES":
        theirs["Q8_1"] = (32, 36)  # gguf says 40: it counts the scale and the sum as float32, and ggml as float16
    assert missing(theirs, ours) == {}
