"""What the tests share: the reference package, if the machine has it, and real files."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

try:
    from hypothesis import settings
except ImportError:
    pass
else:  # the same examples each time; a loaded machine is not a fault
    settings.register_profile("gufo", derandomize=True, database=None, deadline=None)
    settings.load_profile("gufo")


def take_modules(package: str) -> dict[str, ModuleType]:
    """Takes a package and what is in it out of sys.modules."""
    names = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture(scope="session")
def peer() -> ModuleType:
    """The reference package; it imports itself as gguf, and gives that name back to the package that is tested."""
    folder = os.environ.get("GUFO_PEER_GGUF")
    if not folder:
        pytest.skip("GUFO_PEER_GGUF names no folder with the reference package")
    ours = take_modules("gguf")
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module("gguf")
        importlib.import_module("gguf.scripts.gguf_dump")
    finally:
        sys.path.remove(folder)
        take_modules("gguf")
        sys.modules.update(ours)
    return module


def is_release(peer: ModuleType) -> bool:
    """Whether the reference package is 0.19.0, and not a later tree."""
    return "Q2_0" not in peer.GGMLQuantizationType.__members__


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real files."""
    folder = os.environ.get("GUFO_SHARED")
    if not folder or not Path(folder).is_dir():
        pytest.skip("GUFO_SHARED names no folder with real files")
    return Path(folder)


@pytest.fixture(scope="session")
def vocabularies(shared: Path) -> list[Path]:
    """Vocabularies of real models."""
    return sorted((shared / "data/vocab").glob("*.gguf"))


@pytest.fixture(scope="session")
def seeds() -> Path:
    """The folder of small files, good and damaged ones."""
    return Path(os.environ.get("GUFO_SOURCE", Path(__file__).resolve().parents[2])) / "fuzz/seeds"
