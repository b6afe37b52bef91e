"""gguf-hash: digests of the tensors of a file and of all their data, and an identifier made of it."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gufo.gguf_reader import GGUFReader, ReaderTensor
from gufo.scripts.common import arguments, escaped, parser, plain_errors

logger = logging.getLogger("gguf-hash")

# Of which the identifiers of models are names.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "en.wikipedia.org/wiki/Llama.cpp")


def gguf_hash(reader: GGUFReader, filename: str, disable_progress_bar: bool, no_layer: bool) -> None:
    name = escaped(filename)
    whole = [hashlib.sha1(), hashlib.sha256()]
    identity = hashlib.sha1(NAMESPACE.bytes)
    for tensor in _with_bar(reader.tensors, disable_progress_bar):
        data: Any = np.ascontiguousarray(tensor.data).reshape(-1).view(np.uint8).data
        for digest in (*whole, identity):
            digest.update(data)
        if not no_layer:
            label = f"{name}:{escaped(tensor.name)}"
            print(f"sha1      {hashlib.sha1(data).hexdigest()}  {label}")
            print(f"sha256    {hashlib.sha256(data).hexdigest()}  {label}")
    print(f"sha1      {whole[0].hexdigest()}  {name}")
    print(f"sha256    {whole[1].hexdigest()}  {name}")
    print(f"uuid      {uuid.UUID(bytes=identity.digest()[:16], version=5)}  {name}")


def _with_bar(tensors: Iterable[ReaderTensor], disabled: bool) -> Iterator[ReaderTensor]:
    if disabled:
        yield from tensors
        return
    from tqdm import tqdm

    with tqdm(desc="Hashing", unit="byte", unit_scale=True,
              total=sum(int(tensor.n_bytes) for tensor in tensors)) as bar:
        for tensor in tensors:
            yield tensor
            bar.update(int(tensor.n_bytes))


@plain_errors
def main() -> None:
    made = parser("Hash the tensors of a GGUF file")
    made.add_argument("model", help="GGUF format model filename")
    made.add_argument("--no-layer", action="store_true", help="exclude per layer hash")
    made.add_argument("--progressbar", action="store_true", help="enable progressbar")
    args = arguments(made)
    gguf_hash(GGUFReader(args.model, "r"), args.model, not args.progressbar, args.no_layer)


if __name__ == "__main__":
    main()
