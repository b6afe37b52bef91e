"""gguf-new-metadata: writes a copy of a file with other metadata."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gufo import models
from gufo.constants import GGUFValueType, Keys
from gufo.gguf_reader import GGUFReader, ReaderField
from gufo.gguf_writer import GGUFWriter
from gufo.progress import shown
from gufo.scripts.common import arguments, confirmed, escaped, parser, plain_errors, warn

logger = logging.getLogger("gguf-new-metadata")

TOKEN_SUFFIX = "_token_id"
# the writer sets these itself
OWN_KEYS = (Keys.General.ARCHITECTURE,)


@dataclass
class MetadataDetails:
    type: GGUFValueType
    value: Any
    description: str = ""
    sub_type: GGUFValueType | None = None


def get_field_data(reader: GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return field.contents() if field else None


def find_token(token_list: Sequence[str], token: str) -> Sequence[int]:
    found = [token_id for token_id, text in enumerate(token_list) if text == token]
    if not found:
        raise LookupError(f"no token is {token!r}")
    return found


def copy_with_new_metadata(reader: GGUFReader, writer: GGUFWriter,
                           new_metadata: dict[str, MetadataDetails],
                           remove_metadata: Sequence[str]) -> None:
    left = dict(new_metadata)
    for field in reader.fields.values():
        if field.name in OWN_KEYS or field.name.startswith("GGUF."):
            continue
        if _is_removed(field.name, remove_metadata, left):
            logger.debug("Removing %s", escaped(field.name))
            continue
        old = _details(reader, field)
        new = left.pop(field.name, old)
        logger.debug("%s %s", "Copying" if new is old else "Changing", escaped(field.name))
        if _has_type(old):
            writer.add_key_value(field.name, new.value, new.type, sub_type=new.sub_type)
    _add_new(writer, left)
    _copy_tensors(reader, writer)
    writer.close()


def _copy_tensors(reader: GGUFReader, writer: GGUFWriter) -> None:
    for tensor in reader.tensors:
        writer.add_tensor_info(tensor.name, tensor.data.shape, tensor.data.dtype, tensor.data.nbytes,
                               raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    with shown(None, "Writing") as progress:
        total, done = sum(int(tensor.n_bytes) for tensor in reader.tensors), 0
        for tensor in reader.tensors:
            writer.write_tensor_data(tensor.data, tensor_endianess=reader.endianess)
            done += int(tensor.n_bytes)
            if progress:
                progress(done, total)


def _details(reader: GGUFReader, field: ReaderField) -> MetadataDetails:
    kind, inner = field.types[0], field.types[1:]
    if inner[:1] != [GGUFValueType.ARRAY]:
        return MetadataDetails(kind, field.contents(), sub_type=inner[0] if inner else None)
    # contents() is flat; numpy arrays keep the type of numbers
    with models.open(reader.data.filename) as model:
        value = _nested(model[field.name], reader.gguf_scalar_to_np.get(inner[-1]))
    return MetadataDetails(kind, value, sub_type=GGUFValueType.ARRAY)


def _nested(value: Any, scalar: Any) -> Any:
    if scalar is not None and not any(isinstance(item, list) for item in value):
        return np.array(value, dtype=scalar)
    return [_nested(item, scalar) if isinstance(item, list) else item for item in value]


def _has_type(old: MetadataDetails) -> bool:
    if old.type != GGUFValueType.ARRAY or old.sub_type is not None:
        return True
    logger.warning("An empty array is left out: it has no type of elements")
    return False


def _is_removed(key: str, removed: Sequence[str], new: dict[str, MetadataDetails]) -> bool:
    # the templates of a new set replace those of the old one
    main = Keys.Tokenizer.CHAT_TEMPLATE
    return key in removed or main in new and key.startswith(main)


def _add_new(writer: GGUFWriter, left: dict[str, MetadataDetails]) -> None:
    template = left.pop(Keys.Tokenizer.CHAT_TEMPLATE, None)
    if template is not None:
        writer.add_chat_template(template.value)
    for key, details in left.items():
        logger.debug("Adding %s = %r %s", escaped(key), details.value, details.description)
        writer.add_key_value(key, details.value, details.type)


# -- the command line

def _token_keys() -> dict[str, str]:
    """What a special token is called, and its key."""
    return {name[:-len("_ID")].lower(): key for name, key in vars(Keys.Tokenizer).items()
            if name.endswith("_ID") and isinstance(key, str) and key.endswith(TOKEN_SUFFIX)}


def _tokens_by_name() -> dict[str, str]:
    return {key[len("tokenizer.ggml."):-len(TOKEN_SUFFIX)]: key for key in _token_keys().values()}


def _options() -> argparse.ArgumentParser:
    tokens = " | ".join(_tokens_by_name())
    made = parser("Make a copy of a GGUF file with new metadata")
    made.add_argument("input", type=Path, help="GGUF format model input filename")
    made.add_argument("output", type=Path, help="GGUF format model output filename")
    made.add_argument("--general-name", metavar='"name"', help="The models general.name")
    made.add_argument("--general-description", metavar='"Description ..."',
                      help="The models general.description")
    made.add_argument("--chat-template", metavar='"{%% ... %%} ..."',
                      help="Chat template string (or JSON string containing templates)")
    made.add_argument("--chat-template-config", type=Path, metavar="tokenizer_config.json",
                      help="Config file containing chat template(s)")
    made.add_argument("--chat-template-file", type=Path, metavar="chat_template.jinja",
                      help="Jinja file containing chat template")
    made.add_argument("--pre-tokenizer", metavar='"pre tokenizer"',
                      help="The models tokenizer.ggml.pre")
    made.add_argument("--remove-metadata", action="append", default=[], metavar="general.url",
                      help="Remove metadata (by key name) from output model")
    made.add_argument("--special-token", action="append", default=[], nargs=2,
                      metavar=(tokens, '"<token>"'), help="Special token by value")
    made.add_argument("--special-token-by-id", action="append", default=[], nargs=2,
                      metavar=(tokens, "0"), help="Special token by id")
    made.add_argument("--force", action="store_true", help="Bypass warnings without confirmation")
    return made


def _new_metadata(args: argparse.Namespace) -> dict[str, MetadataDetails]:
    text = GGUFValueType.STRING
    found = {Keys.General.NAME: args.general_name, Keys.General.DESCRIPTION: args.general_description,
             Keys.Tokenizer.PRE: args.pre_tokenizer, Keys.Tokenizer.CHAT_TEMPLATE: _template(args)}
    return {key: MetadataDetails(text, value) for key, value in found.items() if value}


def _template(args: argparse.Namespace) -> Any:
    if args.chat_template_config:
        config = json.loads(args.chat_template_config.read_text(encoding="utf-8"))
        return config.get("chat_template")
    if args.chat_template_file:
        return args.chat_template_file.read_text(encoding="utf-8")
    given = args.chat_template
    return json.loads(given) if given and given.startswith("[") else given


def _add_special_tokens(args: argparse.Namespace, reader: GGUFReader,
                        metadata: dict[str, MetadataDetails]) -> None:
    tokens = get_field_data(reader, Keys.Tokenizer.LIST) or []
    keys = _tokens_by_name()
    for name, value in args.special_token + args.special_token_by_id:
        if name not in keys:
            logger.warning('Unknown special token "%s", ignoring...', escaped(name))
            continue
        by_id = [name, value] in args.special_token_by_id
        token_id = _checked_id(value, tokens) if by_id else find_token(tokens, value)[0]
        metadata[keys[name]] = MetadataDetails(GGUFValueType.UINT32, token_id, f"= {tokens[token_id]!r}")


def _checked_id(text: str, tokens: Sequence[str]) -> int:
    token_id = int(text)
    if not 0 <= token_id < len(tokens):
        raise LookupError(f"the token {token_id} is not among the {len(tokens)} tokens")
    return token_id


def _ask(args: argparse.Namespace, *lines: str) -> None:
    """Goes on only if the user is sure."""
    warn(logger, *lines)
    if args.force:
        return
    logger.warning("* Enter exactly YES if you are positive you want to proceed:")
    if not confirmed():
        logger.info("You didn't enter YES. Okay then, see ya!")
        sys.exit(0)


@plain_errors
def main() -> None:
    args = arguments(_options())
    metadata = _new_metadata(args)
    if args.remove_metadata:
        _ask(args, "Most metadata is required for a fully functional GGUF file,",
             "removing crucial metadata may result in a corrupt output file!")
    logger.info("* Loading: %s", args.input)
    reader = GGUFReader(args.input, "r")
    _add_special_tokens(args, reader, metadata)
    if args.output.is_file():
        _ask(args, f'The "{args.output}" GGUF file already exists, it will be overwritten!')
    logger.info("* Writing: %s", args.output)
    writer = GGUFWriter(args.output, get_field_data(reader, Keys.General.ARCHITECTURE),
                        endianess=reader.endianess)
    writer.data_alignment = int(reader.alignment)
    copy_with_new_metadata(reader, writer, metadata, args.remove_metadata)


if __name__ == "__main__":
    main()
