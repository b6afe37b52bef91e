"""The examples of docstrings: each public name of gufo's own interface has one, and it runs."""

from __future__ import annotations

import doctest
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import making
import pytest

import gufo
from gufo import differences, edits, estimates, found, hashes, importance, jobs, models, text, writing

MODULES = [models, jobs, edits, text, estimates, found, differences, writing, hashes, importance]


@pytest.fixture
def names(tmp_path: Path) -> Iterator[dict[str, Any]]:
    path = tmp_path / "model.gguf"
    path.write_bytes(making.llama())
    (tmp_path / "copy.gguf").write_bytes(making.llama())
    (tmp_path / "out").mkdir()
    (tmp_path / "matrix.gguf").write_bytes(making.imatrix(making.matrices()))
    with gufo.open(path) as model:
        model.quantize(tmp_path / "other.gguf", "Q8_0", metadata={"general.name": "Other"})
        yield {
            "gufo": gufo,
            "os": os,
            "path": path,
            "copy": tmp_path / "copy.gguf",
            "other": tmp_path / "other.gguf",
            "folder": tmp_path / "out",
            "matrix": tmp_path / "matrix.gguf",
            "model": model,
            "tokenizer": gufo.tokenizer(model) if "text" in gufo._core.features else None,
            "words": making.tokenizer_json(tmp_path / "words"),
            "checkpoint": making.checkpoint(tmp_path / "checkpoint"),
        }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module: ModuleType, names: dict[str, Any]) -> None:
    if module is hashes and "digest" not in gufo._core.features:
        pytest.skip("a build without hashes")
    if module in (text, jobs) and gufo._core.features.isdisjoint({"text", "import"}):
        pytest.skip("a minimal build")
    failed, tried = 0, 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        if test.name.endswith(".export") and "import" not in gufo._core.features:
            continue
        test.globs = dict(names)
        result = runner.run(test, clear_globs=False)
        failed += result.failed
        tried += result.attempted
    assert failed == 0
    assert tried > 0


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        thing = getattr(module, name)
        yield name, thing
        for member, what in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and (inspect.isfunction(what) or isinstance(what, property)):
                yield f"{name}.{member}", what


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_have_examples(module: ModuleType) -> None:
    short = {"Model.closed", "Model.path", "Model.version", "Model.byte_order", "Model.alignment", "Model.size",
             "Model.data_offset", "Model.shards", "Model.tensors"}  # properties that say what they are
    for name, thing in public_members(module):
        assert thing.__doc__, name
        assert ">>>" in thing.__doc__ or name in short, name


def test_lazy_names() -> None:
    for module in MODULES:
        for name in module.__all__:
            assert getattr(gufo, name) is getattr(module, name)
            assert name in dir(gufo)
