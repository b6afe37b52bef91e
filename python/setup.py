"""Builds the package with cmake, and packages what it has built.

GUFO_MINIMAL=1 in the environment: the reader and the codec alone, which need nothing but a compiler and cmake.  CMAKE_ARGS: further arguments for cmake.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
# A source distribution has a copy of the tree; in the tree itself this folder is in it.
COPY = HERE / "source"
ROOT = COPY if COPY.is_dir() else HERE.parent
# What building the package needs of the tree.
NEEDED = ("CMakeLists.txt", "LICENSE", "cmake", "completions", "include", "registry", "src")
NEEDED_HERE = ("core", "generate", "src")


def version() -> str:
    header = (ROOT / "include/gufo/base.h").read_text()
    return re.search(r'GUFO_VERSION_STRING "(.*)"', header).group(1)


class BuildWithCMake(build_ext):
    """Runs cmake, and copies BUILD/python/gufo."""

    def run(self) -> None:
        build = Path(self.build_temp).resolve() / "cmake"
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "GUFO_PYTHON": "ON",
            "GUFO_PYTHON_PROGRAM": sys.executable,
            "GUFO_BUILD_TESTS": "OFF",
            "GUFO_BUILD_EXAMPLES": "OFF",
            "GUFO_LIBRARIES": "OFF",
        }
        if os.environ.get("GUFO_MINIMAL", "0") not in ("", "0"):
            options |= {"GUFO_MINIMAL": "ON", "GUFO_ROOMS": "base;codec;format;schema"}
            # What a reader and processors of the last ten years need of the rest is soon compiled.
            options |= {"CMAKE_C_FLAGS_RELEASE": "-O1 -DNDEBUG"}
        arguments = [f"-D{name}={value}" for name, value in options.items()]
        arguments += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        subprocess.run(["cmake", "-S", ROOT, "-B", build, *arguments], check=True)
        jobs = str(self.parallel or os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "-j", jobs, "--target", "gufo_python"], check=True)
        target = HERE / "src/gufo" if self.inplace else Path(self.build_lib) / "gufo"
        for file in sorted((build / "python/gufo").rglob("*")):
            to = target / file.relative_to(build / "python/gufo")
            if file.is_dir() or "__pycache__" in file.parts or (to.exists() and to.samefile(file)):
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)


class DistributeTree(sdist):
    """Adds the C sources."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / "source"
        if COPY.is_dir():
            shutil.copytree(COPY, target, dirs_exist_ok=True)
            return
        leave = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
        for folder, names in ((ROOT, NEEDED), (HERE, NEEDED_HERE)):
            for name in names:
                to = target / folder.relative_to(ROOT) / name
                if (folder / name).is_dir():
                    shutil.copytree(folder / name, to, ignore=leave, dirs_exist_ok=True)
                elif (folder / name).exists():
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(folder / name, to)


setup(
    version=version(),
    package_dir={"": "src"},
    packages=["gufo"],
    package_data={"gufo": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("gufo._core", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildWithCMake, "sdist": DistributeTree},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
