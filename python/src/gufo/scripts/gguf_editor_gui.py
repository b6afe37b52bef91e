"""gguf-editor-gui: says what edits files here."""

from __future__ import annotations

import sys


def main() -> None:
    sys.exit("The graphical editor is not part of gufo: `gufo edit FILE` edits a file, and `gufo show FILE` "
             "shows what is in it; in a notebook, `gufo.open(FILE)` draws it.")


if __name__ == "__main__":
    main()
