"""What notebooks show: well-formed, and safe whatever a file holds."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import making
import notebook_page
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gufo
from gufo import notebook

VOID = {"i", "meta", "col"}
ALLOWED = set("style div h4 span table tr td th i code details summary colgroup col b".split())


class Checker(HTMLParser):
    """Fails for elements that are not closed, or that gufo does not write."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert all(name in ("class", "style", "title", "colspan", "span") for name, _ in attrs), attrs
        if tag != "col":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def text_of(html: str) -> str:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker.text


def test_all_are_well_formed(tmp_path: Path) -> None:
    if not {"text", "template"} <= gufo._core.features:
        pytest.skip("a minimal build")
    for name, thing in notebook_page.parts(tmp_path):
        text = text_of(thing._repr_html_())  # type: ignore[attr-defined]
        assert text, name


def test_types_per_layer(tmp_path: Path) -> None:
    html = gufo.open(notebook_page.header(tmp_path / "large.gguf")).plan("Q4_K_M")._repr_html_()
    row = html[html.index(">ffn_down<") :].split("</tr>")[0]
    assert row.count("gufo-cell") > 5
    assert "layers 0 to 3: Q6_K" in row and "layers 4 to 5: Q4_K" in row
    spans = [int(part.split('"')[0]) for part in row.split('colspan="')[1:]]
    assert sum(spans) == notebook_page.LAYERS


def test_hostile_names(tmp_path: Path) -> None:
    html = gufo.open(notebook_page.header(tmp_path / "hostile.gguf", hostile=True))._repr_html_()
    text = text_of(html)
    assert "<script" not in html and "<img" not in html and "\u202e" not in html and "\x1b" not in html
    assert "<script>alert('name')</script>" in text and "\\u202e" in text


def test_many_layers_and_roles() -> None:
    cells = [notebook.Cell(f"blk.{layer}.role{role}", "F16", 10, 20) for layer in (0, 5, 10**8) for role in range(99)]
    cells += [notebook.Cell(f"blk.{layer}.role0", "F32", 10, 40) for layer in range(1000)]
    text = text_of(notebook.page(notebook.picture(cells)))
    assert "more tensors" in text and "744 more layers" in text


@settings(max_examples=200, deadline=None)
@given(st.text(), st.binary(max_size=40))
def test_safe(text: str, data: bytes) -> None:
    for one in (text, data.decode("utf-8", "surrogateescape")):
        shown = notebook.safe(one, 1000)
        shown.encode("utf-8")
        assert not set(shown) & set("<>\"'\x00\x1b\u202e\n")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=60), st.integers(0, 2**40), st.integers(0, 2**50)), max_size=20))
def test_any_cells(rows: list[tuple[str, int, int]]) -> None:
    cells = [notebook.Cell(name, name, elements, size) for name, elements, size in rows]
    text_of(notebook.page(notebook.picture(cells)))


def test_closed_model(tmp_path: Path) -> None:
    model = gufo.open(making.llama())
    model.close()
    assert "closed" in text_of(model._repr_html_())
