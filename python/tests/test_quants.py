"""Blocks of every type: against known bytes, against each other, and against the reference where it is."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gufo import _core, quants
from gufo.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gufo.lazy import LazyNumpyTensor
from gufo.quants import QuantError, dequantize, quantize

Type = GGMLQuantizationType
ENCODED = [Type(row[0]) for row in _core.types() if row[4] & _core.ELEMENT_ENCODES]
NEEDY = [Type.IQ2_XXS, Type.IQ2_XS, Type.IQ1_S]
BLOCKS = [t for t in ENCODED if GGML_QUANT_SIZES[t][0] > 1]
QUICK = [Type.F16, Type.BF16, Type.Q4_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q6_K, Type.TQ2_0, Type.MXFP4]


def normal(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def weights_for(qtype: Type, columns: int) -> Any:
    return np.ones(columns, dtype=np.float32) if qtype in NEEDY else None


def bits(array: Any) -> Any:
    return np.ascontiguousarray(array).view(np.uint8)


# ---- the table of types --------------------------------------------------------------------------


def test_classes() -> None:
    for qtype, quant in quants._type_traits.items():
        assert getattr(quants, qtype.name) is quant
        assert (quant.qtype, quant.__name__) == (qtype, qtype.name)
        assert (quant.block_size, quant.type_size) == GGML_QUANT_SIZES[qtype]
    quantized = _core.ELEMENT_QUANTIZED | _core.ELEMENT_ENCODES
    expected = {Type(row[0]) for row in _core.types() if row[4] & quantized == quantized}
    assert set(quants._type_traits) == expected - {Type.Q8_1, Type.Q8_K} | {Type.BF16}
    with pytest.raises(TypeError):
        quants.Q4_0()


def test_shapes() -> None:
    assert quants.quant_shape_to_byte_shape([3, 512], Type.Q4_K) == (3, 288)
    assert quants.quant_shape_from_byte_shape((3, 288), Type.Q4_K) == (3, 512)
    # An unsigned dimension of a reader must not become a float.
    shape = quants.quant_shape_to_byte_shape(np.array([2, 64], dtype=np.uint64), Type.Q8_0)
    assert shape == (2, 68) and isinstance(shape[-1], int)
    with pytest.raises(ValueError, match="not a multiple of Q8_0 block size"):
        quants.quant_shape_to_byte_shape((2, 65), Type.Q8_0)
    with pytest.raises(ValueError, match="not a multiple of Q8_0 type size"):
        quants.quant_shape_from_byte_shape((2, 65), Type.Q8_0)
    with pytest.raises(ValueError):
        quants.quant_shape_to_byte_shape((), Type.Q8_0)


def test_roundf() -> None:
    n = np.array([0.5, -0.5, 1.5, -2.5, 0.49999997, 8388609, 2.7, np.inf, -0.0], dtype=np.float32)
    rounded = quants.np_roundf(n)
    assert rounded.dtype == np.float32
    assert rounded.tolist() == [1, -1, 2, -3, 0, 8388609, 3, np.inf, 0]
    assert np.signbit(rounded[-1]) and np.isnan(quants.np_roundf(np.array([np.nan])))[0]


# ---- known bytes ---------------------------------------------------------------------------------

RAMP = np.arange(-16, 16, dtype=np.float32)
KNOWN = {
    Type.F16: (np.array([1, -2, 65504], dtype=np.float32), "003c 00c0 ff7b"),
    Type.BF16: (np.array([1, -2, 1.00390625, 1.01171875], dtype=np.float32), "803f 00c0 803f 823f"),
    Type.Q4_0: (np.tile(np.arange(-8, 8, dtype=np.float32), 2),
                "003c 0011 2233 4455 6677 8899 aabb ccdd eeff"),
    Type.Q5_0: (RAMP, "003c 0000 ffff 0011 2233 4455 6677 8899 aabb ccdd eeff"),
    Type.Q4_1: (np.tile(np.arange(16, dtype=np.float32), 2),
                "003c 0000 0011 2233 4455 6677 8899 aabb ccdd eeff"),
    Type.I8: (np.array([1.5, -3, 300], dtype=np.float32), "02 fd 7f"),
    Type.I32: (np.array([-2], dtype=np.float32), "feff ffff"),
}


@pytest.mark.parametrize("qtype", KNOWN, ids=lambda t: t.name)
def test_known_bytes(qtype: Type) -> None:
    values, expected = KNOWN[qtype]
    assert bits(quantize(values, qtype)).tobytes() == bytes.fromhex(expected)
    if qtype not in (Type.I8, Type.BF16):
        np.testing.assert_array_equal(dequantize(quantize(values, qtype), qtype), values)


def golden_cases(shared: Path) -> Any:
    folder = shared / "data/codec/vectors"
    with open(folder / "manifest.tsv", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield folder, row


@pytest.mark.parametrize("qtype", ENCODED, ids=lambda t: t.name)
def test_golden_files(qtype: Type, shared: Path) -> None:
    cases = 0
    for folder, row in golden_cases(shared):
        if row["type"] != qtype.name:
            continue
        cases += 1
        columns = int(row["cols"])
        blocks = np.fromfile(folder / row["q"], dtype=np.uint8).reshape(int(row["rows"]), -1)
        decoded = np.fromfile(folder / row["dq"], dtype=np.float32).reshape(-1, columns)
        found = dequantize(blocks, qtype)
        numbers = ~np.isnan(decoded)
        np.testing.assert_array_equal(bits(found[numbers]), bits(decoded[numbers]), err_msg=row["q"])
        assert np.isnan(found[~numbers]).all()
        # At the edges some bytes are the compiler's, or better than the reference's; the library's tests know which.
        if row["mode"] in ("plain", "imatrix") and not row["case"].startswith(("edge", "conv")):
            values = np.fromfile(folder / row["input"], dtype=np.float32).reshape(-1, columns)
            weights = None
            if row["mode"] == "imatrix":
                weights = np.fromfile(folder / row["imatrix"], dtype=np.float32) if row["imatrix"] != "-" else None
            encoded = bits(quantize(values, qtype, importance=weights)).reshape(blocks.shape)
            np.testing.assert_array_equal(encoded, blocks, err_msg=f"{row['q']} {row['mode']}")
    if cases == 0:
        pytest.skip(f"no golden files of {qtype.name}")


@pytest.mark.parametrize("name", ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S", "IQ1_M"])
def test_grids(name: str, request: pytest.FixtureRequest) -> None:
    quant = getattr(quants, name)
    quant.init_grid()
    grid = quant.grid
    assert (grid.dtype, grid.shape) == (np.float32, (1, 1, *quant.grid_shape))
    steps = {"IQ2": (8, 25, 43), "IQ1": (-1, 0, 1), "IQ3_X": (4, 12, 20, 28, 36, 44, 52, 62), "IQ3_S": range(1, 17, 2)}
    assert list(np.unique(grid)) == next(list(values) for start, values in steps.items() if name.startswith(start))
    assert len(np.unique(grid[0, 0], axis=0)) == quant.grid_shape[0]
    assert getattr(quants, "Q4_K").grid is None
    file = name.replace("_", "").lower().replace("iq1m", "iq1s")
    table = request.getfixturevalue("shared") / f"data/codec/tables/{file}_grid.csv"
    np.testing.assert_array_equal(grid[0, 0], np.loadtxt(table, delimiter=","))


def test_value_tables() -> None:
    assert quants.IQ4_NL.kvalues == quants.IQ4_XS.kvalues
    assert quants.IQ4_NL.kvalues[::5] == (-127, -35, 25, 113)
    assert quants.MXFP4.kvalues == (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)


# ---- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("qtype", ENCODED, ids=lambda t: t.name)
def test_round_trip(qtype: Type) -> None:
    values = normal(3, 2, 512)
    values[1, 0] = 0
    blocks = quantize(values, qtype, importance=weights_for(qtype, 512))
    assert quants.quant_shape_to_byte_shape(values.shape, qtype) == bits(blocks).shape
    back = dequantize(blocks, qtype)
    assert (back.shape, back.dtype) == (values.shape, np.float32)
    error = np.sqrt(np.mean((back - values) ** 2))
    elements, size = GGML_QUANT_SIZES[qtype]
    limit = 2.0 ** (2 - 8 * size / elements)  # each bit less doubles the error
    if elements == 1:
        limit = 0.4 if qtype.name.startswith("I") else 0.002
    assert error < limit
    np.testing.assert_array_equal(back[1, 0] == 0, True)


KINDS = st.sampled_from(["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "i1", "<i2"])


@given(
    data=st.data(),
    shape=st.lists(st.integers(1, 4), max_size=3),
    blocks=st.integers(1, 3),
    qtype=st.sampled_from(QUICK),
    order=st.permutations(range(3)),
)
@settings(deadline=None, max_examples=60)
def test_any_array(data: Any, shape: list[int], blocks: int, qtype: Type, order: list[int]) -> None:
    """Whatever its dtype and strides are, an array is the numbers that it shows."""
    columns = blocks * GGML_QUANT_SIZES[qtype][0]
    kind = np.dtype(data.draw(KINDS))
    values = (normal(*shape, columns, seed=blocks) * 20).astype(kind)
    twisted = np.repeat(values.transpose([i for i in order if i < len(shape)] + [len(shape)]), 2, axis=-1)[..., ::2]
    plain = np.ascontiguousarray(twisted, dtype=np.float32)
    expected = quantize(plain, qtype)
    found = quantize(twisted, qtype)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()

    wide = np.repeat(bits(found), 2, axis=-1)[..., ::2]
    np.testing.assert_array_equal(dequantize(wide, qtype), dequantize(expected, qtype))


@given(data=st.data(), qtype=st.sampled_from(sorted(quants._type_traits)), blocks=st.integers(0, 4))
@settings(deadline=None, max_examples=100)
def test_any_bytes_decode(data: Any, qtype: Type, blocks: int) -> None:
    elements, size = GGML_QUANT_SIZES[qtype]
    raw = data.draw(hnp.arrays(np.uint8, (2, blocks * size)))
    decoded = dequantize(raw, qtype)
    assert decoded.shape == (2, blocks * elements)
    again = [dequantize(raw[:, i : i + size], qtype) for i in range(0, raw.shape[1], size)]
    assert bits(np.concatenate([np.empty((2, 0), np.float32), *again], axis=1)).tobytes() == bits(decoded).tobytes()


@pytest.mark.parametrize("qtype", [t for t in ENCODED if t not in (Type.F32, Type.F64)], ids=lambda t: t.name)
def test_threads_and_pieces_give_the_same_bytes(qtype: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 24 if qtype.name.startswith("IQ") else 1030
    values, weights = normal(rows, 1024), weights_for(qtype, 1024)
    blocks = quantize(values, qtype, weights, threads=1)
    numbers = dequantize(blocks, qtype, threads=1)
    monkeypatch.setattr(quants, "_PIECE_BYTES", 50_000)
    spread = np.repeat(values, 2, 1)[:, ::2]
    for other in (quantize(values, qtype, weights, threads=3), quantize(spread, qtype, weights)):
        assert other.tobytes() == blocks.tobytes()
    for back in (dequantize(blocks, qtype, threads=3), dequantize(np.repeat(blocks, 2, 1)[:, ::2], qtype)):
        assert back.tobytes() == numbers.tobytes()


def test_dequantize_takes_any_dtype() -> None:
    values = normal(4, 64)
    blocks = quantize(values, Type.Q8_0)
    numbers = dequantize(blocks, Type.Q8_0)
    for kind in (np.int8, np.uint16, np.uint32):
        np.testing.assert_array_equal(dequantize(blocks.view(kind), Type.Q8_0), numbers)
    np.testing.assert_array_equal(dequantize(blocks.view(np.recarray), Type.Q8_0), numbers)
    # What a reader gives for a file in the other byte order.
    for qtype, kind in ((Type.F32, ">f4"), (Type.F16, ">f2"), (Type.F64, ">f8"), (Type.I32, ">i4")):
        whole = np.round(values * 8)
        np.testing.assert_array_equal(dequantize(whole.astype(kind), qtype), whole)
    assert dequantize(np.zeros((0, 34), np.uint8), Type.Q8_0).shape == (0, 32)
    assert quantize(np.zeros((3, 0), np.float32), Type.Q8_0).shape == (3, 0)


def test_removed_types() -> None:
    """They have no members of the enum, but files have them."""
    blocks = np.zeros((8, 18), dtype=np.uint8)
    blocks[:, 1] = 0x3C
    for number, zero in ((31, 0), (33, 0), (36, 1)):
        assert dequantize(blocks, number).shape == (8, 32)
    with pytest.raises(NotImplementedError, match="Q4_0_4_4"):
        quantize(np.zeros((4, 32), np.float32), 31)


# ---- memory --------------------------------------------------------------------------------------


def test_no_copies() -> None:
    values = normal(8, 64)
    assert quantize(values, Type.F32) is values
    assert np.shares_memory(dequantize(bits(values), Type.F32), values)
    halves = values.astype(np.float16)
    assert quantize(halves, Type.F16) is halves


def peak_of(call: Any) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result, and a few pieces."""
    monkeypatch.setattr(quants, "_PIECE_BYTES", 1 << 16)
    values = np.asfortranarray(normal(2, 1024, 512).astype(np.float64))
    blocks = quantize(values, Type.Q8_0)
    spread = np.repeat(blocks, 2, axis=-1)[..., ::2]
    assert peak_of(lambda: quantize(values, Type.Q8_0)) < blocks.nbytes + (1 << 19)
    assert peak_of(lambda: dequantize(spread, Type.Q8_0)) < values.size * 4 + (1 << 19)
    assert peak_of(lambda: dequantize(blocks, Type.Q8_0)) < values.size * 4 + (1 << 17)


