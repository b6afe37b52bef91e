"""The package gguf: gufo under another name.  Its modules are those of gufo, so enums and classes are the same."""

import gufo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gufo import *
else:
    def __getattr__(name):
        return getattr(gufo, name)

# Of the gguf that this package replaces: programs compare it with what they need.
__version__ = "0.19.0"


def __dir__() -> list[str]:
    return dir(gufo)
