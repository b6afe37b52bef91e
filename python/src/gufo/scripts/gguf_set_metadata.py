"""gguf-set-metadata: changes one value of a file.

A number is overwritten where it is.  A text of another length needs the engine behind `gufo edit`,
which writes the file anew where it must.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import Any, NoReturn

import numpy as np

from gufo.constants import GGUFValueType
from gufo.gguf_reader import GGUFReader, ReaderField
from gufo.scripts.common import arguments, confirmed, escaped, parser, plain_errors, warn

logger = logging.getLogger("gguf-set-metadata")

# decided by the layout of the file, not by who asks
STRUCTURAL = ("GGUF.", "general.alignment")


def minimal_example(filename: str) -> None:
    """How a program does the same: the number is a part of the field, and the part is the file."""
    reader = GGUFReader(filename, "r+")
    field = reader.fields["tokenizer.ggml.bos_token_id"]
    field.parts[field.data[0]][0] = 2


def set_metadata(reader: GGUFReader, args: argparse.Namespace) -> None:
    field = reader.get_field(args.key)
    name = escaped(args.key)
    if field is None:
        _stop(f"! Field {name!r} not found")
    elif field.types == [GGUFValueType.STRING]:
        _set_text(field, args)
    elif len(field.types) == 1 and field.types[0] != GGUFValueType.ARRAY:
        _set_number(field, args)
    else:
        _stop(f"! This tool only supports changing simple values, {name!r} has unsupported type "
              f"{field.types}")


def _stop(message: str) -> NoReturn:
    logger.error(message)
    sys.exit(1)


def _allowed(field: ReaderField, old: Any, new: Any, args: argparse.Namespace) -> bool:
    """Says what will change, and asks."""
    name = escaped(field.name)
    logger.info("* Preparing to change field %r from %r to %r", name, old, new)
    if old == new:
        logger.info("- Key %r already set to requested value %r", name, old)
        return False
    if args.dry_run:
        return False
    if args.force:
        return True
    warn(logger, "Changing fields in a GGUF file can make it unusable. Proceed at your own risk.",
         "Enter exactly YES if you are positive you want to proceed:")
    if confirmed():
        return True
    logger.info("You didn't enter YES. Okay then, see ya!")
    return False


def _set_number(field: ReaderField, args: argparse.Namespace) -> None:
    if field.name.startswith(STRUCTURAL):
        _stop(f"! Field {field.name!r} follows from the layout of the file")
    part = field.parts[field.data[0]]
    old = part[0].item()
    try:
        new = _parsed(args.value, type(old))
    except ValueError as error:
        _stop(f"! {args.value!r} is no {field.types[0].name}: {error}")
    if part.dtype.kind in "iu" and not np.iinfo(part.dtype).min <= new <= np.iinfo(part.dtype).max:
        _stop(f"! {new} does not fit {field.types[0].name}")
    new = part.dtype.type(new).item()
    if _allowed(field, old, new, args):
        part[0] = new
        logger.info("* Field changed. Successful completion.")


def _parsed(text: str, kind: type) -> Any:
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False,
                 "": False}
        if text.lower() not in words:
            raise ValueError("say true or false")
        return words[text.lower()]
    return kind(text)


def _set_text(field: ReaderField, args: argparse.Namespace) -> None:
    if not _allowed(field, field.contents(), args.value, args):
        return
    from gufo.edits import edit

    with edit(args.model) as change:
        change[field.name] = args.value
    logger.info("* Field changed. Successful completion.")


@plain_errors
def main() -> None:
    made = parser("Set a simple value in GGUF file metadata")
    made.add_argument("model", help="GGUF format model filename")
    made.add_argument("key", help="Metadata key to set")
    made.add_argument("value", help="Metadata value to set")
    made.add_argument("--dry-run", action="store_true", help="Don't actually change anything")
    made.add_argument("--force", action="store_true", help="Change the field without confirmation")
    args = arguments(made)
    logger.info("* Loading: %s", args.model)
    set_metadata(GGUFReader(args.model, "r" if args.dry_run else "r+"), args)


if __name__ == "__main__":
    main()
