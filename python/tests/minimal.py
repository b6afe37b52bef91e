"""The minimal package: minimal.py MODEL.  It reads and codes, and says what it was built without."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable

import numpy as np

import gufo
from gufo.scripts import gguf_set_metadata


def check_reads(path: str) -> None:
    with gufo.open(path) as model:
        assert len(model) == len(gufo.GGUFReader(path).fields) - 3 > 0
        assert not model.validate().errors
    values = np.full((2, 256), 127, dtype=np.float32)
    blocks = gufo.quantize(values, gufo.GGMLQuantizationType.Q8_0)
    assert (gufo.dequantize(blocks, gufo.GGMLQuantizationType.Q8_0) == values).all()


def check_lacks(part: str, call: Callable[[], object]) -> None:
    try:
        call()
    except gufo.Error as error:
        assert str(error) == f"gufo was built without {part}: build it without GUFO_MINIMAL", error
        return
    raise SystemExit(f"{part}: not refused")


def check_script(path: str) -> None:
    """Prints a sentence, not where in the program it happens."""
    sys.argv = ["gguf-set-metadata", "--force", path, "v.string", "text"]
    try:
        gguf_set_metadata.main()
    except SystemExit as error:
        assert str(error).startswith("gguf-set-metadata: gufo was built without edits"), error
        return
    raise SystemExit("gguf-set-metadata: not refused")


def main() -> None:
    path = sys.argv[1]
    with tempfile.NamedTemporaryFile() as copy:
        check_script(shutil.copy(path, copy.name))
    check_reads(path)
    assert not gufo._core.features, gufo._core.features
    model = gufo.open(path)
    check_lacks("edits", lambda: gufo.edit(path))
    check_lacks("comparisons", lambda: gufo.diff(path, path))
    check_lacks("gufo.write", lambda: gufo.write("/nowhere/m.gguf", {}))
    check_lacks("hashes", lambda: gufo.hash(model))
    check_lacks("importance matrices", lambda: gufo.imatrix("/nowhere"))
    check_lacks("estimates", lambda: gufo.estimate(path))
    check_lacks("jobs in parts", lambda: gufo.plan("/nowhere"))
    check_lacks("lists of models", lambda: gufo.find(path))
    check_lacks("models of training frameworks, which folders are", lambda: gufo.open("/"))
    check_lacks("models of training frameworks, which folders are", lambda: gufo.convert("/", "/nowhere"))
    check_lacks("quantizing, splitting and the like", lambda: model.plan("Q8_0"))
    check_lacks("quantizing, splitting and the like", lambda: model.split("/nowhere", tensors=1))
    check_lacks("models of training frameworks, which folders are", lambda: model.export("/nowhere"))
    check_lacks("tokenizers", lambda: gufo.tokenizer(path))


if __name__ == "__main__":
    main()
