"""Names of files, sizes of models, and safetensors files: local ones, and those of a server that the test runs."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

import numpy as np
import pytest

from gufo import utility
from gufo.utility import RemoteTensor, SafetensorRemote, SafetensorsLocal

# ---- names and sizes ----------------------------------------------------------------------------


@pytest.mark.parametrize("count, digits, text", [
    (0, 2, "0.00K"), (999, 2, "1.0K"), (1_000_000, 2, "1000K"), (1_000_001, 2, "1.0M"), (6_738_415_616, 2, "6.7B"),
    (14 * 10**9, 2, "14B"), (15 * 10**12, 4, "15.00T")])
def test_rounded_count(count: int, digits: int, text: str) -> None:
    assert utility.model_weight_count_rounded_notation(count, digits) == text


def test_size_label() -> None:
    assert utility.size_label(-7_000_000_000, 0, 0, 0) == "7.0B"
    assert utility.size_label(47 * 10**9, 1_600_000_000, 5_600_000_000, 8) == "8x7.2B"


@pytest.mark.parametrize("name, filled", [
    ("a-{ftype}.gguf", "a-q4_0.gguf"), ("{OUTTYPE}{FTYPE}", "Q4_0Q4_0"), ("{outtype}-{}-{0}", "q4_0-q4_0-q4_0"),
    ("{other} {", "{other} {")])
def test_type_in_a_name(name: str, filled: str) -> None:
    assert utility.fill_templated_filename(name, "Q4_0") == filled
    assert "q4" not in utility.fill_templated_filename(name, None).lower()


def test_naming_convention() -> None:
    assert utility.naming_convention("a b", None, " fine tune", None, "7B", "q8_0", "LoRA") == "a-b-7B-fine-tune-Q8_0-LoRA"
    assert utility.naming_convention("name", "base/name", None, "v1", None, None) == "base-name-v1"
    assert utility.naming_convention(None, None, None, None, None, None) == "ggml-model"


def test_names_and_sizes_are_those_of_gguf(peer: ModuleType) -> None:
    dice = random.Random(1)
    for _ in range(2000):
        count = int(10 ** dice.uniform(0, 14))
        assert utility.model_weight_count_rounded_notation(count) == peer.model_weight_count_rounded_notation(count)
        counts = [dice.choice([-1, 1]) * int(10 ** dice.uniform(0, 13)) for _ in range(3)] + [dice.choice([0, 0, 8, 256])]
        assert utility.size_label(*counts) == peer.size_label(*counts)
        texts: Any = [dice.choice([None, "", "a", " A b/c ", "x-Y"]) for _ in range(7)]
        assert utility.naming_convention(*texts) == peer.naming_convention(*texts)


# ---- local files --------------------------------------------------------------------------------


def safetensors(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(dtype: Any = "F16", shape: Any = (2, 2), begin: Any = 0, end: Any = 8) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


GOOD = safetensors({"b": tensor(), "a": tensor("U8", [3], 8, 11), "__metadata__": {"format": "pt"},
                    "empty": tensor("F32", [0, 5], 11, 11), "new": tensor("X1", [9], 0, 2)}, bytes(range(11)))


def test_local_file(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(GOOD)
    with SafetensorsLocal(path) as tensors:
        assert list(tensors) == ["a", "b", "empty", "new"]
        assert tensors["b"].shape == (2, 2) and tensors["b"].dtype == "F16"
        assert tensors["b"].data_range == utility.LocalTensorRange(path, len(GOOD) - 11, 8)
        data = tensors["a"].mmap_bytes()
        assert data.tolist() == [8, 9, 10] and data.dtype == np.uint8
        data[0] = 77
        assert tensors["empty"].mmap_bytes().shape == (0,)
    assert path.read_bytes() == GOOD


BAD = [
    (b"1234567", "too few"),
    ((1 << 60).to_bytes(8, "little"), "the most is 100,000,000"),
    ((9).to_bytes(8, "little") + b"{}", "ends in the header"),
    (safetensors(b"{"), "not JSON"),
    (safetensors(b"\xff\xff"), "not JSON"),
    (safetensors(b"[" * 100_000), "not JSON"),
    (safetensors([]), "not an object of tensors"),
    (safetensors({"a": 5}), "tensor 'a' is not an object"),
    (safetensors({"a": {"dtype": "F16", "shape": []}}), "no data_offsets"),
    (safetensors({"a": tensor(5)}), "dtype"),
    (safetensors({"a": tensor(shape=[2, -2])}), "shape"),
    (safetensors({"a": tensor(shape=[True, 4])}), "shape"),
    (safetensors({"a": tensor(shape=[1 << 70])}), "shape"),
    (safetensors({"a": tensor(shape="44")}), "shape"),
    (safetensors({"a": tensor(begin=8, end=0)}), "data_offsets"),
    (safetensors({"a": tensor(begin=-8, end=0)}), "data_offsets"),
    (safetensors({"a": tensor(begin=0.5)}), "data_offsets"),
    (safetensors({"a": tensor(end=9)}, bytes(9)), r"has 9 bytes of data, and \[2, 2\] of F16 take 8"),
    (safetensors({"a": tensor(shape=[1 << 62, 1 << 62])}, bytes(8)), "has 8 bytes"),
]


@pytest.mark.parametrize("text, reason", [*BAD, (safetensors({"a": tensor()}, bytes(7)), "ends 1 bytes behind")], ids=range(len(BAD) + 1))
def test_bad_local_file(tmp_path: Path, text: bytes, reason: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=f"bad.safetensors.*{reason}"):
        SafetensorsLocal(path)


def test_local_file_is_read_as_gguf_does(peer: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(GOOD)
    ours, theirs = SafetensorsLocal(path).tensors, peer.SafetensorsLocal(path).tensors
    assert list(ours) == list(theirs)
    assert repr(ours) == repr(theirs)


# ---- a server -----------------------------------------------------------------------------------


class Hub(BaseHTTPRequestHandler):
    """Files of a server: whole ones for those who ask for the folder /whole, ranges for others."""

    files: dict[str, bytes] = {}
    seen: list[tuple[str, str | None]] = []

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        data = self.files.get(self.path)
        status = 404 if data is None else 200
        data = data or b""
        if status == 200 and not self.path.startswith("/whole"):
            begin, end = self.headers["Range"].removeprefix("bytes=").split("-")
            status = 206 if int(begin) < len(data) else 416
            data = data[int(begin):int(end) + 1 if end else None]
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *values: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("requests")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    Hub.seen, Hub.files = [], {}
    monkeypatch.setattr(SafetensorRemote, "BASE_DOMAIN", address)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield address
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("folder", ["/org/model", "/whole/model"])
def test_remote_model_of_one_file(hub: str, folder: str) -> None:
    Hub.files = {f"{folder}/resolve/main/model.safetensors": GOOD}
    tensors = SafetensorRemote.get_list_tensors_hf_model(folder[1:])
    url = f"{hub}{folder}/resolve/main/model.safetensors"
    assert list(tensors) == ["a", "b", "empty", "new"]
    assert tensors["b"] == RemoteTensor("F16", (2, 2), len(GOOD) - 11, 8, url)
    assert tensors["a"].data() == bytearray([8, 9, 10])
    assert tensors["empty"].data() == bytearray()
    assert SafetensorRemote.get_data_by_range(url, 0) == GOOD
    assert SafetensorRemote.get_data_by_range(url, len(GOOD) + 5, 5) == b""


def test_remote_model_of_several_files(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SafetensorRemote, "_FIRST_READ", 16)
    index = {"weight_map": {"a": "2.safetensors", "b": "1.safetensors", "c": "1.safetensors"}}
    Hub.files = {f"/o/m/resolve/main/{name}": data for name, data in (
        ("model.safetensors.index.json", json.dumps(index).encode()),
        ("1.safetensors", safetensors({"b": tensor(), "c": tensor()}, bytes(8))),
        ("2.safetensors", safetensors({"a": tensor()}, bytes(8))))}
    assert list(SafetensorRemote.get_list_tensors_hf_model("o/m")) == ["b", "c", "a"]
    with pytest.raises(ValueError, match="HF_TOKEN"):
        SafetensorRemote.get_list_tensors_hf_model("o/none")


@pytest.mark.parametrize("index, reason", [
    ({}, "no weight_map"), ({"weight_map": {"a": "../../x"}}, "not the name of a file"),
    ({"weight_map": {"a": "/etc/x"}}, "not the name of a file"), ([], "not an object")])
def test_bad_index(hub: str, index: Any, reason: str) -> None:
    Hub.files = {"/o/m/resolve/main/model.safetensors.index.json": json.dumps(index).encode()}
    with pytest.raises(ValueError, match=reason):
        SafetensorRemote.get_list_tensors_hf_model("o/m")


@pytest.mark.parametrize("text, reason", BAD, ids=range(len(BAD)))
def test_bad_remote_file(hub: str, text: bytes, reason: str) -> None:
    Hub.files = {"/x": text}
    with pytest.raises(ValueError, match=reason):
        SafetensorRemote.get_list_tensors(f"{hub}/x")


def test_file_that_ends_before_its_data(hub: str) -> None:
    Hub.files = {"/x": safetensors({"a": tensor()}, bytes(5))}
    with pytest.raises(ValueError, match="5 bytes came, and the tensor has 8"):
        SafetensorRemote.get_list_tensors(f"{hub}/x")["a"].data()


def test_token_is_for_the_hub_alone(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    Hub.files = {"/x": GOOD}
    assert SafetensorRemote.check_file_exist(f"{hub}/x")
    monkeypatch.setattr(SafetensorRemote, "BASE_DOMAIN", "https://huggingface.co")
    assert SafetensorRemote.check_file_exist(f"{hub}/x")
    assert Hub.seen == [("/x", "Bearer secret"), ("/x", None)]


@pytest.mark.parametrize("address", ["x", "/etc/passwd", "http:/x"])
def test_no_address(address: str) -> None:
    for call in (SafetensorRemote.check_file_exist, SafetensorRemote.get_metadata):
        with pytest.raises(ValueError, match="not the address"):
            call(address)


def test_server_that_does_not_answer() -> None:
    pytest.importorskip("requests")
    assert not SafetensorRemote.check_file_exist("http://127.0.0.1:9/x")
