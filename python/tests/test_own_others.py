"""Estimates and differences, and that types are checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import making
import numpy as np
import pytest

import gufo
from gufo.found import _time
from gufo.given import bytes_in

MODEL = gufo.open(making.llama(width=256, layers=4))


# ---- finding -------------------------------------------------------------------------------------


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "a.gguf").write_bytes(making.llama())
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and no more")
    (inner / "b.gguf").write_bytes(making.llama(layers=1))
    (inner / "loop").symlink_to("..")
    first, second = gufo.find(tmp_path)
    assert first.path == str(tmp_path / "a.gguf") and first.fault is None and first.architecture == "llama"
    assert first.parameters == sum(tensor.elements for tensor in gufo.open(first.path).tensors.values())
    assert first.size == (tmp_path / "a.gguf").stat().st_size and first.date is not None and first.shards == 1
    assert isinstance(second.fault, gufo.Error) and second.fault.file == second.path and second.title is None
    seen: list[int] = []
    every = gufo.find(tmp_path, recursive=True, threads=2, progress=lambda done, total: seen.append(total))
    assert [Path(found.path).name for found in every] == ["a.gguf", "broken.gguf", "b.gguf"]
    monkeypatch.chdir(inner)
    assert [found.path for found in gufo.find()] == ["b.gguf"]
    with pytest.raises(FileNotFoundError):
        gufo.find(tmp_path / "missing")


def test_find_any_date(tmp_path: Path) -> None:
    assert _time(2**40) is _time(2**63 - 1) is _time(0) is None and _time(1) is not None
    with pytest.raises(ValueError, match="embedded null"):
        gufo.find(f"{tmp_path}\0")


def test_find_in_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "OLLAMA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    (tmp_path / "models/x.gguf").write_bytes(making.llama())
    found, = gufo.find(caches=True)
    assert (found.cache, found.name, found.path) == ("llama.cpp", None, str(tmp_path / "models/x.gguf"))


# ---- estimates -----------------------------------------------------------------------------------


def test_estimate() -> None:
    estimate = gufo.estimate(MODEL)
    assert estimate.n_ctx == 4096 and estimate.devices == []
    # F16 keys and values of 4 layers, of 256 columns each
    assert estimate.host.kv_bytes == 4096 * 4 * 2 * 256 * 2 and estimate.kv_token_bytes == 4 * 2 * 256 * 2
    half = gufo.estimate(MODEL, n_ctx=2048, type_k="Q8_0")
    assert half.host.kv_bytes < estimate.host.kv_bytes / 2
    assert estimate.tokens_per_second(host=1e9) == pytest.approx(1e9 / estimate.host.read_bytes)
    assert estimate.tokens_per_second() == 0


def test_devices() -> None:
    estimate = gufo.estimate(MODEL, devices=2)
    assert len(estimate.devices) == 2 and sum(device.layers for device in estimate.devices) == 4
    uneven = gufo.estimate(MODEL, devices=2, tensor_split=[3, 1])
    assert uneven.devices[0].layers > uneven.devices[1].layers
    part = gufo.estimate(MODEL, devices=1, n_gpu_layers=2)
    assert part.devices[0].layers == 1 and part.n_gpu_layers == 2  # the output layer counts
    assert gufo.estimate(MODEL, devices=1).n_gpu_layers is None


def test_fit() -> None:
    with pytest.raises(gufo.Error) as failure:
        gufo.estimate(MODEL, devices=["1M"], host="1M")
    assert failure.value.code == "limit"
    fitted = gufo.estimate(MODEL, devices=["1GiB"], host=2**40)
    assert fitted.devices[0].most_bytes <= 2**30
    assert bytes_in("1.5k") == 1500 and bytes_in(" 2 Gi ") == 2**31
    with pytest.raises(ValueError):
        gufo.estimate(MODEL, devices=["much"])


def test_refused() -> None:
    for model in (making.gguf([], []), making.gguf([("general.architecture", "string", "none")], [])):
        with pytest.raises(gufo.Error):
            gufo.estimate(model)
    with pytest.raises(ValueError):
        gufo.estimate(MODEL, type_k="Q9_Z")
    with pytest.raises(ValueError):
        gufo.estimate(MODEL, devices=["1G"] * 17)
    with pytest.raises(ValueError):
        gufo.estimate(MODEL, flash_attention="yes")  # type: ignore[arg-type]
    with pytest.raises(gufo.Error):
        gufo.estimate(MODEL, adapters=[MODEL])
    with pytest.raises(gufo.Error):
        gufo.estimate(MODEL, projector=MODEL)
    assert gufo.estimate(MODEL, draft=making.llama()).host.draft_bytes > 0
    MODEL.tensors  # still open, and free:
    other = gufo.open(making.llama())
    gufo.estimate(other, draft=other)
    other.close()


# ---- differences ---------------------------------------------------------------------------------


def test_same() -> None:
    diff = gufo.diff(MODEL, making.llama(width=256, layers=4))
    assert diff.same and not diff and diff.notes == []


def test_differences(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    MODEL.quantize(other, "Q8_0", metadata={"general.name": "Other"}, prune_layers=[3])
    diff = gufo.diff(MODEL, other, values=True)
    assert diff and not diff.same
    by_key = {entry.key: entry for entry in diff.entries}
    assert (by_key["general.name"].a, by_key["general.name"].b) == ("Small", "Other")
    assert by_key["general.file_type"].kind == "added" and by_key["general.file_type"].a is None
    by_name = {tensor.name: tensor for tensor in diff.tensors}
    gone = by_name["blk.3.attn_q.weight"]
    assert (gone.kind, gone.old_type, gone.new_type, gone.values) == ("removed", "F32", None, None)
    changed = by_name["output.weight"]
    first, second = (gufo.open(one).tensors["output.weight"].numpy() for one in (making.llama(width=256, layers=4), other))
    assert changed.type and not changed.shape and changed.new_type == "Q8_0"
    assert changed.values is not None
    assert changed.values.largest == pytest.approx(np.abs(first - second).max())
    assert changed.values.rmse == pytest.approx(np.sqrt(np.mean((first.astype(float) - second) ** 2)))


def test_a_tensor_of_bytes() -> None:
    left = making.gguf([], [("a.weight", 0, [32], bytes(128))])
    right = making.gguf([("a.b", "string", b"\xff")], [("a.weight", 0, [32], bytes(127) + b"\1")])
    diff = gufo.diff(left, right)
    assert diff.tensors[0].data and diff.tensors[0].values is None
    assert diff.entries[0].kind == "added" and diff.entries[0].b is None  # bytes that are not text
    with pytest.raises(gufo.Error):
        gufo.diff(left, b"GGUF")


# ---- progress ------------------------------------------------------------------------------------


def test_progress_bars(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("tqdm")
    MODEL.quantize(tmp_path / "a.gguf", "Q8_0")  # nobody looks
    assert capsys.readouterr().err == ""
    with gufo.progress.shown(True, "work") as call:
        assert call is not None
        call(1, 2)
        call(2, 2)
    with gufo.progress.shown(False, "work") as call:
        assert call is None
    with gufo.progress.shown(print, "work") as call:
        assert call is print


def test_title_leaves_room(monkeypatch: pytest.MonkeyPatch) -> None:
    title = "a-rather-long-name-Q4_K_M.gguf"
    for columns, expected in [("40", "a-rath…M.gguf"), ("120", title), ("1", "a-ra…guf")]:
        monkeypatch.setenv("COLUMNS", columns)
        assert gufo.progress.shortened(title) == expected


def test_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(gufo.progress, "is_watched", lambda: True)
    with gufo.progress.shown(None, "work") as call:
        assert call is None
    with pytest.raises(ImportError):
        with gufo.progress.shown(True, "work"):
            pass


# ---- types ---------------------------------------------------------------------------------------


def test_types() -> None:
    pytest.importorskip("mypy")
    folder, usage = Path(gufo.__file__).parents[1], Path(__file__).with_name("usage_own.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "mypy"), str(usage)],
        env={"MYPYPATH": str(folder), "PATH": ""}, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    own = ("usage_own", "models", "jobs", "edits", "given", "text", "writing", "hashes", "importance", "estimates", "differences", "notebook", "pages", "progress")
    found = [
        line
        for line in done.stdout.splitlines()
        if Path(line.split(":")[0]).stem in own and "stubs not installed" not in line
    ]
    assert found == [] and "Found" in done.stdout or done.returncode == 0, done.stdout
