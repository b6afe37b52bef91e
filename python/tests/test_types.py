"""The types of the package, as a checker sees them in a program that uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gufo

USAGE = [str(Path(__file__).parent / name) for name in ("usage.py", "usage_own.py")]


def test_usage_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    # A package on PYTHONPATH counts as installed, and is not checked itself.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["MYPYPATH"] = str(Path(gufo.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *USAGE],
        capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
