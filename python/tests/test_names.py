"""The names of the packages: gguf is gufo, and both have every name that the reference package has."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

import pytest

import gguf
import gufo

NAMES = (Path(__file__).parent / "gguf_names.txt").read_text().split()
MODULES = "constants lazy gguf_reader gguf_writer quants tensor_mapping vocab utility metadata".split()
SCRIPTS = "gguf_dump gguf_set_metadata gguf_new_metadata gguf_convert_endian gguf_hash gguf_editor_gui".split()


@pytest.mark.parametrize("package", [gufo, gguf])
def test_every_name_is_listed(package: ModuleType) -> None:
    assert set(NAMES) - set(dir(package)) == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    assert getattr(gguf, name) is getattr(gufo, name)


def test_names_are_those_of_gguf(peer: ModuleType) -> None:
    assert {name for name in dir(peer) if not name.startswith("_")} - {*NAMES, "scripts"} == set()


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_the_same(name: str) -> None:
    ours = importlib.import_module(f"gufo.{name}")
    assert importlib.import_module(f"gguf.{name}") is ours
    assert getattr(gguf, name) is getattr(gufo, name) is ours


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_the_same(name: str) -> None:
    assert importlib.import_module(f"gguf.scripts.{name}") is importlib.import_module(f"gufo.scripts.{name}")
    done = subprocess.run([sys.executable, "-m", f"gguf.scripts.{name}", "--help"], capture_output=True, text=True)
    assert name == "gguf_editor_gui" or (done.returncode, done.stdout[:6]) == (0, "usage:")


def test_names_can_be_imported_with_a_star() -> None:
    names: dict[str, object] = {}
    exec("from gguf import *", names)
    assert set(NAMES) - set(names) == set()
    assert names["GGMLQuantizationType"] is gufo.constants.GGMLQuantizationType


def test_unknown_name() -> None:
    for package in (gufo, gguf):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            getattr(package, "nothing")


@pytest.mark.parametrize("package", ["gufo", "gguf"])
def test_import_loads_nothing_that_is_not_used(package: str) -> None:
    program = f"import sys, {package}; print('numpy' in sys.modules, 'gufo.constants' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_star_leaves_builtins_alone() -> None:
    for package in (gufo, gguf):
        assert set(NAMES) - set(package.__all__) == set()
        assert {"open", "convert", "Error"} <= set(dir(package)) - set(package.__all__)


def test_version_of_gguf(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    folder = Path(__file__).parents[1] / "gguf"
    (tmp_path / "info").mkdir()
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", str(tmp_path / "info"),
               "build_py", "--build-lib", str(tmp_path / "built")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    found = {str(built.metadata["Name"]): built.version for built in distributions(path=[str(tmp_path / "built")])}
    assert found == {"gguf": gguf.__version__}
    assert tuple(map(int, gguf.__version__.split("."))) >= (0, 19)
