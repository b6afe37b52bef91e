"""gguf-dump: shows the metadata and the tensors of a file as text, JSON or Markdown."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from gufo.constants import GGUFEndian, GGUFValueType
from gufo.gguf_reader import GGUFReader, ReaderField, ReaderTensor
from gufo.scripts.common import arguments, escaped, parser, plain_errors

logger = logging.getLogger("gguf-dump")

TEXT_ELEMENTS = 6
MARKDOWN_STRINGS = 5
MARKDOWN_NUMBERS = 7
TEXT_CHARACTERS = 60
ELEMENT_CHARACTERS = 30

SCALES = ((10 ** 15, "Q"), (10 ** 12, "T"), (10 ** 9, "B"), (10 ** 6, "M"), (10 ** 3, "K"))

WORDS = {
    "attn_k": "Attention Key", "attn_norm": "Attention Normalization",
    "attn_norm_2": "Attention Normalization", "attn_output": "Attention Output",
    "attn_q": "Attention Query", "attn_qkv": "Attention Query-Key-Value",
    "attn_v": "Attention Value", "blk": "Block", "dec": "Decoder", "enc": "Encoder",
    "ffn_down": 'Feed-Forward Network "Down"', "ffn_gate": 'Feed-Forward Network "Gate"',
    "ffn_gate_inp": "Expert-Routing Layer For The Feed-Forward Network In Mixture Of Expert Models",
    "ffn_norm": "Feed-Forward Network Normalization", "ffn_up": 'Feed-Forward Network "Up"',
    "output_norm": "Output Normalization", "pos_embd": "Position Embedding",
    "ssm_a": "State Space Model State Compression", "ssm_conv1d": "State Space Model Rolling/Shift",
    "ssm_d": "State Space Model Skip Connection", "ssm_dt": "State Space Model Time Step",
    "ssm_in": "State Space Model Input Projections",
    "ssm_out": "State Space Model Output Projection",
    "ssm_x": "State Space Model Selective Parametrization", "token_embd": "Token Embedding",
}


# -- what all forms use

def get_file_host_endian(reader: GGUFReader) -> tuple[str, str]:
    """The byte orders of this machine and of the file."""
    return sys.byteorder.upper(), "BIG" if reader.endianess == GGUFEndian.BIG else "LITTLE"


def _type_name(tensor_type: Any) -> str:
    return str(getattr(tensor_type, "name", tensor_type))


def _shown_type(types: list[GGUFValueType]) -> str:
    """UINT32, [STRING], [[INT32]]; ARRAY where an empty array has no more to say."""
    depth = len(types) - 1
    return "[" * depth + types[-1].name + "]" * depth


def _text(field: ReaderField, index: int) -> str:
    """A text, also one whose bytes are no UTF-8."""
    return bytes(field.parts[field.data[index]]).decode("utf-8", "backslashreplace")


def _contents(field: ReaderField, count: int | None = None) -> Any:
    try:
        return field.contents() if count is None else field.contents(slice(count))
    except UnicodeDecodeError:
        if len(field.types) == 1:
            return _text(field, 0)
        return [_text(field, i) for i in range(len(field.data[:count]))]


# -- text

def dump_metadata(reader: GGUFReader, args: argparse.Namespace) -> None:
    host, order = get_file_host_endian(reader)
    print(f"* File is {order} endian, script is running on a {host} endian host.")
    print(f"* Dumping {len(reader.fields)} key/value pair(s)")
    for number, field in enumerate(reader.fields.values(), 1):
        print(f"  {number:5}: {_shown_type(field.types):10} | {len(field.data):8} | "
              f"{escaped(field.name)} = {_shown_value(field)}")
    if args.no_tensors:
        return
    print(f"* Dumping {len(reader.tensors)} tensor(s)")
    for number, tensor in enumerate(reader.tensors, 1):
        dims = ", ".join(f"{size:5}" for size in _four(tensor))
        print(f"  {number:5}: {tensor.n_elements:10} | {dims} | {_type_name(tensor.tensor_type):7} | "
              f"{escaped(tensor.name)}")


def _shown_value(field: ReaderField) -> str:
    if len(field.types) == 1 and field.types[0] != GGUFValueType.ARRAY:
        value = _contents(field)
        if isinstance(value, str) and len(value) > TEXT_CHARACTERS:
            value = value[:TEXT_CHARACTERS - 3] + "..."
        return repr(value)
    more = ", ..." if len(field.data) > TEXT_ELEMENTS else ""
    return f"{repr(_contents(field, TEXT_ELEMENTS))[:-1]}{more}]"


def _four(tensor: ReaderTensor) -> list[int]:
    dims = [int(size) for size in tensor.shape]
    return dims + [1] * (4 - len(dims))


# -- JSON

def dump_metadata_json(reader: GGUFReader, args: argparse.Namespace) -> None:
    _, order = get_file_host_endian(reader)
    metadata = {field.name: _json_field(index, field, args.json_array)
                for index, field in enumerate(reader.fields.values())}
    tensors = {} if args.no_tensors else {
        tensor.name: {"index": index, "shape": tensor.shape.tolist(),
                      "type": _type_name(tensor.tensor_type), "offset": tensor.field.offset}
        for index, tensor in enumerate(reader.tensors)}
    json.dump({"filename": args.model, "endian": order, "metadata": metadata, "tensors": tensors},
              sys.stdout)


def _json_field(index: int, field: ReaderField, arrays: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"index": index, "type": field.types[0].name, "offset": field.offset}
    if field.types[:1] == [GGUFValueType.ARRAY]:
        row["array_types"] = [kind.name for kind in field.types[1:]]
        if not arrays:
            return row
    row["value"] = _contents(field)
    return row


# -- Markdown

def markdown_table_with_alignment_support(header_map: list[dict[str, str]],
                                          data: list[dict[str, Any]]) -> str:
    """A table; header_map has a dictionary for each column: key_name, header_name, align."""
    rules = {"left": (":", "-"), "right": ("-", ":"), "center": (":", ":")}
    columns = []
    for column in header_map:
        cells = [str(row[column["key_name"]]) for row in data]
        width = max(map(len, [column["header_name"], *cells]))
        align = column.get("align", "")
        place = {"right": str.rjust, "center": str.center}.get(align, str.ljust)
        begin, end = rules.get(align, ("-", "-"))
        columns.append([f" {place(column['header_name'], width)} ", begin + "-" * width + end]
                       + [f" {place(cell, width)} " for cell in cells])
    return "\n".join("|" + "|".join(line) + "|" for line in zip(*columns))


def element_count_rounded_notation(count: int) -> str:
    for unit, suffix in SCALES:
        if count > unit:
            return f"~{count / unit:.0f}{suffix}"
    return str(count)


def translate_tensor_name(name: str) -> str:
    return " ".join(WORDS.get(word.lower(), word.title()) for word in name.split("."))


def dump_markdown_metadata(reader: GGUFReader, args: argparse.Namespace) -> None:
    _, order = get_file_host_endian(reader)
    name = escaped(args.model)
    lines = [f"# {name} - GGUF Internal File Dump\n", f"- Endian: {order} endian\n",
             "## Key Value Metadata Store\n",
             f"There are {len(reader.fields)} key-value pairs in this file\n", _field_table(reader), ""]
    tensors = [] if args.no_tensors else list(enumerate(reader.tensors))
    if not args.no_tensors:
        lines += _tensor_sections(tensors)
    lines.append(f"Total BPW for {escaped(os.path.basename(args.model))}: {_bits_per_weight(tensors)}")
    print("\n".join(lines))


def _field_table(reader: GGUFReader) -> str:
    header = [{"key_name": "pos", "header_name": "POS", "align": "right"},
              {"key_name": "type", "header_name": "TYPE", "align": "left"},
              {"key_name": "count", "header_name": "Count", "align": "right"},
              {"key_name": "key", "header_name": "Key", "align": "left"},
              {"key_name": "value", "header_name": "Value", "align": "left"}]
    return markdown_table_with_alignment_support(header, [
        {"pos": number, "type": _shown_type(field.types), "count": len(field.data),
         "key": escaped(field.name), "value": _markdown_value(field)}
        for number, field in enumerate(reader.fields.values(), 1)])


def _markdown_value(field: ReaderField) -> str:
    if len(field.types) == 1 and not field.data:
        return ""
    is_text = field.types[-1] == GGUFValueType.STRING
    if len(field.types) == 1:
        return _quoted(_text(field, 0), TEXT_CHARACTERS) if is_text \
            else str(field.parts[field.data[0]][0])
    shown = field.data[:MARKDOWN_STRINGS if is_text else MARKDOWN_NUMBERS]
    items = [_quoted(_text(field, i), ELEMENT_CHARACTERS) if is_text else str(field.parts[part][0])
             for i, part in enumerate(shown)]
    if len(field.data) > len(shown):
        items.append("...")
    return f"[ {', '.join(items)} ]"


def _quoted(text: str, limit: int) -> str:
    """A text as code; a long one without its middle."""
    if len(text) <= limit:
        return _code(escaped(text))
    return f"{_code(escaped(text[:limit // 2]))}...{_code(escaped(text[-(limit // 2):]))}"


def _code(text: str) -> str:
    """Between more backticks than are in it."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


