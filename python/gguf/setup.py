"""The version is that of gufo, and of the gufo that this package needs.

Programs and pip ask which version of gguf is installed.  Beside its own metadata the package has some under the name
gguf, with the version that it replaces: what needs gguf is content, and installing gguf itself removes this one.
"""

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


def find(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit(f"{path} has no version")
    return match[1]


def version() -> str:
    header = HERE.parents[1] / "include/gufo/base.h"
    if header.exists():
        return find(r'GUFO_VERSION_STRING "(.*)"', header)
    return find(r"^Version: (.*)$", HERE / "PKG-INFO")


class BuildWithMetadata(build_py):
    def run(self) -> None:
        super().run()
        stands_for = find(r'^__version__ = "(.*)"$', HERE / "src/gguf/__init__.py")
        folder = Path(self.build_lib) / f"gguf-{stands_for}.egg-info"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "PKG-INFO").write_text(
            f"Metadata-Version: 2.1\nName: gguf\nVersion: {stands_for}\nSummary: The package gguf, made of gufo\n")
        (folder / "top_level.txt").write_text("gguf\n")


setup(version=version(), install_requires=[f"gufo=={version()}"], cmdclass={"build_py": BuildWithMetadata})
