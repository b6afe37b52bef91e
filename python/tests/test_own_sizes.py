"""Types for a size: the plan of the command, its files, and what is kept of measurements."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import making
import pytest

import gufo

COMMAND = Path(gufo.__file__).parents[2] / "gufo"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sizes") / "model.gguf"
    path.write_bytes(making.llama(width=256, layers=1))
    return path


@pytest.mark.parametrize("options", [{"size": 0}, {"bits_per_weight": 0.0}], ids=str)
def test_nothing_is_a_size(path: Path, options: dict[str, Any]) -> None:
    with gufo.open(path) as model, pytest.raises(gufo.Error, match="a size is either bytes"):
        model.plan(**options)


def test_errors_name_the_file_of_rules(path: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("ffn_down\n")
    with gufo.open(path) as model, pytest.raises(gufo.Error, match="line 1") as caught:
        model.plan("Q8_0", types=tmp_path / "rules")
    assert caught.value.file == str(tmp_path / "rules") and caught.value.offset == 0


SIZES: list[tuple[dict[str, Any], list[str]]] = [
    ({"size": "1MB"}, ["--target-size", "1MB"]),
    ({"bits_per_weight": 5.5, "exact": True}, ["--target-bpw", "5.5", "--exact"]),
    ({"size": 2000000, "size_types": ["Q8_0", "Q4_0"]}, ["--target-size", "2000000", "--types", "Q8_0,Q4_0"]),
]


@pytest.mark.parametrize("options, arguments", SIZES, ids=["size", "bits", "types"])
def test_same_bytes(path: Path, tmp_path: Path, options: dict[str, Any], arguments: list[str]) -> None:
    with gufo.open(path) as model:
        job = model.quantize(tmp_path / "ours.gguf", **options)
    plan = job.size_plan
    assert plan is not None and plan.size == job.size == (tmp_path / "ours.gguf").stat().st_size
    if "size" in options:
        assert plan.least <= plan.size <= plan.asked
    else:
        assert job.bits_per_weight <= 5.5
    assert {one.type for one in plan.tensors.values()} == {one.type for one in job.tensors.values()}
    for name, one in plan.tensors.items():
        assert (one.actual is None) == (one.is_kept or not job.tensors[name].compared)
        if one.actual is not None:
            assert one.agrees and one.actual == pytest.approx(job.tensors[name].loss ** 2, rel=1e-9)
    assert plan.bound <= plan.loss and all(one.loss >= 0 for one in plan.tensors.values())
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built")
    done = subprocess.run([COMMAND, "quantize", *arguments, path, tmp_path / "theirs.gguf"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()


def test_files_of_plan_and_losses(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        job = model.plan(size="1MB", losses=tmp_path / "losses")
        plan = job.size_plan
        assert plan is not None and plan.target is not None and job.notes == []
        assert {(one.actual, one.agrees) for one in plan.tensors.values()} == {(None, None)}
        (tmp_path / "plan").write_text(plan.rules)
        job.run(tmp_path / "sized.gguf")
        again = model.quantize(tmp_path / "again.gguf", plan.target, types=tmp_path / "plan")
        assert {name: one.type for name, one in again.tensors.items()} == {name: one.type for name, one in plan.tensors.items()}
        kept = gufo.open(tmp_path / "losses")
        assert any(key.startswith("gufo.losses.") for key in kept)
        calls: list[tuple[int, int]] = []
        model.plan(size="1.1MB", losses=tmp_path / "losses", progress=lambda *call: calls.append(call))
        assert calls == []  # nothing is measured again
        with pytest.raises(gufo.Error):
            model.quantize(tmp_path / "losses", size="1MB", losses=tmp_path / "losses", replace=True)
        (tmp_path / "other").write_bytes(b"mine")
        notes = model.plan(size="1MB", losses=tmp_path / "other").notes
        assert len(notes) == 2 and notes[0].startswith("losses are not used: ")
        assert (tmp_path / "other").read_bytes() == b"mine"


def fail(done: int, total: int) -> None:
    raise ZeroDivisionError


def test_refused(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        with pytest.raises(gufo.Error) as error:
            model.plan(size="1KiB")
        assert error.value.code == "limit" and "least" in str(error.value)
        for options in ({"type": "Q8_0", "size": "1MB"}, {"size": "1MB", "bits_per_weight": 4}, {}):
            with pytest.raises(TypeError):
                model.plan(**options)
        for wrong in ({"size": "1MB", "size_types": ["Q9_9"]}, {"size": "1MB", "size_types": ["Q8_0"] * 40},
                      {"bits_per_weight": 100}, {"size": "1MB", "types": {"none": "Q8_0"}}):  # fmt: skip
            with pytest.raises((ValueError, gufo.Error)):
                model.plan(**wrong)
        with pytest.raises(ZeroDivisionError):
            model.quantize(tmp_path / "out.gguf", size="1MB", progress=fail)
        (tmp_path / "rules").write_text("# a comment\nffn_down=Q6_K attn=Q4_0\n")
        job = model.plan("Q8_0", types=tmp_path / "rules")
        assert job.tensors["blk.0.ffn_down.weight"].type == "Q6_K" and job.size_plan is None
        del job
        (tmp_path / "rules").write_text("ffn_down\n")
        with pytest.raises(gufo.Error) as error:
            model.plan("Q8_0", types=tmp_path / "rules")
        assert error.value.offset == 0
    assert os.listdir(tmp_path) == ["rules"]
