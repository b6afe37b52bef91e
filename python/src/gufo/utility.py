"""Names of files and sizes of models, and tensors in safetensors files, local or on the hub."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Iterator, Literal
from urllib.parse import quote, urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# ---- names and sizes ----------------------------------------------------------------------------


def fill_templated_filename(filename: str, output_type: str | None) -> str:
    """Replaces {ftype}, {outtype} by the type in lower case, {FTYPE}, {OUTTYPE} by the same in upper case."""
    lower, upper = (output_type or "").lower(), (output_type or "").upper()
    filename = re.sub(r"\{(0|ftype|outtype)?\}", lambda _: lower, filename)
    return re.sub(r"\{(FTYPE|OUTTYPE)\}", lambda _: upper, filename)


def model_weight_count_rounded_notation(model_params_count: int, min_digits: int = 2) -> str:
    """6.7B: the number in trillions, billions, millions or thousands, with so many digits at least."""
    scale, letter = next(((scale, letter) for limit, scale, letter in
                          ((1e12, 1e-12, "T"), (1e9, 1e-9, "B"), (1e6, 1e-6, "M")) if model_params_count > limit),
                         (1e-3, "K"))
    number = model_params_count * scale
    places = max(min_digits - len(str(round(number)).lstrip("0")), 0)
    return f"{number:.{places}f}{letter}"


def size_label(total_params: int, shared_params: int, expert_params: int, expert_count: int) -> str:
    """6.7B or 8x7.2B; numbers may be negative, as those of adapters are."""
    if expert_count <= 0:
        return model_weight_count_rounded_notation(abs(total_params))
    return f"{expert_count}x{model_weight_count_rounded_notation(abs(shared_params) + abs(expert_params))}"


def naming_convention(model_name: str | None, base_name: str | None, finetune_string: str | None,
                      version_string: str | None, size_label: str | None, output_type: str | None,
                      model_type: Literal["vocab", "LoRA"] | None = None) -> str:
    """BaseName-SizeLabel-FineTune-Version-Encoding-Type, of which all but the first may be missing."""
    name = base_name if base_name is not None else model_name
    parts = [
        _hyphened(name).replace("/", "-") if name is not None else "ggml-model",
        size_label,
        _hyphened(finetune_string),
        _hyphened(version_string),
        _hyphened(output_type.upper()) if output_type is not None else None,
        _hyphened(model_type),
    ]
    return "-".join(part for part in parts if part is not None)


def _hyphened(text: Any) -> Any:
    return text.strip().replace(" ", "-") if text is not None else None


# ---- the header of a safetensors file -----------------------------------------------------------

_LONGEST_HEADER = 100_000_000
_BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
         "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
         "U64": 64}


def _header_length(start: bytes, file: str) -> int:
    if len(start) < 8:
        raise ValueError(f"{file}: {len(start)} bytes are too few for a safetensors file")
    length = int.from_bytes(start[:8], "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"{file}: the header would have {length:,} bytes, and the most is {_LONGEST_HEADER:,}")
    return length


def _header(text: bytes, file: str) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ValueError(f"{file}: the header is not an object of tensors")
    return header


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _tensor_range(name: str, entry: Any, file: str) -> tuple[str, tuple[int, ...], int, int]:
    """Type and shape of a tensor, and where its data begins and ends; ValueError where they do not agree."""
    here = f"{file}: tensor {name!r}"
    if not isinstance(entry, dict):
        raise ValueError(f"{here} is not an object")
    for key in ("dtype", "shape", "data_offsets"):
        if key not in entry:
            raise ValueError(f"{here} has no {key}")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str):
        raise ValueError(f"{here}: the dtype is not a text")
    if not isinstance(shape, list) or not all(map(_is_count, shape)):
        raise ValueError(f"{here}: the shape is not a list of numbers of elements")
    if not isinstance(place, list) or len(place) != 2 or not all(map(_is_count, place)) or place[0] > place[1]:
        raise ValueError(f"{here}: data_offsets are not a beginning and an end")
    bits = prod(shape) * _BITS.get(dtype, 0)
    if dtype in _BITS and -(-bits // 8) != place[1] - place[0]:
        raise ValueError(f"{here} has {place[1] - place[0]:,} bytes of data, and {shape} of {dtype} take {-(-bits // 8):,}")
    return dtype, tuple(shape), place[0], place[1]


def _tensors(header: dict[str, Any], file: str) -> Iterator[tuple[str, str, tuple[int, ...], int, int]]:
    """The tensors of a header by name, as safetensors lists them."""
    for name in sorted(header):
        if name != "__metadata__":
            yield (name, *_tensor_range(name, header[name], file))


# ---- files on the hub ---------------------------------------------------------------------------


@dataclass
class RemoteTensor:
    dtype: str
    shape: tuple[int, ...]
    offset_start: int
    size: int
    url: str

    def data(self) -> bytearray:
        """The data of the tensor, which can be written: torch asks for that."""
        data = bytearray(SafetensorRemote.get_data_by_range(self.url, self.offset_start, self.size))
        if len(data) != self.size:
            raise ValueError(f"{self.url}: {len(data):,} bytes came, and the tensor has {self.size:,}")
        return data


class SafetensorRemote:
    """Safetensors files of a model on the Hugging Face Hub: only what is asked for is fetched."""

    BASE_DOMAIN = "https://huggingface.co"

    _FIRST_READ = 1 << 20
    _TIMEOUT = (10, 60)  # seconds to connect, and between two pieces of an answer

    @classmethod
    def get_list_tensors_hf_model(cls, model_id: str) -> dict[str, RemoteTensor]:
        """All tensors of a model by name, whether it is one file or several."""
        folder = f"{cls.BASE_DOMAIN}/{model_id}/resolve/main"
        if cls.check_file_exist(f"{folder}/model.safetensors"):
            return cls.get_list_tensors(f"{folder}/model.safetensors")
        index = f"{folder}/model.safetensors.index.json"
        if not cls.check_file_exist(index):
            raise ValueError(f"no safetensors file of {model_id} was found: a private model needs a token in HF_TOKEN")
        tensors: dict[str, RemoteTensor] = {}
        for file in cls._files_of(index):
            tensors.update(cls.get_list_tensors(f"{folder}/{quote(file)}"))
        return tensors

    @classmethod
    def _files_of(cls, index: str) -> list[str]:
        files = _header(cls.get_data_by_range(index, 0, _LONGEST_HEADER), index).get("weight_map")
        if not isinstance(files, dict):
            raise ValueError(f"{index} has no weight_map")
        names = set(map(str, files.values()))
        for name in names:
            if "\\" in name or name.startswith("/") or {"", ".", ".."} & set(name.split("/")):
                raise ValueError(f"{index}: {name!r} is not the name of a file")
        return sorted(names)

    @classmethod
    def get_list_tensors(cls, url: str) -> dict[str, RemoteTensor]:
        """The tensors of one file by name."""
        header, start = cls.get_metadata(url)
        return {name: RemoteTensor(dtype, shape, start + begin, end - begin, url)
                for name, dtype, shape, begin, end in _tensors(header, url)}

    @classmethod
    def get_metadata(cls, url: str) -> tuple[dict[str, Any], int]:
        """The header of a file, and where the data begins behind it."""
        start = cls.get_data_by_range(url, 0, cls._FIRST_READ)
        end = 8 + _header_length(start, url)
        if end > len(start) == cls._FIRST_READ:
            start += cls.get_data_by_range(url, len(start), end - len(start))
        if end > len(start):
            raise ValueError(f"{url} ends in the header: it has {len(start):,} bytes of {end:,}")
        return _header(start[8:end], url), end

    @classmethod
    def get_data_by_range(cls, url: str, start: int, size: int = -1) -> bytes:
        """So many bytes of a file, or all that follow; fewer where it ends before."""
        if size == 0:
            return b""
        end = str(start + size - 1) if size > 0 else ""
        headers = {**cls._get_request_headers(url), "Range": f"bytes={start}-{end}", "Accept-Encoding": "identity"}
        with _requests().get(url, headers=headers, stream=True, timeout=cls._TIMEOUT) as answer:
            if answer.status_code == 416:  # it ends before
                return b""
            answer.raise_for_status()
            skip = start if answer.status_code != 206 else 0  # the server gives the whole file
            limit = skip + size if size > 0 else None
            return _read(answer, limit)[skip:]

    @classmethod
    def check_file_exist(cls, url: str) -> bool:
        """Whether there is a file with this address."""
        headers = {**cls._get_request_headers(url), "Range": "bytes=0-0"}
        requests = _requests()
        try:
            answer = requests.head(url, allow_redirects=True, headers=headers, timeout=cls._TIMEOUT)
        except requests.RequestException:
            return False
        return bool(200 <= answer.status_code < 400)

    @classmethod
    def _get_request_headers(cls, url: str | None = None) -> dict[str, str]:
        """Headers of a request; the token is for the hub alone."""
        address = urlsplit(url if url is not None else cls.BASE_DOMAIN)
        if not address.scheme or not address.netloc:
            raise ValueError(f"{url!r} is not the address of a file")
        headers = {"User-Agent": "gufo"}
        token = os.environ.get("HF_TOKEN")
        if token and (address.scheme, address.netloc) == urlsplit(cls.BASE_DOMAIN)[:2]:
            headers["Authorization"] = f"Bearer {token}"
        return headers


def _requests() -> Any:
    try:
        import requests
    except ImportError as error:
        raise ImportError("files on the hub need the package requests") from error
    return requests


def _read(answer: Any, limit: int | None) -> bytes:
    """The bytes of an answer, up to a limit: a server may send more than it was asked for."""
    data = bytearray()
    for piece in answer.iter_content(1 << 20):
        data += piece
        if limit is not None and len(data) >= limit:
            del data[limit:]
            break
    return bytes(data)


# ---- local files --------------------------------------------------------------------------------


@dataclass
class LocalTensorRange:
    filename: Path
    offset: int
    size: int


@dataclass
class LocalTensor:
    dtype: str
    shape: tuple[int, ...]
    data_range: LocalTensorRange

    def mmap_bytes(self) -> npt.NDArray[np.uint8]:
        """The data of the tensor as bytes; what is written into them stays in memory."""
        import numpy as np
        place = self.data_range
        if place.size == 0:
            return np.empty(0, np.uint8)
        return np.memmap(place.filename, mode="c", offset=place.offset, shape=place.size)


class SafetensorsLocal:
    """A safetensors file: `tensors` by name, with the place of their data.  `with` gives just these."""

    tensors: dict[str, LocalTensor]

    def __init__(self, filename: Path) -> None:
        file = os.fspath(filename)
        with open(filename, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            start = 8 + _header_length(stream.read(8), file)
            if size < start:
                raise ValueError(f"{file} ends in the header: it has {size:,} bytes of {start:,}")
            header = _header(stream.read(start - 8), file)
        self.tensors = {}
        for name, dtype, shape, begin, end in _tensors(header, file):
            if end > size - start:
                raise ValueError(f"{file}: tensor {name!r} ends {end - (size - start):,} bytes behind the end of the file")
            self.tensors[name] = LocalTensor(dtype, shape, LocalTensorRange(filename, start + begin, end - begin))

    def __enter__(self) -> dict[str, LocalTensor]:
        return self.tensors

    def __exit__(self, *exception: object) -> None:
        pass