# ---- importance and effort -----------------------------------------------------------------------


@pytest.mark.parametrize("qtype", [Type.Q4_0, Type.Q2_K, Type.Q4_K, Type.IQ4_XS, Type.IQ2_XXS], ids=lambda t: t.name)
def test_importance(qtype: Type) -> None:
    values = normal(16, 256)
    weights = np.where(np.arange(256) % 4 == 0, 1000, 1)

    def error(importance: Any) -> float:
        back = dequantize(quantize(values, qtype, importance=importance), qtype)
        return float((weights * (back - values) ** 2).mean())

    assert error(weights) < error(np.ones(256))


def test_importance_of_each_matrix() -> None:
    values, weights = normal(3, 8, 256), np.random.default_rng(2).random((3, 256))
    blocks = quantize(values, Type.Q4_K, importance=weights)
    for i in range(3):
        np.testing.assert_array_equal(blocks[i], quantize(values[i], Type.Q4_K, importance=weights[i]))
    lazy = quantize(LazyNumpyTensor.from_eager(values), Type.Q4_K, weights)
    np.testing.assert_array_equal(LazyNumpyTensor.to_eager(lazy), blocks)
    assert (blocks[1] != quantize(values[1], Type.Q4_K, importance=weights[0])).any()


@pytest.mark.parametrize("bad", [np.ones(255), np.ones((2, 256)), -np.ones(256), np.full(256, np.nan), np.ones(())])
def test_bad_importance(bad: Any) -> None:
    with pytest.raises(ValueError, match="importance"):
        quantize(normal(4, 256), Type.Q4_K, importance=bad)


