"""gguf-convert-endian: changes the byte order of a file.

The bytes are swapped in a copy beside the file, which takes its name at the end: a crash leaves the
old file.
"""

from __future__ import annotations

import argparse
import logging
import sys

import numpy as np

from gufo import _core
from gufo.constants import GGUFEndian
from gufo.gguf_reader import GGUFReader
from gufo.output_file import OutputFile
from gufo.scripts.common import arguments, confirmed, escaped, parser, plain_errors, warn

logger = logging.getLogger("gguf-convert-endian")


def convert_byteorder(reader: GGUFReader, args: argparse.Namespace) -> None:
    """Writes `args.model` anew with the byte order `args.order`, if the user agrees."""
    host = sys.byteorder
    old = "big" if reader.endianess == GGUFEndian.BIG else "little"
    new = host if args.order == "native" else args.order
    logger.info("* Host is %s endian, GGUF file seems to be %s endian", host.upper(), old.upper())
    if old == new:
        logger.info("* File is already %s endian. Nothing to do.", new.upper())
        return
    logger.info("* Checking tensors for conversion compatibility")
    for tensor in reader.tensors:
        _core.swap(int(tensor.tensor_type), bytearray())
    logger.info("* Preparing to convert from %s to %s", old.upper(), new.upper())
    if args.dry_run:
        return
    lines = ["Requested endian differs from host, you will not be able to load the model on this "
             "machine."] if new != host else []
    warn(logger, *lines, "Enter exactly YES if you are positive you want to proceed:")
    if not confirmed():
        logger.warning("You didn't enter YES. Okay then, see ya!")
        sys.exit(0)
    _write_swapped(reader, args.model)
    logger.info("* Completion")


def _write_swapped(reader: GGUFReader, path: str) -> None:
    file = OutputFile(path)
    if file.temporary is None:
        sys.exit(f"{path}: only a regular file in a folder that may be written can be converted")
    file.write(reader.data.data)
    file.flush()
    _swap(GGUFReader(file.temporary, "r+"))
    file.close()


def _swap(reader: GGUFReader) -> None:
    logger.info("* Converting fields (%d)", len(reader.fields))
    for number, field in enumerate(reader.fields.values()):
        logger.debug("- %4d: Converting field %r, part count: %d", number, escaped(field.name),
                     len(field.parts))
    logger.info("* Converting tensors (%d)", len(reader.tensors))
    parts = [part for field in reader.fields.values() for part in field.parts]
    parts += [part for tensor in reader.tensors for part in tensor.field.parts]
    blocks = [(int(tensor.tensor_type), tensor.data) for tensor in reader.tensors]
    for part in parts:
        part.byteswap(inplace=True)
    for kind, data in blocks:
        _core.swap(kind, data.reshape(-1).view(np.uint8).data)
    reader.data.flush()


@plain_errors
def main() -> None:
    made = parser("Convert GGUF file byte order")
    made.add_argument("model", help="GGUF format model filename")
    made.add_argument("order", choices=["big", "little", "native"], help="Requested byte order")
    made.add_argument("--dry-run", action="store_true", help="Don't actually change anything")
    args = arguments(made)
    logger.info("* Loading: %s", args.model)
    convert_byteorder(GGUFReader(args.model, "r"), args)


if __name__ == "__main__":
    main()
