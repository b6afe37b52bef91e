"""Names in the frameworks and names in GGUF files: a part that always runs, and every architecture against gguf."""

from __future__ import annotations

from types import ModuleType

import pytest

from conftest import is_release
from gufo.constants import MODEL_ARCH, MODEL_TENSOR, MODEL_TENSORS
from gufo.tensor_mapping import TensorNameMap, get_tensor_name_map


def test_names_of_a_model() -> None:
    names = get_tensor_name_map(MODEL_ARCH.LLAMA, 2)
    assert names.get_name("model.layers.1.self_attn.q_proj.weight", try_suffixes=(".weight", ".bias")) == "blk.1.attn_q.weight"
    assert names.get_type("model.embed_tokens") is MODEL_TENSOR.TOKEN_EMBD
    assert names.get_type_and_name("lm_head.bias", (".bias",)) == (MODEL_TENSOR.OUTPUT, "output.bias")
    assert names["model.norm"] == "output_norm" and "blk.0.ffn_up" in names
    assert names.get_name("model.layers.2.self_attn.q_proj") is None
    assert names.get_name("model.norm.weight") is names.get_type("model.norm.weight") is None
    assert "model.layers.1.self_attn.q_proj.weight" not in names
    with pytest.raises(KeyError, match="nothing"):
        names["nothing"]


def test_suffixes_are_tried_in_order() -> None:
    names = TensorNameMap(MODEL_ARCH.LLAMA, 0)
    assert names.get_name("output", ("t", "")) == "output"
    assert names.get_name("lm_headt", ("", "t")) == "outputt"


def test_one_name_means_another_tensor_in_another_architecture() -> None:
    name = "model.layers.0.post_attention_layernorm"
    assert TensorNameMap(MODEL_ARCH.LLAMA, 1)[name] == "blk.0.ffn_norm"
    assert TensorNameMap(MODEL_ARCH.GEMMA2, 1)[name] == "blk.0.post_attention_norm"
    assert TensorNameMap(MODEL_ARCH.ARCTIC, 1)[name] == "blk.0.ffn_norm_exps"
    assert TensorNameMap(MODEL_ARCH.LLAMA, 1)[name] == "blk.0.ffn_norm"


def test_tables_can_be_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TensorNameMap.block_mappings_cfg, MODEL_TENSOR.ATTN_SINKS, ("my.{bid}.sinks",))
    monkeypatch.setitem(MODEL_TENSORS, MODEL_ARCH.LLAMA, [MODEL_TENSOR.ATTN_SINKS])
    assert TensorNameMap(MODEL_ARCH.LLAMA, 1).mapping == {
        name: (MODEL_TENSOR.ATTN_SINKS, "blk.0.attn_sinks") for name in ("blk.0.attn_sinks", "my.0.sinks")}


@pytest.mark.parametrize("arch", MODEL_ARCH.__members__)
def test_mapping_is_that_of_gguf(peer: ModuleType, monkeypatch: pytest.MonkeyPatch, arch: str) -> None:
    if arch not in peer.MODEL_ARCH.__members__:
        pytest.skip("gguf does not know this architecture")
    # gguf keeps what it changes for one architecture when it makes the map of the next one.
    monkeypatch.setattr(peer.TensorNameMap, "block_mappings_cfg", dict(peer.TensorNameMap.block_mappings_cfg))
    theirs = {name: (tensor.name, target)
              for name, (tensor, target) in peer.get_tensor_name_map(peer.MODEL_ARCH[arch], 2).mapping.items()}
    ours = {name: (tensor.name, target)
            for name, (tensor, target) in get_tensor_name_map(MODEL_ARCH[arch], 2).mapping.items()}
    if is_release(peer):  # later the name of the norm of granite's speech encoder became one of its variance
        theirs = {name: target for name, target in theirs.items() if not name.endswith(".conv.batch_norm")}
    assert {name: ours.get(name) for name in theirs} == theirs