def test_effort() -> None:
    values = normal(32, 256)
    errors = [
        float(((dequantize(quantize(values, Type.Q3_K, effort=effort), Type.Q3_K) - values) ** 2).sum())
        for effort in ("reference", "high")
    ]
    assert errors[1] < errors[0]
    with pytest.raises(ValueError, match="'reference' or 'high'"):
        quantize(values, Type.Q3_K, effort="highest")


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("qtype", BLOCKS, ids=lambda t: t.name)
def test_rows_that_are_no_blocks(qtype: Type) -> None:
    elements, size = GGML_QUANT_SIZES[qtype]
    for shape in ((2, elements + 1), ()):
        assert not quants._classes[qtype].can_quantize(np.zeros(shape))
        with pytest.raises(QuantError, match=re.escape(f"{shape} to {qtype.name}")):
            quantize(np.zeros(shape, np.float32), qtype)
    for raw in (np.zeros((2, size + 1), np.uint8), np.zeros((), np.uint8)):
        with pytest.raises(ValueError):
            dequantize(raw, qtype)


def test_what_is_not_implemented() -> None:
    for qtype in NEEDY:
        with pytest.raises(NotImplementedError, match="needs importance"):
            quantize(np.zeros(256, np.float32), qtype)
    for unknown in (4, 37, 99, Type.TQ3_1S, "Q4_0"):
        with pytest.raises(NotImplementedError):
            quantize(np.zeros(256, np.float32), unknown)  # type: ignore[arg-type]
        with pytest.raises(NotImplementedError):
            dequantize(np.zeros(256, np.uint8), unknown)  # type: ignore[arg-type]


