"""Renders what a notebook shows into a page, to look at: notebook_page.py OUT.html [light|dark]"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import making

import gufo

LAYERS = 32


def header(path: Path, hostile: bool = False) -> Path:
    """A model of some size, whose data is a hole in the file."""
    shapes = making.shapes(LAYERS, 2048, 32000)
    entries = making.settings("Sensible 1.2B Instruct", LAYERS, 2048)
    if hostile:
        entries[1] = ("general.name", "string", "<script>alert('name')</script>\u202e\x1b[31m")
        entries.append(("general.<img src=x onerror=alert(1)>", "string", "\"'><b>bold</b>"))
        shapes = [(name.replace("attn_q", "<b>q</b>"), dims) for name, dims in shapes]
    entries += [("tokenizer.ggml.tokens", "array[string]", [f"word{i}" for i in range(64)])]
    entries += [("tokenizer.ggml.scores", "array[float32]", [-i / 3 for i in range(64)])]
    sizes = [4 * making.product(dims) for _, dims in shapes]
    head = making.head(entries, [(name, 0, dims, size) for (name, dims), size in zip(shapes, sizes)])
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + sum(sizes))
    return path


def parts(folder: Path) -> list[tuple[str, object]]:
    model = gufo.open(header(folder / "large.gguf"))
    small = gufo.open(making.llama())
    other = small.quantize(folder / "other.gguf", "Q8_0", metadata={"general.name": "Other"})
    broken = bytearray(making.llama())
    broken[40] = 0xFF
    words = gufo.tokenizer(making.tokenizer_json(folder / "words"))
    return [
        ("a plan", model.plan("Q4_K_M")),
        ("a model", gufo.open(planned(folder, model.plan("Q4_K_M")))),
        ("a hostile model", gufo.open(header(folder / "hostile.gguf", hostile=True))),
        ("a job that has run", other),
        ("a tensor", model.tensors["output.weight"]),
        ("findings", gufo.validate(bytes(broken))),
        ("differences", gufo.diff(small, folder / "other.gguf", values=True)),
        ("an estimate", gufo.estimate(model, devices=["8GiB", "4GiB"])),
        ("tokens", words.encode("ab a ab, grüße 😀 ab\nab a")),
    ]


def planned(folder: Path, job: gufo.Job) -> Path:
    """The file of a job, without its data."""
    numbers = {row[1]: row[0] for row in gufo._core.types()}
    model = gufo.open(folder / "large.gguf")
    rows = [
        (one.name, numbers[one.type], list(reversed(model.tensors[one.source].shape)), one.size)
        for one in job.tensors.values()
    ]
    head = making.head(making.settings("Sensible 1.2B Instruct", LAYERS, 2048), rows)
    with open(folder / "planned.gguf", "wb") as file:
        file.write(head)
        file.truncate(len(head) + sum(-(-row[3] // 32) * 32 for row in rows))
    return folder / "planned.gguf"


def page(look: str) -> str:
    colors = {"light": "background:#fff;color:#222", "dark": "background:#16181d;color:#ddd"}[look]
    with tempfile.TemporaryDirectory() as folder:
        shown = "".join(
            f"<h3>{name}</h3>{thing._repr_html_()}"  # type: ignore[attr-defined]
            for name, thing in parts(Path(folder))
        )
    return f'<!doctype html><meta charset="utf-8"><body style="{colors};margin:1rem">{shown}'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(sys.argv[2] if len(sys.argv) > 2 else "light"), "utf-8")
