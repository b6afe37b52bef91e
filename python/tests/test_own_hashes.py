"""Hashes and manifests: what the command prints, and what it accepts."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import making
import pytest

import gufo

if "digest" not in gufo._core.features:
    pytest.skip("a build without hashes", allow_module_level=True)

COMMAND = Path(gufo.__file__).parents[2] / "gufo"
ALL = ("xxh64", "sha1", "sha256", "blake2b", "uuid")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(making.llama())
    return path


def test_hashes(path: Path) -> None:
    with gufo.open(path) as model:
        found = gufo.hash(model, *ALL)
        whole = b"".join(bytes(tensor.data) for tensor in model.tensors.values())
        assert found.data["sha256"] == hashlib.sha256(whole).hexdigest()
        assert found.data["blake2b"] == hashlib.blake2b(whole).hexdigest()
        assert list(found.data) == list(ALL)
        for name, tensor in model.tensors.items():
            assert found.tensors[name]["sha1"] == hashlib.sha1(tensor.data).hexdigest()
            assert list(found.tensors[name]) == list(ALL[:-1])
        assert gufo.hash(path.read_bytes(), tensors=False) == gufo.Hashes("", {"sha256": found.data["sha256"]}, {})


def test_manifest_of_the_command(path: Path) -> None:
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built")
    with gufo.edit(path) as edit:
        edit.rename_tensor("output.weight", 'out"put\\\n\x07\u202e.weight\N{EURO SIGN}')
    strange = path.with_name("a\tb\udcff.gguf")
    path.rename(strange)
    printed = subprocess.run([COMMAND, "hash", strange], capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout
    algorithms = dict.fromkeys(line.lstrip("\\").split()[0] for line in printed.decode().splitlines())
    ours = gufo.hash(strange, *algorithms).manifest()
    assert sorted(ours.encode().splitlines()) == sorted(printed.splitlines())
    assert gufo.verify(strange, printed) and gufo.verify(strange, ours.encode())


def test_verify(path: Path, tmp_path: Path) -> None:
    (tmp_path / "sums").write_text(gufo.hash(path, "sha1", "xxh64").manifest())
    found = gufo.verify(path, tmp_path / "sums")
    assert found.agrees and {one.verdict for one in found.verdicts} == {"same"}
    assert [one.tensor for one in found.verdicts][-1] is None and len(found.verdicts) == 22
    data = bytearray(path.read_bytes())
    with gufo.open(path) as model:
        offset = model.tensors["output_norm.weight"].offset
    assert offset is not None
    data[offset] ^= 1
    path.write_bytes(data)
    with gufo.edit(path) as edit:
        edit.rename_tensor("output.weight", "head.weight")
        edit["general.name"] = "metadata does not count"
    found = gufo.verify(path, tmp_path / "sums")
    assert not found
    verdicts = {one.tensor: one.verdict for one in found.verdicts if one.verdict != "same"}
    assert verdicts == {"output_norm.weight": "differs", "output.weight": "missing", "head.weight": "new", None: "differs"}


def fail(done: int, total: int) -> None:
    raise ZeroDivisionError


def test_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'md5' is not a hash"):
        gufo.hash(path, "md5")
    with pytest.raises(gufo.Error, match="line 1"):
        gufo.verify(path, b"no manifest\n")
    with pytest.raises(gufo.Error) as error:
        gufo.verify(path, b"")
    assert error.value.code == "malformed"
    (tmp_path / "manifest").write_text("no manifest\n")
    with pytest.raises(gufo.Error, match="line 1") as error:
        gufo.verify(path, tmp_path / "manifest")
    assert error.value.file == str(tmp_path / "manifest")
    with pytest.raises(ValueError, match="embedded null"):
        gufo.hash(path, "sha1\0")
    with pytest.raises(FileNotFoundError):
        gufo.verify(path, tmp_path / "no.manifest")
    manifest = gufo.hash(path).manifest().encode()
    with gufo.open(path) as model:
        for call in (lambda: gufo.hash(model, progress=fail), lambda: gufo.verify(model, manifest, progress=fail)):
            with pytest.raises(ZeroDivisionError):
                call()