# ---- lazy tensors --------------------------------------------------------------------------------


@pytest.mark.parametrize("qtype", ENCODED, ids=lambda t: t.name)
def test_lazy(qtype: Type) -> None:
    values, weights = normal(2, 256), weights_for(qtype, 256)
    calls: list[int] = []

    def load() -> Any:
        calls.append(1)
        return values

    lazy = LazyNumpyTensor(meta=LazyNumpyTensor.eager_to_meta(values), func=load)
    blocks = quantize(lazy, qtype, weights)
    back = dequantize(blocks, qtype)
    eager = quantize(values, qtype, weights)
    assert isinstance(blocks, LazyNumpyTensor) and isinstance(back, LazyNumpyTensor)
    assert (blocks.shape, blocks.dtype) == (eager.shape, eager.dtype)
    assert (back.shape, back.dtype, calls) == (values.shape, np.float32, [])
    np.testing.assert_array_equal(LazyNumpyTensor.to_eager(back), dequantize(eager, qtype))
    np.testing.assert_array_equal(LazyNumpyTensor.to_eager(blocks), eager)
    assert calls == [1]


def test_lazy_errors_come_at_once() -> None:
    lazy = LazyNumpyTensor.from_eager(normal(2, 40))
    with pytest.raises(QuantError):
        quantize(lazy, Type.Q8_0)
    with pytest.raises(ValueError):
        dequantize(lazy, Type.Q8_0)
    with pytest.raises(NotImplementedError):
        quantize(LazyNumpyTensor.from_eager(normal(2, 256)), Type.IQ1_S)


