"""What notebooks show of models, jobs, findings and differences: HTML without scripts.

Names and values come from strangers: all text passes through `safe`."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gufo import _core
from gufo.tensors import text_of

if TYPE_CHECKING:
    from gufo.differences import Diff
    from gufo.estimates import Estimate
    from gufo.jobs import QuantizeJob
    from gufo.findings import Findings
    from gufo.models import Model
    from gufo.tensors import Tensor
    from gufo.text import Tokens

MOST_LAYERS, MOST_ROWS, MOST_TEXT, MOST_TOKENS = 256, 500, 160, 2000

# Text and lines have the colours of the page, so that light and dark pages are both right; coloured areas have
# dark text.  A name that is wider than its place in the picture goes to a second line, which is not shown.
STYLE = """<style>
.gufo{font:13px/1.45 system-ui,sans-serif;max-width:72rem;color:inherit}
.gufo h4{font-size:15px;margin:0 0 .15rem;overflow-wrap:anywhere}
.gufo .gufo-quiet{opacity:.65}
.gufo table{border-collapse:collapse;margin:0;font-size:12px;color:inherit;background:none}
.gufo .gufo-rows{display:block;max-height:26rem;overflow:auto;margin:.3rem 0 .6rem}
.gufo .gufo-rows td,.gufo .gufo-rows th{text-align:left;padding:.12rem 1.2rem .12rem 0;vertical-align:top;
border:0;border-bottom:1px solid rgba(128,128,128,.22);background:none;color:inherit}
.gufo .gufo-rows th{font-weight:600;opacity:.75;white-space:nowrap}
.gufo td.gufo-n,.gufo th.gufo-n{text-align:right!important;font-variant-numeric:tabular-nums;white-space:nowrap}
.gufo code{font:12px/1.4 ui-monospace,monospace;background:none;color:inherit;padding:0;overflow-wrap:anywhere}
.gufo .gufo-map{width:100%;table-layout:fixed;border-spacing:0 2px;border-collapse:separate;margin:.3rem 0}
.gufo .gufo-map td,.gufo .gufo-map th{padding:0 2px;height:19px;line-height:19px;border:0;overflow:hidden;
white-space:nowrap;text-align:center;background:none;color:inherit;font-size:10.5px}
.gufo .gufo-map th{text-align:right;padding-right:.6rem;font-weight:400;text-overflow:ellipsis}
.gufo .gufo-map td.gufo-axis{text-align:left;opacity:.65;height:14px;line-height:14px;font-size:10px;
border-left:1px solid rgba(128,128,128,.5)}
.gufo .gufo-map td.gufo-cell{color:#10151c;padding:0;border-radius:3px;box-shadow:inset 0 0 0 .5px rgba(0,0,0,.25)}
.gufo .gufo-map td div{display:flex;flex-wrap:wrap;justify-content:center;height:inherit;overflow:hidden}
.gufo .gufo-map td.gufo-axis div{justify-content:start}
.gufo .gufo-map td div::before{content:"";height:100%}
.gufo .gufo-bar{display:flex;height:16px;border-radius:4px;overflow:hidden;margin:.45rem 0 .25rem}
.gufo .gufo-key{display:inline-block;margin:0 .9rem .1rem 0;white-space:nowrap}
.gufo .gufo-key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em;
vertical-align:-1px;box-shadow:inset 0 0 0 .5px rgba(0,0,0,.35)}
.gufo details{margin:.25rem 0}
.gufo summary{cursor:pointer;opacity:.85}
.gufo .gufo-token{color:#10151c;border-radius:2px;padding:1px 0;white-space:pre-wrap;overflow-wrap:anywhere}
.gufo .gufo-error{color:#e0524a}.gufo .gufo-warning{color:#b8821a}
</style>"""


# ---- text ----------------------------------------------------------------------------------------


def visible(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return character


def safe(text: object, most: int = MOST_TEXT) -> str:
    """Text for HTML: short, without characters that act, control or reorder."""
    full = str(text)
    short = full if len(full) <= most else full[: most - 1] + "…"
    return html.escape("".join(map(visible, short)), quote=True)


def scaled(number: float, units: Sequence[str], base: int) -> str:
    step = 0
    while number >= base and step < len(units) - 1:
        number /= base
        step += 1
    return f"{number:.3g} {units[step]}".strip() if number < 1000 else f"{number:.0f} {units[step]}"


def size_text(size: float) -> str:
    return scaled(size, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"), 1024)


def count_text(count: float) -> str:
    return scaled(count, ("", "K", "M", "B", "T"), 1000).replace(" ", "")


# ---- pieces --------------------------------------------------------------------------------------


def page(*parts: str) -> str:
    return f'{STYLE}<div class="gufo">{"".join(parts)}</div>'


def title(name: object, *facts: str) -> str:
    quiet = " · ".join(fact for fact in facts if fact)
    return f'<h4>{safe(name)}</h4><div class="gufo-quiet">{quiet}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; `numbers` are the columns that have numbers.  Cells are HTML."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="gufo-n">{cell}</{tag}>' if i in numbers else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(row)
        )

    body: list[str] = []
    left = 0
    for row in rows:
        if len(body) < MOST_ROWS:
            body.append(f"<tr>{cells('td', row)}</tr>")
        else:
            left += 1
    more = f'<div class="gufo-quiet">and {left} more</div>' if left else ""
    head = f"<tr>{cells('th', heads)}</tr>"
    return f'<table class="gufo-rows">{head}{"".join(body)}</table>{more}'


def folded(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>{content}</details>"


# ---- types per layer -----------------------------------------------------------------------------


class Cell(NamedTuple):
    """A tensor in the picture."""

    name: str
    type: str
    elements: int
    size: int

    @property
    def bits(self) -> float:
        return 8 * self.size / self.elements if self.elements else 0.0


# Bits per weight and hues, which differ most where types are many.
HUES = ((1.5, 6), (2.6, 28), (3.4, 46), (4.5, 82), (5.5, 135), (6.6, 174), (8.5, 205), (16, 245), (32, 255))


def color(bits: float) -> str:
    """From red by green to violet, light enough for dark text."""
    hue: float = HUES[0][1] if bits < HUES[0][0] else HUES[-1][1]
    for (low, first), (high, last) in zip(HUES, HUES[1:]):
        if low <= bits <= high:
            hue = first + (last - first) * math.log(bits / low) / math.log(high / low)
    strength = 62 if bits < 12 else 42 if bits < 24 else 22  # what is small matters
    return f"hsl({hue:.0f} {strength}% 76%)"


class Layers(NamedTuple):
    """Tensors by layer and role."""

    roles: dict[str, dict[int, Cell]]
    others: list[tuple[str, Cell]]
    #: Tensors of more layers and roles than are shown.
    left_out: int


def in_layers(cells: Sequence[Cell]) -> Layers:
    roles, others, left_out = _core.layers(
        [cell.name.encode("utf-8", "surrogateescape") for cell in cells]
    )
    return Layers(
        {text_of(role): {layer: cells[i] for layer, i in row.items()} for role, row in roles},
        [(text_of(role), cells[i]) for role, i in others],
        left_out,
    )


def runs(row: dict[int, Cell], layers: list[int]) -> Iterable[tuple[list[int], Cell | None]]:
    """Neighbours of the same type."""
    start = 0
    for end in range(1, len(layers) + 1):
        first = row.get(layers[start])
        same = end < len(layers) and (other := row.get(layers[end])) is not None
        if not (first and same and other and other.type == first.type):  # fmt: skip
            yield layers[start:end], first
            start = end


def run_cell(run: list[int], cell: Cell | None, row: dict[int, Cell], role: str) -> str:
    if cell is None:
        return f'<td colspan="{len(run)}"></td>'
    size = sum(row[layer].size for layer in run)
    where = f"layer {run[0]}" if len(run) == 1 else f"layers {run[0]} to {run[-1]}"
    hint = f"{safe(role)}, {where}: {safe(cell.type)}, {cell.bits:.3g} bits, {size_text(size)}"
    return (
        f'<td class="gufo-cell" colspan="{len(run)}" style="background:{color(cell.bits)}" '
        f'title="{hint}"><div>{safe(cell.type, 12)}</div></td>'
    )


def axis(layers: list[int]) -> str:
    step = max(1, math.ceil(len(layers) / 16))
    groups = [layers[i : i + step] for i in range(0, len(layers), step)]
    ticks = (f'<td class="gufo-axis" colspan="{len(group)}"><div>{group[0]}</div></td>' for group in groups)
    return f'<tr><th class="gufo-quiet">layer</th>{"".join(ticks)}</tr>'


def layer_map(roles: dict[str, dict[int, Cell]]) -> str:
    layers = sorted({layer for row in roles.values() for layer in row})
    if not layers:
        return ""
    shown = layers[:MOST_LAYERS]
    lines = []
    for role, row in roles.items():
        cells = "".join(run_cell(run, cell, row, role) for run, cell in runs(row, shown))
        lines.append(f'<tr><th title="{safe(role)}">{safe(role, 40)}</th>{cells}</tr>')
    left = len(layers) - len(shown)
    note = f'<div class="gufo-quiet">and {left} more layers</div>' if left > 0 else ""
    columns = f'<colgroup><col style="width:10.5rem"><col span="{len(shown)}"></colgroup>'
    return f'<table class="gufo-map">{columns}{axis(shown)}{"".join(lines)}</table>{note}'


def shares(cells: Sequence[Cell]) -> str:
    """A bar of the bytes of each type, and its key."""
    sums: dict[str, list[int]] = {}
    for cell in cells:
        found = sums.setdefault(cell.type, [0, 0, 0])
        found[0] += 1
        found[1] += cell.elements
        found[2] += cell.size
    whole = sum(found[2] for found in sums.values()) or 1
    ordered = sorted(sums.items(), key=lambda item: -item[1][2])[:32]
    parts, keys = [], []
    for name, (count, elements, size) in ordered:
        shade = color(8 * size / elements if elements else 0)
        share = size / whole
        parts.append(
            f'<span style="width:{100 * share:.3f}%;background:{shade}" title="{safe(name)}"></span>'
        )
        keys.append(
            f'<span class="gufo-key"><i style="background:{shade}"></i>{safe(name, 12)} '
            f'<span class="gufo-quiet">{100 * share:.3g} %, {count} tensors</span></span>'
        )
    return f'<div class="gufo-bar">{"".join(parts)}</div><div>{"".join(keys)}</div>'


def picture(cells: Sequence[Cell]) -> str:
    """Types per layer, and what is outside of layers."""
    if not cells:
        return ""
    layers = in_layers(cells)
    outside = "".join(
        f'<span class="gufo-key"><i style="background:{color(cell.bits)}"></i>'
        f"<code>{safe(role, 60)}</code> {safe(cell.type, 12)}</span>"
        for role, cell in layers.others
    )
    if layers.left_out:
        outside += f'<span class="gufo-quiet">and {layers.left_out} more tensors</span>'
    return shares(cells) + layer_map(layers.roles) + f"<div>{outside}</div>"


def cells_of(tensors: Iterable[Any]) -> list[Cell]:
    return [Cell(one.name, one.type, one.elements, one.size) for one in tensors]


def bits_text(cells: Sequence[Cell]) -> str:
    elements = sum(cell.elements for cell in cells)
    return f"{8 * sum(cell.size for cell in cells) / elements:.3g} bits per weight" if elements else ""


# ---- what is shown -------------------------------------------------------------------------------


def tensors_html(tensors: Iterable[Tensor]) -> str:
    return page(tensor_table(tensors))


def tensor_table(tensors: Iterable[Tensor]) -> str:
    rows = (
        (
            f"<code>{safe(one.name)}</code>",
            safe(one.type, 12),
            " × ".join(map(str, one.shape)),
            f"{one.bits_per_weight:.3g}",
            size_text(one.size),
        )
        for one in tensors
    )
    return table(("Tensor", "Type", "Shape", "Bits", "Size"), rows, (3, 4))


def tensor_html(tensor: Tensor) -> str:
    shape = " × ".join(map(str, tensor.shape))
    place = "" if tensor.offset is None else f"byte {tensor.offset}"
    return page(title(tensor.name, safe(tensor.type), shape, size_text(tensor.size), place))


def value_html(model: Model, index: int, kind: str, count: int) -> str:
    """A short value; of an array its first elements."""
    core = model.core
    try:
        if kind == "float32":
            return f"<code>{core.value(index):.7g}</code>"
        if not kind.startswith("array"):
            return f"<code>{safe(core.value(index))}</code>"
        if kind == "array[string]":
            first = [repr(text) for text in core.strings(index, 0, min(count, 6))]
        elif kind.startswith("array[array"):
            first = []
        else:
            first = [f"{number:.6g}" for number in model.numbers(list(model)[index])[:8].tolist()]
    except (UnicodeDecodeError, RuntimeError):
        return '<span class="gufo-quiet">bytes that are not text</span>'
    dots = ", …" if len(first) < count else ""
    inside = ", ".join(safe(one, 24) for one in first)
    return f'<code>[{inside}{dots}]</code> <span class="gufo-quiet">{count}</span>'


def metadata_table(model: Model) -> str:
    entries = model.entries
    rows = (
        (f"<code>{safe(one.key)}</code>", safe(one.type), value_html(model, i, one.type, one.count))
        for i, one in enumerate(entries)
    )
    return table(("Key", "Type", "Value"), rows)


def model_html(model: Model) -> str:
    if model.closed:
        return page("<h4>a model that is closed</h4>")
    cells = cells_of(model.tensors.values())
    facts = (
        safe(model.architecture or "no architecture"),
        f"{count_text(model.parameters)} parameters" if cells else "",
        bits_text(cells),
        size_text(model.size) if model.size else "",
        f"{model.shards} files" if model.shards > 1 else "",
        "big-endian" if model.byte_order == "big" else "",
        safe(model.name or "", 80),
    )
    return page(
        title(model.text("general.name") or model.name or "Model", *facts),
        picture(cells),
        folded(f"{len(model)} keys", metadata_table(model)),
        folded(f"{len(cells)} tensors", tensor_table(model.tensors.values())),
    )


def job_html(job: QuantizeJob) -> str:
    tensors = list(job.tensors.values())
    cells = cells_of(tensors)
    rows = (
        (
            f"<code>{safe(one.name)}</code>",
            safe(one.old_type, 12),
            safe(one.type, 12),
            size_text(one.size),
            f"{one.loss:.3g}" if one.compared else "",
            safe(one.reason),
        )
        for one in tensors
    )
    lost = sum(1 for one in tensors if one.compared)
    return page(
        title(
            job.type or "auto",
            size_text(job.size),
            bits_text(cells),
            f"{lost} tensors changed" if lost else "not written yet" if not job.files else "",
            ", ".join(safe(file.path, 80) for file in job.files[:3]),
        ),
        picture(cells),
        folded(
            f"{len(tensors)} tensors",
            table(("Tensor", "From", "To", "Size", "Loss", "Why"), rows, (3, 4)),
        ),
    )


def findings_html(findings: Findings) -> str:
    if not findings:
        return page("Nothing is wrong.")
    rows = (
        (
            f'<span class="gufo-{one.severity}">{safe(one.severity)}</span>',
            safe(one.rule),
            safe(one.subject, 60),
            safe(one.message, 400),
            "" if one.offset is None else str(one.offset),
        )
        for one in findings
    )
    return page(table(("Severity", "Rule", "Where", "What", "Byte"), rows, (4,)))


def shown_value(value: object) -> str:
    return "" if value is None else safe(value, 60)


def diff_html(diff: Diff) -> str:
    keys = (
        (safe(one.kind), f"<code>{safe(one.key)}</code>", shown_value(one.a), shown_value(one.b))
        for one in diff.entries
    )
    names = ("type", "shape", "data")
    tensors = (
        (
            safe(one.kind),
            f"<code>{safe(one.name)}</code>",
            ", ".join(name for name in names if getattr(one, name)),
            " → ".join(safe(type, 12) for type in (one.old_type, one.new_type) if type),
            "" if one.values is None else f"{one.values.relative:.3g}",
        )
        for one in diff.tensors
    )
    notes = f"differ without effect: {', '.join(diff.notes)}" if diff.notes else ""
    if diff.same:
        return page("The models are the same.", f'<div class="gufo-quiet">{notes}</div>')
    return page(
        title(f"{len(diff.entries)} keys and {len(diff.tensors)} tensors differ", notes),
        table(("", "Key", "First", "Second"), keys) if diff.entries else "",
        table(("", "Tensor", "What", "Type", "Relative error"), tensors, (4,)) if diff.tensors else "",
    )


MEMORY = (
    ("weights", "model_bytes", 228),
    ("cache", "kv_bytes", 150),
    ("state", "state_bytes", 100),
    ("computing", "compute_bytes", 40),
    ("output", "output_bytes", 12),
    ("beside", "draft_bytes", 290),
)


def estimate_html(estimate: Estimate) -> str:
    places = [("host", estimate.host)]
    places += [(f"device {i}", device) for i, device in enumerate(estimate.devices)]
    most = max((place.most_bytes for _, place in places), default=1) or 1
    lines = []
    for name, place in places:
        parts = "".join(
            f'<span style="width:{100 * getattr(place, field) / most:.3f}%;background:hsl({hue} 60% 72%)" '
            f'title="{what}: {size_text(getattr(place, field))}"></span>'
            for what, field, hue in MEMORY
        )
        sizes = " · ".join(
            f"{what} {size_text(getattr(place, field))}"
            for what, field, _ in MEMORY
            if getattr(place, field)
        )
        lines.append(
            f'<div><b>{name}</b> {size_text(place.most_bytes)} <span class="gufo-quiet">{sizes}</span>'
            f'</div><div class="gufo-bar">{parts}</div>'
        )
    keys = "".join(
        f'<span class="gufo-key"><i style="background:hsl({hue} 60% 72%)"></i>{what}</span>'
        for what, field, hue in MEMORY
        if any(getattr(place, field) for _, place in places)
    )
    head = title(f"{size_text(estimate.most_bytes)} of memory", f"context of {estimate.n_ctx} tokens")
    return page(head, *lines, keys)


def tokens_html(tokens: Tokens) -> str:
    hues = (210, 35, 140, 330, 265)
    parts, end = [], 0
    for number, (id, (begin, stop)) in enumerate(zip(tokens[:MOST_TOKENS], tokens.spans)):
        piece = tokens.text[max(begin, end) : stop]
        end = max(end, stop)
        text = piece.decode("utf-8", "backslashreplace") if isinstance(piece, bytes) else piece
        shown = safe(text).replace("\\x0a", "↵\n") or "▪"
        hint = f"{id}: {begin} to {stop}"
        parts.append(
            f'<span class="gufo-token" style="background:hsl({hues[number % len(hues)]} 70% 82%)" '
            f'title="{hint}">{shown}</span>'
        )
    more = f" and {len(tokens) - MOST_TOKENS} more" if len(tokens) > MOST_TOKENS else ""
    return page(f'<div class="gufo-quiet">{len(tokens)} tokens{more}</div><div>{"".join(parts)}</div>')
