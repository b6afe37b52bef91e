"""llama.cpp's converter, unmodified, writes the same bytes with either gguf."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gufo

# One with sentencepiece's tokens, one with those of tokenizer.json, one with experts in several files.
FOLDERS = "llama2-real-spm-tied Qwen3-Tiny gptneox-20Btok-trim Mixtral-Tiny-4x".split()


def convert(llama_cpp: Path, packages: Path, out: Path, folders: list[Path]) -> dict[str, bytes]:
    out.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    script = Path(__file__).parent / "converter.py"
    done = subprocess.run([sys.executable, str(script), str(llama_cpp), str(packages), str(out), *map(str, folders)],
                          env={**environment, "NO_LOCAL_GGUF": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {file.name: file.read_bytes() for file in out.iterdir()}


def test_converter_writes_the_same_bytes(shared: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = Path(os.environ.get("GUFO_PEER_GGUF", ""))
    if not (folder.parent / "conversion").is_dir():
        pytest.skip("GUFO_PEER_GGUF names no folder beside llama.cpp's converter")
    folders = [shared / "data/convert/hf" / name for name in FOLDERS]
    theirs = convert(folder.parent, folder, tmp_path / "theirs", folders)
    ours = convert(folder.parent, Path(gufo.__file__).parents[1], tmp_path / "ours", folders)
    assert sorted(theirs) == sorted(f"{name}.gguf" for name in FOLDERS)
    assert [name for name in theirs if ours.get(name) != theirs[name]] == []
