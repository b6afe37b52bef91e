"""The version is that of gufo, and of the gufo that this package needs."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent


def version() -> str:
    header = HERE.parents[1] / "include/gufo/base.h"
    if header.exists():
        return re.search(r'GUFO_VERSION_STRING "(.*)"', header.read_text())[1]
    return re.search(r"^Version: (.*)$", (HERE / "PKG-INFO").read_text(), re.MULTILINE)[1]


setup(version=version(), install_requires=[f"gufo=={version()}"])
