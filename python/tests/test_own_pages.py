"""Pages that show models: whole, safe whatever a file holds, and written as a whole or not at all."""

from __future__ import annotations

import subprocess
from html.parser import HTMLParser
from pathlib import Path

import making
import notebook_page
import pytest

import gufo

if "report" not in gufo._core.features:
    pytest.skip("a minimal build", allow_module_level=True)

VOID = {"meta", "link", "br", "img", "input", "col", "hr"}


class Checker(HTMLParser):
    """Fails for elements that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(not name.startswith("on") for name, _ in attrs), attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text += data


def text_of(page: str) -> str:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker.text


def test_a_model(tmp_path: Path) -> None:
    model = gufo.open(notebook_page.header(tmp_path / "large.gguf"))
    page = gufo.report(model)
    text = text_of(page)
    assert page == gufo.report(tmp_path / "large.gguf")
    assert "Sensible 1.2B Instruct" in text and "Types per layer" in text and "ffn_down" in text
    assert "Memory over the context" in text
    assert "a note" in text_of(gufo.report(model, note="a note", title="a <b>title</b>"))
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_findings(tmp_path: Path) -> None:
    path = tmp_path / "odd.gguf"
    entries = [("general.architecture", "string", "llama"), ("llama.block_count", "string", "<many>")]
    path.write_bytes(making.head(entries, []))
    findings = list(gufo.open(path).validate())
    text = text_of(gufo.report(path))
    assert findings
    for finding in findings:
        assert finding.rule in text and finding.message in text


def test_hostile_names(tmp_path: Path) -> None:
    page = gufo.report(notebook_page.header(tmp_path / "hostile<script>.gguf", hostile=True))
    text = text_of(page)
    assert "<script>alert" not in page and "<img" not in page and "\u202e" not in page and "\x1b" not in page
    assert "<script>alert('name')</script>" in text and "hostile<script>.gguf" in text


def test_numbers(tmp_path: Path) -> None:
    calls: list[int] = []
    page = gufo.report(making.llama(), stats=True, progress=lambda done, total: calls.append(done))
    assert text_of(page) and page == gufo.report(making.llama(), stats=True, threads=1)


def test_output(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    page = gufo.report(making.llama(), making.llama(), output=output)
    assert output.read_text() == page and "2 models" in text_of(page)
    with pytest.raises(FileExistsError):
        gufo.report(making.llama(), output=output)
    assert output.read_text() == page
    gufo.report(making.llama(), output=output, replace=True)
    assert "2 models" not in output.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_wrong_arguments(tmp_path: Path) -> None:
    model = gufo.open(making.llama())
    model.close()
    for wrong in ((model,), (tmp_path / "absent.gguf",), (1.5,)):
        with pytest.raises((ValueError, OSError, TypeError)):
            gufo.report(*wrong)
    with pytest.raises(TypeError):
        gufo._core.report([])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        gufo._core.report((1,))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        gufo._core.layers(["a text"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        gufo._core.layers("a text")  # type: ignore[arg-type]


def test_layers() -> None:
    names = [b"token_embd.weight", b"blk.0.attn_q.weight", b"blk.7.attn_q.weight", b"blk.0.\xff.weight"]
    roles, others, left_out = gufo._core.layers(names)
    assert roles == [(b"attn_q", {0: 1, 7: 2}), (b"\xff", {0: 3})]
    assert others == [(b"token_embd", 0)] and left_out == 0
    assert gufo._core.layers([]) == ([], [], 0)


@pytest.fixture
def command() -> Path:
    path = Path(gufo._core.__file__).parents[2] / "gufo"
    if not path.exists():
        pytest.skip("the command is not beside the package")
    return path


def test_same_as_the_command(command: Path, tmp_path: Path) -> None:
    path = notebook_page.header(tmp_path / "large.gguf")
    subprocess.run([command, "report", path, "-o", tmp_path / "page.html"], check=True)
    ours, theirs = text_of(gufo.report(path)), text_of((tmp_path / "page.html").read_text())
    start = "Where the bytes are"
    assert ours.split(start)[1].split("Findings")[0] == theirs.split(start)[1].split("Findings")[0]


@pytest.mark.skipif("text" not in gufo._core.features, reason="a build without vocabularies")
def test_same_bytes_as_the_command(command: Path, tmp_path: Path) -> None:
    """Numbers, scales, losses, tokenizer and templates: all that the command computes."""
    paths = {name: tmp_path / f"{name}.gguf" for name in ("small", "Q8_0", "Q4_0")}
    paths["small"].write_bytes(making.llama())
    for name in ("Q8_0", "Q4_0"):
        subprocess.run([command, "quantize", "-q", paths["small"], paths[name], name], check=True)
    both, page = [paths["Q8_0"], paths["Q4_0"]], tmp_path / "page.html"
    subprocess.run([command, "report", "--stats", "--source", paths["small"], *both, "-o", page], check=True)
    ours = gufo.report(*both, stats=True, original=paths["small"])
    assert ours == page.read_text()
    for part in ('id="m1-scales"', 'id="m1-tokenizer"', 'id="m1-template"', 'id="losses"', 'id="m2-numbers"'):
        assert part in ours, part


def test_losses(tmp_path: Path) -> None:
    model = gufo.open(making.llama())
    page = gufo.report(model, original=model)
    assert "No tensor loses anything." in text_of(page)
    assert 'id="losses"' not in gufo.report(model)
    with pytest.raises(TypeError):
        gufo.report(model, original=1.5)
    with pytest.raises(TypeError):
        gufo._core.report(((model.core, "a"),), original=model)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        gufo.report(*[model] * 33, original=model)
    model.close()  # no call has kept it
