"""The scripts: what they print and write, alone and beside those of the reference package."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gufo
from gufo.scripts import (gguf_convert_endian, gguf_dump, gguf_editor_gui, gguf_hash, gguf_new_metadata,
                          gguf_set_metadata)

importlib.import_module("gguf")  # before the reference package: its scripts are to find this one
Q4_K, BF16 = gufo.GGMLQuantizationType.Q4_K, gufo.GGMLQuantizationType.BF16


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file with values of all kinds, some of them hostile, and tensors in several groups."""
    path = tmp_path / "m.gguf"
    with gufo.GGUFWriter(path, "llama") as writer:
        writer.add_name("A \x1b[31mname | `code`\nend")
        writer.add_uint8("k.u8", 200)
        writer.add_float32("k.f32", 0.1)
        writer.add_bool("k.bool", True)
        writer.add_array("k.numbers", list(range(9)))
        writer.add_array("k.texts", ["a", "b`c", "d\x07", "e" * 70, "``", "f"])
        writer.add_array("k.nested", [[1, 2], [3]])
        writer.add_key_value("k.empty", np.array([], np.int32), gufo.GGUFValueType.ARRAY)
        writer.add_string("k.long", "z" * 99)
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(["<s>", "</s>", "a"])
        writer.add_bos_token_id(0)
        writer.add_tensor("token_embd.weight", np.arange(1024, dtype=np.float32).reshape(4, 256))
        writer.add_tensor("blk.0.attn_q.weight", np.arange(288)
                          .astype(np.uint8).reshape(2, 144), raw_dtype=Q4_K)
        writer.add_tensor("blk.10.ffn_up.bias", np.ones((2, 3, 4), np.float16))
        writer.add_tensor("enc.output_norm.weight", np.arange(8, dtype=np.uint8), raw_dtype=BF16)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    return path


