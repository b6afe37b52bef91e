"""Reads all files of folders with the extension, good and damaged ones: replay.py FOLDER...

Run by a Python with sanitizers (tests/embedded.c), which would end it.  Needs no other package.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from importlib.machinery import BuiltinImporter
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

if "gufo._core" in sys.builtin_module_names:  # where Python does not look for a module of a package
    _core: Any = module_from_spec(spec_from_loader("gufo._core", BuiltinImporter))  # type: ignore[arg-type]
    BuiltinImporter.exec_module(_core)
    sys.modules["gufo._core"] = _core
else:
    from gufo import _core

FLAGS = (0, _core.OPEN_NO_MAP, _core.OPEN_AS_GGML, _core.OPEN_LENIENT | _core.OPEN_INCOMPLETE)


def attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or None where the call fails as it should: with an exception."""
    try:
        return call(*arguments)
    except (_core.Error, UnicodeDecodeError, TypeError, ValueError, IndexError, OverflowError):
        return None


def rows_of(tensor: tuple[Any, ...]) -> tuple[int, int]:
    columns = tensor[2][0] if tensor[2] else 1
    return (tensor[3] // columns if columns else 0), columns


def use(model: _core.Model) -> None:
    model.facts()
    for index, entry in enumerate(model.entries()):
        attempt(model.value, index)
        attempt(model.strings, index)
        attempt(model.strings, index, 1, 2)
        attempt(model.numbers, index)
        attempt(model.parts, index)
    for index, tensor in enumerate(model.tensors()):
        data = attempt(model.data, index)
        if data is not None:
            bytes(data)
        rows, columns = rows_of(tensor)
        if rows * columns < 1 << 20:
            attempt(model.decode, index, 0, rows, bytearray(4 * rows * columns))
    for level in ("structure", "spec"):
        attempt(_core.check, model, level)
    attempt(_core.estimate, model, [model], [model], model, {"n_devices": 1, "device_bytes": [1 << 30]})
    attempt(_core.estimate, model, [], [], None, {})
    attempt(_core.compare, model, model, _core.COMPARE_VALUES, 2, None)
    use_text(model)


def use_text(model: _core.Model) -> None:
    vocab = attempt(_core.vocab, model, {}) if "text" in _core.features else None
    if vocab is not None:
        ids, _ = attempt(vocab.encode, "Hello \u00f6 <s>\xff".encode("latin-1", "replace"), 7, 2) or ([], None)
        attempt(vocab.decode, [*ids, 0, 1 << 20], 0)
        attempt(vocab.decoder(1).feed, ids)
        for id in (0, 3, 1 << 31):
            attempt(vocab.token, id)
            attempt(vocab.piece, id)
    if "template" in _core.features:
        for source in (entry for entry in map(lambda i: attempt(model.value, i), range(len(model.entries())))):
            if isinstance(source, str):
                attempt(_core.lint, source.encode())
                attempt(_core.render, {"messages": "[{}]"}, {"source": source, "steps": 10000})


GIVEN = [
    ((8,), "text"), ((0,), 3), ((7,), True), ((12,), 1.5), ((9, 8), ["a", b"\xff"]), ((9, 9, 5), [[1], [], [-2]]),
    ((9, 4), bytes(9)), ((9, 6), bytes(8)), ((9,), [1]), ((13,), 1), ((1,), 1000), ((9, 7), [True, 1]),
]  # fmt: skip


def change(content: bytes, folder: Path) -> None:
    """Edits a file in all ways, and makes another one of it."""
    path = folder / "file"
    path.write_bytes(content)
    attempt(_core.find, bytes(path), True, False, 2, None)
    edit = attempt(_core.edit, bytes(path), 0)
    if edit is not None:
        for number, (types, value) in enumerate(GIVEN):
            attempt(edit.set, b"my.key%d" % number, types, value)
        keys, names = edit.entries(), edit.tensors()
        for key in keys[:40]:
            attempt(edit.find, key[0])
        attempt(edit.rename, keys[0][0], b"other.key", False)
        for name in names[:1]:
            attempt(edit.rename, name, b"other.name", True)
            attempt(edit.remove, b"other.name", True)
        attempt(edit.remove, b"other.key", False)
        for call in (edit.changes, lambda: edit.fix("model"), lambda: edit.check("model")):
            attempt(call)
        attempt(edit.write, {"reserve": 100}, True, 1, None)
        attempt(edit.write, {"output": bytes(folder / "edited"), "replace": True}, False, 1, None)
        attempt(edit.changes)
        edit.close()
    model = attempt(_core.open, str(path))
    for kind in ("Q8_0", "IQ2_XXS", "COPY") if model is not None else ():
        rows = [(b"my.key", types, value) for types, value in GIVEN[:6]]
        options = {"type": kind, "metadata": rows, "allow_requantize": True, "prune_layers": [0] if kind == "COPY" else []}
        run(attempt(_core.quantizer, model, options, 1, None), folder / "made")
    if model is not None:
        options = {"size": 1 << 20, "allow_requantize": True, "losses": bytes(folder / "losses")}
        run(attempt(_core.quantizer, model, options, 1, None), folder / "sized")
        change_form(model, folder)
    attempt(_core.type_rules, content)


def run(job: _core.Job | None, path: Path) -> None:
    if job is not None:
        job.tensors()
        job.notes()
        job.about()
        job.outputs(b"out")
        attempt(job.run, {"path": bytes(path), "flags": _core.JOB_REPLACE}, 1, None)
        job.tensors()


def change_form(model: _core.Model, folder: Path) -> None:
    """Makes all other forms of a model, and a file of its parts."""
    names = [row[0] for row in model.tensors()]
    options = {"tensors": 1, "byte_order": 1, "keep": names[:2]}
    for name in ("split", "merge", "endian", "strip"):
        run(attempt(_core.form, model, name, options), folder / name)
    if "import" in _core.features:
        (folder / "exported").mkdir(exist_ok=True)
        run(attempt(_core.form, model, "export", {}), folder / "exported")
    shards = sorted(folder.glob("split-*"))
    joined = attempt(_core.open, [str(shard) for shard in shards] + [b"x"] * (len(shards) % 2))
    run(attempt(_core.form, joined, "merge", {}), folder / "merged")
    rows = [(b"my.key%d" % number, types, value) for number, (types, value) in enumerate(GIVEN[:6])]
    parts = [(row[0], row[1], row[2], attempt(model.data, i)) for i, row in enumerate(model.tensors())]
    attempt(_core.write, bytes(folder / "written"), model, rows, parts, _core.JOB_REPLACE, 1, None)
    attempt(_core.write, bytes(folder / "written"), None, GIVEN, parts[:1], 0, 1, None)
    if "digest" in _core.features:
        attempt(_core.hash, model, ["xxh64", "uuid"], True, 1, None)
        attempt(_core.verify, model, b"sha1 00 x:y\n" + b"0" * 40 + b"  x\n", None, None, 1, None)
    attempt(model.mapping, 0)
    attempt(model.mapping, 1)
    imatrix = attempt(_core.imatrix, [bytes(folder / "file")] * 2)
    if imatrix is not None:
        imatrix.facts()
        for index in range(len(imatrix.entries())):
            for what in ("importance", "sums", "counts"):
                attempt(imatrix.read, index, what)
        run(attempt(imatrix.job, True), folder / "imatrix")


def replay(content: bytes) -> int:
    """Opens it in all ways; how many of them succeed."""
    opened = 0
    for flags in FLAGS:
        findings: list[dict[str, Any]] = []
        arguments = {"findings": findings} if flags & _core.OPEN_LENIENT else {}
        model = attempt(lambda: _core.open(content, flags=flags, **arguments))
        if model is not None:
            opened += 1
            use(model)
            model.close()
    attempt(_core.validate, content)
    return opened


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Some bytes other ones, and perhaps cut off."""
    made = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        made[chance.randrange(len(made))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
    return bytes(made[: chance.randrange(len(made))] if chance.random() < 0.3 else made)


def code_all_types() -> None:
    chance = random.Random(1)
    for kind, _, elements, size, _ in _core.types():
        if elements == 0:
            continue
        rows, columns = 8, elements * 2
        blocks = bytearray(chance.randbytes(rows * 2 * size))
        values = bytearray(4 * rows * columns)
        attempt(_core.decode, kind, blocks, rows, columns, values)
        attempt(_core.encode, kind, bytes(4 * rows * columns), rows, columns, blocks, bytes(4 * columns))
        attempt(_core.swap, kind, blocks)
        attempt(_core.decode, kind, blocks, rows + 8, columns, values)
        attempt(_core.encode, kind, values, rows, columns + 1, blocks)


def main() -> None:
    files = opened = 0
    made = TemporaryDirectory()
    for file in sorted(file for folder in sys.argv[1:] for file in Path(folder).iterdir()):
        content = file.read_bytes()
        chance = random.Random(file.name)
        opened += replay(content)
        change(content, Path(made.name))
        for _ in range(8 if content else 0):
            opened += replay(damaged(content, chance))
        files += 1
    code_all_types()
    print(f"{files} files, opened {opened} times")
    if not files or opened < files:
        sys.exit("too few could be opened")


if __name__ == "__main__":
    main()
