"""The package gguf: gufo under another name.  Its modules are those of gufo, so enums and classes are the same."""

import gufo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gufo import *
else:
    def __getattr__(name):
        return getattr(gufo, name)


def __dir__() -> list[str]:
    return dir(gufo)