# ---- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("qtype", [t for t in quants._type_traits if t not in NEEDY], ids=lambda t: t.name)
def test_functions_of_a_class(qtype: Type) -> None:
    quant = quants._type_traits[qtype]
    values = normal(2, 512)
    blocks = quant.quantize(values)
    np.testing.assert_array_equal(quant.quantize_rows(values), blocks)
    np.testing.assert_array_equal(
        quant.quantize_blocks(values.reshape(-1, quant.block_size)), blocks.reshape(-1, quant.type_size))
    decoded = quant.dequantize(blocks)
    np.testing.assert_array_equal(quant.dequantize_rows(blocks), decoded)
    np.testing.assert_array_equal(
        quant.dequantize_blocks(blocks.reshape(-1, quant.type_size)), decoded.reshape(-1, quant.block_size))


# ---- the reference -------------------------------------------------------------------------------


def test_reference_gives_the_same(peer: ModuleType) -> None:
    values = normal(8, 1024)
    values[0] = 0
    random = np.random.default_rng(3).random((16, 1050 * 4)).astype(np.float16)
    for qtype, theirs in peer.quants._type_traits.items():
        ours = quants._type_traits[Type[qtype.name]]
        assert (ours.block_size, ours.type_size) == (theirs.block_size, theirs.type_size)
        raw = bits(random)[:, : ours.type_size * 8]
        with np.errstate(all="ignore"):
            assert bits(ours.dequantize(raw)).tobytes() == bits(theirs.dequantize(raw)).tobytes(), qtype.name
            try:
                expected = theirs.quantize(values)
            except NotImplementedError:
                continue
        np.testing.assert_array_equal(ours.quantize(values), expected, err_msg=qtype.name)
        theirs.init_grid()
        assert theirs.grid is None


def test_script_of_the_reference() -> None:
    """Its own test against ggml, unchanged, for types that take little time."""
    folder, library = os.environ.get("GUFO_PEER_GGUF"), os.environ.get("GUFO_LIBGGML")
    if not folder or not library:
        pytest.skip("GUFO_PEER_GGUF and GUFO_LIBGGML do not name the reference package and a shared ggml")
    environment = {**os.environ, "NO_LOCAL_GGUF": "1"}
    for qtype in ("F16", "Q4_0", "Q8_0", "Q6_K", "IQ4_NL"):
        command = [sys.executable, f"{folder}/tests/test_quants.py", "--libggml", library, "--type", qtype]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
        assert said.count("matches exactly") == 3 and "does not match" not in said, said