Numbered = list[tuple[int, ReaderTensor]]


def _tensor_sections(tensors: Numbered) -> Iterator[str]:
    total = _elements(tensors)
    groups = _groups(tensors)
    yield f"## Tensors Overview {element_count_rounded_notation(total)} Elements\n"
    yield f"Total number of elements in all tensors: {total} Elements\n"
    for group, members in groups.items():
        yield (f"- [{translate_tensor_name(group)} Tensor Group - "
               f"{element_count_rounded_notation(_elements(members))} Elements](#{_anchor(group)})")
    yield ""
    yield "### Tensor Data Offset\n"
    yield "This table contains the offset and data segment relative to start of file\n"
    yield _place_table(tensors) + "\n"
    for group, members in groups.items():
        yield from _group_section(group, members, total)


def _elements(tensors: Numbered) -> int:
    return sum(int(tensor.n_elements) for _, tensor in tensors)


def _anchor(group: str) -> str:
    return group.replace(".", "_")


def _groups(tensors: Numbered) -> dict[str, Numbered]:
    """Tensors by block; what is in none is `base`, `enc` or `dec`."""
    groups: dict[str, Numbered] = {}
    for numbered in tensors:
        match = re.match(r"((?:enc|dec)\.)?blk\.[^.]*|enc(?=\.)|dec(?=\.)", escaped(numbered[1].name))
        groups.setdefault(match.group() if match else "base", []).append(numbered)
    return groups