def run(script: Any, monkeypatch: pytest.MonkeyPatch, *words: Any, answer: str = "") -> int:
    """The exit status of a script."""
    monkeypatch.setattr(sys, "argv", ["script", *map(str, words)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    try:
        script.main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    return 0


def theirs(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A script of the reference package, which finds this package under its name."""
    folder = os.environ.get("GUFO_PEER_GGUF")
    if not folder:
        pytest.skip("GUFO_PEER_GGUF names no folder with the reference package")
    monkeypatch.setenv("NO_LOCAL_GGUF", "1")
    spec = importlib.util.spec_from_file_location(f"their_{name}", f"{folder}/gguf/scripts/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- gguf-dump

def test_dump_as_text(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(gguf_dump, monkeypatch, model) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert "\x1b" not in out and "\x07" not in out
    assert lines[1] == "* Dumping 16 key/value pair(s)"
    assert r"      5: STRING     |        1 | general.name = 'A \x1b[31mname | `code`\nend'" in lines
    assert "      9: [INT32]    |        9 | k.numbers = [0, 1, 2, 3, 4, 5, ...]" in lines
    assert "     11: [[INT32]]  |        3 | k.nested = [1, 2, 3]" in lines
    assert "     12: ARRAY      |        0 | k.empty = []" in lines
    assert f"     13: STRING     |        1 | k.long = '{'z' * 57}...'" in lines
    assert lines[-4:] == [
        "      1:       1024 |   256,     4,     1,     1 | F32     | token_embd.weight",
        "      2:        512 |   256,     2,     1,     1 | Q4_K    | blk.0.attn_q.weight",
        "      3:         24 |     4,     3,     2,     1 | F16     | blk.10.ffn_up.bias",
        "      4:          4 |     4,     1,     1,     1 | BF16    | enc.output_norm.weight"]


def test_dump_of_bytes_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.gguf"
    with gufo.GGUFWriter(path, "llama") as writer:
        writer.add_string("k.bad", b"a\xff")  # type: ignore[arg-type]
        writer.add_array("k.list", [b"\xfe", b"b"])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
    for form in ([], ["--json", "--json-array"], ["--markdown"]):
        assert run(gguf_dump, monkeypatch, path, *form) == 0
        out = capsys.readouterr().out
        assert r"a\\xff" in out or r"a\xff" in out


def test_dump_as_json(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(gguf_dump, monkeypatch, "--json", "--json-array", model)
    found = json.loads(capsys.readouterr().out)
    assert (found["filename"], found["endian"]) == (str(model), "LITTLE")
    assert found["metadata"]["general.architecture"] == {
        "index": 3, "type": "STRING", "offset": 24, "value": "llama"}
    assert found["metadata"]["k.nested"]["array_types"] == ["ARRAY", "INT32"]
    assert found["metadata"]["k.numbers"]["value"] == list(range(9))
    assert found["tensors"]["blk.0.attn_q.weight"]["shape"] == [256, 2]
    gguf_dump.dump_metadata_json(gufo.GGUFReader(model),
                                 argparse.Namespace(model="m", no_tensors=True, json_array=False))
    found = json.loads(capsys.readouterr().out)
    assert found["tensors"] == {} and "value" not in found["metadata"]["k.numbers"]


def test_dump_as_markdown(model: Path, monkeypatch: pytest.MonkeyPatch,
                          capsys: pytest.CaptureFixture[str]) -> None:
    run(gguf_dump, monkeypatch, "--markdown", model)
    out = capsys.readouterr().out
    assert r"``A \x1b[31mname | `code`\nend``" in out
    assert "[ 0, 1, 2, 3, 4, 5, 6, ... ]" in out
    assert r"[ `a`, ``b`c``, `d\x07`, `eeeeeeeeeeeeeee`...`eeeeeeeeeeeeeee`, ``` `` ```, ... ]" in out
    assert "- [Block 10 Tensor Group - 24 Elements](#blk_10)" in out
    assert '### <a name="enc">Encoder Tensor Group : 4 Elements</a>' in out
    assert "| Block 0 Attention Query (W)      | (512) 512 | 256 x 2 x 1 x 1 | Q4_K | 4.5000 |" in out
    assert out.endswith("Total BPW for m.gguf: 22.7110 bits\n")


def test_dump_of_places(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(gguf_dump, monkeypatch, "--data-offset", model)
    run(gguf_dump, monkeypatch, "--data-alignment", model)
    assert capsys.readouterr().out.split() == [str(gufo.GGUFReader(model).data_offset), "32"]


FORMS = ([], ["--no-tensors"], ["--json"], ["--json", "--json-array"], ["--markdown"], ["--data-offset"])


@pytest.mark.parametrize("form", FORMS)
def test_dump_as_reference(form: list[str], shared: Path, monkeypatch: pytest.MonkeyPatch,
                           capsys: pytest.CaptureFixture[str]) -> None:
    reference = theirs("gguf_dump", monkeypatch)
    for path in sorted((shared / "data/vocab").glob("*.gguf")):
        printed = []
        for script in (gguf_dump, reference):
            assert run(script, monkeypatch, *form, path) == 0
            printed.append(capsys.readouterr().out)
        # the reference leaves control characters in Markdown as they are
        if r"\n" not in printed[0] or form != ["--markdown"]:
            assert printed[0] == printed[1], path


@pytest.mark.parametrize("count, text", [(999, "999"), (1000, "1000"), (1001, "~1K"), (1500, "~2K"),
                                         (10 ** 6, "~1000K"), (10 ** 6 + 1, "~1M"), (10 ** 16, "~10Q")])
def test_rounded_counts(count: int, text: str) -> None:
    assert gguf_dump.element_count_rounded_notation(count) == text


# -- gguf-set-metadata

@pytest.mark.parametrize("key, text, value", [
    ("k.u8", "7", 7), ("k.f32", "2.5", 2.5), ("k.bool", "false", False), ("k.bool", "0", False),
    ("general.name", "other", "other"), ("general.name", "longer " * 99, "longer " * 99)])
def test_set(model: Path, monkeypatch: pytest.MonkeyPatch, key: str, text: str, value: Any) -> None:
    old = gufo.GGUFReader(model)
    tensors = {tensor.name: bytes(tensor.data) for tensor in old.tensors}
    assert run(gguf_set_metadata, monkeypatch, model, key, text, "--dry-run") == 0
    assert gufo.GGUFReader(model).fields[key].contents() == old.fields[key].contents()
    assert run(gguf_set_metadata, monkeypatch, model, key, text, answer="no") == 0
    assert gufo.GGUFReader(model).fields[key].contents() == old.fields[key].contents()
    assert run(gguf_set_metadata, monkeypatch, model, key, text, answer="YES\n") == 0
    new = gufo.GGUFReader(model)
    assert new.fields[key].contents() == value
    assert {tensor.name: bytes(tensor.data) for tensor in new.tensors} == tensors
    assert run(gguf_set_metadata, monkeypatch, model, key, text, "--force") == 0


@pytest.mark.parametrize("key, text", [("k.u8", "256"), ("k.u8", "x"), ("k.bool", "perhaps"), ("k.none", "1"),
                                       ("k.numbers", "1"), ("GGUF.version", "2")])
def test_set_refuses(model: Path, monkeypatch: pytest.MonkeyPatch, key: str, text: str) -> None:
    old = model.read_bytes()
    assert run(gguf_set_metadata, monkeypatch, model, key, text, "--force") == 1
    assert model.read_bytes() == old


# -- gguf-new-metadata

TEMPLATES = '[{"name": "default", "template": "D"}, {"name": "x", "template": "y"}]'
CHANGES = (["--general-name", "N", "--general-description", "D"], ["--special-token", "eos", "</s>"],
           ["--special-token-by-id", "bos", "1"], ["--special-token", "nothing", "</s>"],
           ["--remove-metadata", "general.name", "--pre-tokenizer", "p"], ["--chat-template", "T"],
           ["--chat-template", TEMPLATES])


@pytest.mark.parametrize("change", CHANGES)
def test_new_metadata_as_reference(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                   change: list[str]) -> None:
    source = shared / "data/vocab/ggml-vocab-phi-3.gguf"
    written = []
    for script in (gguf_new_metadata, theirs("gguf_new_metadata", monkeypatch)):
        target = tmp_path / script.__name__
        assert run(script, monkeypatch, source, target, *change, "--force") == 0
        written.append(target.read_bytes())
    assert written[0] == written[1]


def test_new_metadata(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "new.gguf"
    assert run(gguf_new_metadata, monkeypatch, model, target, "--general-name", "N", "--chat-template", TEMPLATES,
               "--special-token", "eos", "</s>", "--remove-metadata", "k.u8", answer="YES") == 0
    old, new = gufo.open(model), gufo.open(target)
    assert (new["general.name"], new["tokenizer.chat_template"], new["tokenizer.chat_template.x"],
            new["tokenizer.ggml.eos_token_id"]) == ("N", "D", "y", 1)
    assert new["k.nested"] == [[1, 2], [3]] and "k.u8" not in new
    for name in old.tensors:
        assert bytes(new.tensors[name].data) == bytes(old.tensors[name].data)
    # a second set of templates replaces the first, and a no leaves the file
    before = target.read_bytes()
    assert run(gguf_new_metadata, monkeypatch, model, target, answer="no") == 0
    assert target.read_bytes() == before
    last = tmp_path / "last.gguf"
    assert run(gguf_new_metadata, monkeypatch, target, last, "--chat-template", "T") == 0
    assert [key for key in gufo.open(last) if "chat_template" in key] == ["tokenizer.chat_template"]


def test_new_metadata_of_unknown_tokens(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for option in (["--special-token", "bos", "none"], ["--special-token-by-id", "bos", "3"]):
        assert run(gguf_new_metadata, monkeypatch, model, tmp_path / "new.gguf", *option) == 1
    assert not (tmp_path / "new.gguf").exists()


# -- gguf-convert-endian, gguf-hash, gguf-editor-gui

def test_convert_endian(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    little = model.read_bytes()
    for words in (["big", "--dry-run"], ["little"], ["big"]):
        assert run(gguf_convert_endian, monkeypatch, model, *words, answer="no") == 0
        assert model.read_bytes() == little
    assert run(gguf_convert_endian, monkeypatch, model, "big", answer="YES") == 0
    reader = gufo.GGUFReader(model)
    assert reader.endianess == gufo.GGUFEndian.BIG
    assert reader.fields["k.numbers"].contents() == list(range(9))
    assert reader.tensors[0].data.dtype == np.dtype(">f4") and reader.tensors[0].data[1, 0] == 256
    assert run(gguf_convert_endian, monkeypatch, model, "native", answer="YES") == 0
    assert model.read_bytes() == little
    assert len(list(model.parent.iterdir())) == 1


def test_convert_endian_as_reference(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    little = model.read_bytes()
    swapped = []
    for script in (gguf_convert_endian, theirs("gguf_convert_endian", monkeypatch)):
        model.write_bytes(little)
        assert run(script, monkeypatch, model, "big", answer="YES") == 0
        swapped.append(model.read_bytes())
    assert swapped[0] == swapped[1]


def test_hash_as_reference(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--no-layer"]):
        printed = []
        for script in (gguf_hash, theirs("gguf_hash", monkeypatch)):
            assert run(script, monkeypatch, *words, model) == 0
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]


def test_hash(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(gguf_hash, monkeypatch, "--no-layer", model)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["sha1", "sha256", "uuid"]
    run(gguf_hash, monkeypatch, model)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11 and lines[0].endswith(f"  {model}:token_embd.weight")


@pytest.mark.parametrize("script", [gguf_dump, gguf_hash, gguf_convert_endian, gguf_set_metadata])
def test_files_that_are_none(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"no model")
    words = {gguf_convert_endian: ["big"], gguf_set_metadata: ["a", "b"]}.get(script, [])
    for path in (bad, tmp_path / "none"):
        assert run(script, monkeypatch, path, *words) == 1


def test_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="gufo edit"):
        gguf_editor_gui.main()


def test_scripts_run_as_modules(model: Path) -> None:
    for package in ("gufo", "gguf"):
        done = subprocess.run([sys.executable, "-m", f"{package}.scripts.gguf_dump", "--data-alignment", model],
                              capture_output=True, text=True, check=True)
        assert done.stdout == "32\n"
