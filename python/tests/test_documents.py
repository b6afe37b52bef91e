"""The examples of docs/python.md: each is a program, which prints what the page says."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import making
import pytest

import gufo

PAGE = Path(os.environ.get("GUFO_SOURCE", Path(__file__).resolve().parents[2])) / "docs/python.md"


class Example(NamedTuple):
    line: int
    code: str
    prints: str | None


def examples() -> list[Example]:
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
    return [Example(page.count("\n", 0, m.start()) + 2, m[1], m[2]) for m in pattern.finditer(page)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the page, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("model.gguf").write_bytes(making.llama(width=256))
    with gufo.open("model.gguf") as model:
        model.quantize("small.gguf", "Q8_0")
    making.checkpoint(Path("checkpoint"))
    Path("lora.gguf").write_bytes(making.adapter(width=256))
    Path("imatrix.gguf").write_bytes(making.imatrix(making.matrices(width=256)))


def run(example: Example) -> None:
    said = io.StringIO()
    # Compiled with the lines before it, so that errors name its place on the page.
    program = compile("\n" * (example.line - 1) + example.code, PAGE, "exec")
    with contextlib.redirect_stdout(said):
        exec(program, {"__name__": "__main__"})
    if example.prints is not None:
        assert said.getvalue() == example.prints, f"line {example.line}"


def test_examples(files: None) -> None:
    if not {"text", "import"} <= gufo._core.features:
        pytest.skip("a minimal build")
    assert len(examples()) > 15
    for example in examples():
        run(example)


def test_examples_of_gguf_with_gguf(files: None, peer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page shows with gguf's names is what gguf does."""
    for name in [name for name in sys.modules if name.split(".")[0] == "gguf"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gguf", peer)
    for example in examples():
        if example.code.startswith("import gguf\n"):
            run(example)