def _place_table(tensors: Numbered) -> str:
    header = [{"key_name": "id", "header_name": "T_ID", "align": "right"},
              {"key_name": "name", "header_name": "Tensor Layer Name", "align": "left"},
              {"key_name": "offset", "header_name": "Data Offset (B)", "align": "right"},
              {"key_name": "size", "header_name": "Data Size (B)", "align": "right"}]
    return markdown_table_with_alignment_support(header, [
        {"id": number, "name": escaped(tensor.name), "offset": f"{int(tensor.data_offset):#16x}",
         "size": f"{int(tensor.n_bytes):#16x}"} for number, tensor in tensors])


def _group_section(group: str, members: Numbered, total: int) -> Iterator[str]:
    count = _elements(members)
    rounded = element_count_rounded_notation(count)
    share = count / total * 100 if total else 0
    yield f'### <a name="{_anchor(group)}">{translate_tensor_name(group)} Tensor Group : {rounded} Elements</a>\n'
    yield _group_table(members) + "\n"
    yield f"- Total elements in {group}: ({rounded:>4}) {count}"
    yield f"- Percentage of total elements: {share:.2f}%"
    yield f"- Bits per Weight (BPW) for {group}: {_bits_per_weight(members)}\n\n"


def _bits_per_weight(tensors: Numbered) -> str:
    count = _elements(tensors)
    if not count:
        return "undefined (no elements)"
    return f"{sum(int(tensor.n_bytes) for _, tensor in tensors) * 8 / count:.4f} bits"


def _group_table(members: Numbered) -> str:
    tensors = [tensor for _, tensor in members]
    counts = [str(int(tensor.n_elements)) for tensor in tensors]
    rounded = [element_count_rounded_notation(int(tensor.n_elements)) for tensor in tensors]
    widths = [max(map(len, column)) for column in (rounded, counts)]
    dims = [[str(size) for size in _four(tensor)] for tensor in tensors]
    dim_widths = [max(map(len, column)) for column in zip(*dims)]
    header = [{"key_name": "id", "header_name": "T_ID", "align": "right"},
              {"key_name": "name", "header_name": "Tensor Layer Name", "align": "left"},
              {"key_name": "words", "header_name": "Human Friendly Tensor Layer Name", "align": "left"},
              {"key_name": "elements", "header_name": "Elements", "align": "left"},
              {"key_name": "shape", "header_name": "Shape", "align": "left"},
              {"key_name": "type", "header_name": "Type", "align": "left"},
              {"key_name": "bits", "header_name": "BPW", "align": "right"}]
    return markdown_table_with_alignment_support(header, [
        {"id": number, "name": escaped(tensor.name), "words": _words(tensor.name),
         "elements": f"({short:>{widths[0]}}) {count:>{widths[1]}}",
         "shape": " x ".join(size.rjust(width) for size, width in zip(shape, dim_widths)),
         "type": _type_name(tensor.tensor_type), "bits": f"{_tensor_bits(tensor):.4f}"}
        for (number, tensor), short, count, shape in zip(members, rounded, counts, dims)])


def _words(name: str) -> str:
    return re.sub(r" (Weight|Bias)\b", lambda match: f" ({match.group(1)[0]})",
                  translate_tensor_name(escaped(name)))


def _tensor_bits(tensor: ReaderTensor) -> float:
    count = int(tensor.n_elements)
    return int(tensor.n_bytes) * 8 / count if count else float("nan")


@plain_errors
def main() -> None:
    made = parser("Dump GGUF file metadata")
    made.add_argument("model", help="GGUF format model filename")
    made.add_argument("--no-tensors", action="store_true", help="Don't dump tensor metadata")
    made.add_argument("--json", action="store_true", help="Produce JSON output")
    made.add_argument("--json-array", action="store_true",
                      help="Include full array values in JSON output (long)")
    made.add_argument("--data-offset", action="store_true", help="Start of data offset")
    made.add_argument("--data-alignment", action="store_true",
                      help="Data alignment applied globally to data field")
    made.add_argument("--markdown", action="store_true", help="Produce markdown output")
    args = arguments(made)
    if not (args.json or args.markdown or args.data_offset or args.data_alignment):
        logger.info("* Loading: %s", args.model)
    reader = GGUFReader(args.model, "r")
    if args.json or args.json_array:
        dump_metadata_json(reader, args)
    elif args.data_offset:
        print(reader.data_offset)
    elif args.data_alignment:
        print(reader.alignment)
    elif args.markdown:
        dump_markdown_metadata(reader, args)
    else:
        dump_metadata(reader, args)


if __name__ == "__main__":
    main()
