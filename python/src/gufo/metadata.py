"""What a model says of itself, from its card, its configuration and its name: the keys general.* of a GGUF file."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from . import model_id
from .constants import Keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .gguf_writer import GGUFWriter

logger: logging.Logger = logging.getLogger("metadata")

_CARD_LIMIT = 4 << 20

# Fields of Metadata, and what a model card calls them; of several names the first counts that has a value.
_CARD_NAMES = {
    "name": "name model_name",
    "author": "author model_author model_creator",
    "version": "version model_version",
    "organization": "organization model_organization",
    "description": "description model_description",
    "finetune": "finetune model_finetune",
    "basename": "basename model_basename model_type",
    "size_label": "size_label model_size_label",
    "source_url": "url model_url",
    "source_doi": "doi model_doi",
    "source_uuid": "uuid model_uuid",
    "source_repo_url": "repo_url model_repo_url",
    "license": "license",
    "license_name": "license_name",
    "license_link": "license_link",
}
# Lists take the values of all names.
_CARD_LISTS = {"tags": "tags pipeline_tag", "languages": "languages language"}
# Of these the first counts that is there, even without a value.
_CARD_SOURCES = {
    "base_models": "base_model base_models base_model_sources",
    "datasets": "datasets dataset dataset_sources",
}

# The order in which the keys are written.
_WRITTEN = (
    "sampling_sequence sampling_top_k sampling_top_p sampling_min_p sampling_xtc_probability sampling_xtc_threshold "
    "sampling_temp sampling_penalty_last_n sampling_penalty_repeat sampling_mirostat sampling_mirostat_tau "
    "sampling_mirostat_eta name author version organization finetune basename description quantized_by size_label "
    "license license_name license_link url doi uuid repo_url source_url source_doi source_uuid source_repo_url "
    "base_models datasets tags languages").split()
_SOURCE_PARTS = "name author version organization description url doi uuid repo_url".split()


@dataclass
class Metadata:
    sampling_sequence: str | None = None
    sampling_top_k: int | None = None
    sampling_top_p: float | None = None
    sampling_min_p: float | None = None
    sampling_xtc_probability: float | None = None
    sampling_xtc_threshold: float | None = None
    sampling_temp: float | None = None
    sampling_penalty_last_n: int | None = None
    sampling_penalty_repeat: float | None = None
    sampling_mirostat: int | None = None
    sampling_mirostat_tau: float | None = None
    sampling_mirostat_eta: float | None = None

    name: str | None = None
    author: str | None = None
    version: str | None = None
    organization: str | None = None
    finetune: str | None = None
    basename: str | None = None
    description: str | None = None
    quantized_by: str | None = None
    size_label: str | None = None
    url: str | None = None
    doi: str | None = None
    uuid: str | None = None
    repo_url: str | None = None
    source_url: str | None = None
    source_doi: str | None = None
    source_uuid: str | None = None
    source_repo_url: str | None = None
    license: str | list[str] | None = None
    license_name: str | None = None
    license_link: str | None = None
    base_models: list[dict[str, Any]] | None = None
    tags: list[str] | None = None
    languages: list[str] | None = None
    datasets: list[dict[str, Any]] | None = None

    @staticmethod
    def load(metadata_override_path: Path | None = None, model_path: Path | None = None,
             model_name: str | None = None, total_params: int = 0) -> Metadata:
        """All that is known of a model in a folder.  The file of keys and values counts more, and the name most."""
        metadata = Metadata.apply_metadata_heuristic(
            Metadata(), Metadata.load_model_card(model_path), Metadata.load_hf_parameters(model_path), model_path,
            total_params)
        generation = Metadata.load_generation_config(model_path)
        override = Metadata.load_metadata_override(metadata_override_path)
        for field in fields(Metadata):
            value = getattr(metadata, field.name)
            if field.name.startswith("sampling_"):
                value = generation.get(_generation_name(field.name), value)
            setattr(metadata, field.name, override.get(_key(field.name), value))
        if model_name is not None:
            metadata.name = model_name
        return metadata

    @staticmethod
    def load_metadata_override(metadata_override_path: Path | None = None) -> dict[str, Any]:
        """Keys and values of a JSON file; nothing where there is no such file."""
        if metadata_override_path is None or not Path(metadata_override_path).is_file():
            return {}
        return _json_object(Path(metadata_override_path))

    @staticmethod
    def load_model_card(model_path: Path | None = None) -> dict[str, Any]:
        """The front matter of README.md; nothing where there is none, or where it cannot be read."""
        path = _file_in(model_path, "README.md")
        if path is None:
            return {}
        try:
            text = _front_matter(path)
            return _yaml_object(text, path) if text else {}
        except UnicodeDecodeError as error:
            logger.warning("%s is not UTF-8 (%s); it is not used", path, error.reason)
            return {}

    @staticmethod
    def load_hf_parameters(model_path: Path | None = None) -> dict[str, Any]:
        """config.json of a model; nothing where there is none."""
        path = _file_in(model_path, "config.json")
        return _json_object(path) if path else {}

    @staticmethod
    def load_generation_config(model_path: Path | None = None) -> dict[str, Any]:
        """generation_config.json of a model; nothing where there is none, or where it cannot be read."""
        path = _file_in(model_path, "generation_config.json")
        try:
            return _json_object(path) if path else {}
        except (OSError, ValueError) as error:
            logger.warning("%s; it is not used", error)
            return {}

    @staticmethod
    def id_to_title(string: str) -> str:
        """tiny-model v2 GQA becomes Tiny Model v2 GQA."""
        return model_id.title(string)

    # The parameter has the name of the module.
    @staticmethod
    def get_model_id_components(model_id: str | None = None, total_params: int = 0) -> tuple[
            str | None, str | None, str | None, str | None, str | None, str | None]:
        """Name, organization, base name, fine tune, version and size label that are in the id of a model."""
        return _read_id(model_id, total_params)

    @staticmethod
    def apply_metadata_heuristic(metadata: Metadata, model_card: dict[str, Any] | None = None,
                                 hf_params: dict[str, Any] | None = None, model_path: Path | None = None,
                                 total_params: int = 0) -> Metadata:
        """Fills in what the model card says, then what config.json and the name of the folder tell."""
        if model_card is not None:
            metadata._take_card(model_card, total_params)
        origin = hf_params.get("_name_or_path") if hf_params is not None else None
        if isinstance(origin, str) and origin.count("/") <= 1:  # with more slashes it is a path on someone's disk
            metadata._take_id(_read_id(origin, total_params))
        if model_path is not None:
            metadata._take_id(_read_id(Path(model_path).name, total_params))
        return metadata

    def set_gguf_meta_model(self, gguf_writer: GGUFWriter) -> None:
        """Adds the keys to a file that is written."""
        if self.name is None:
            raise ValueError("the metadata has no name: give the model one")
        for name in _WRITTEN:
            value = getattr(self, name)
            if name == "license" and isinstance(value, list):
                value = ",".join(map(str, value))
            if value is None:
                continue
            if name in _CARD_SOURCES:
                _add_sources(gguf_writer, name.removesuffix("s"), value)
            else:
                getattr(gguf_writer, f"add_{name}")(value)

    def _take_card(self, card: dict[str, Any], total_params: int) -> None:
        for name, others in _CARD_NAMES.items():
            for other in others.split():
                if getattr(self, name) is None:
                    setattr(self, name, card.get(other))
        for name, others in _CARD_SOURCES.items():
            values = [card[other] for other in others.split() if other in card]
            if values:
                sources = [_source(entry, name, total_params) for entry in _as_list(values[0])]
                setattr(self, name, [*(getattr(self, name) or ()), *sources])
        for name, others in _CARD_LISTS.items():
            for other in others.split():
                if card.get(other) is not None:
                    setattr(self, name, [*(getattr(self, name) or ()), *_as_list(card[other])])

    def _take_id(self, parts: model_id.ModelId) -> None:
        for name, value in parts._asdict().items():
            if getattr(self, name) is None and value is not None:
                setattr(self, name, model_id.title(value) if name in ("name", "organization") else value)


def _read_id(text: str | None, total_params: int) -> model_id.ModelId:
    return model_id.read(text, total_params) if text is not None else model_id.ModelId()


def _key(name: str) -> str:
    """The key of a field; lists of models and data sets are one value in a file of keys and values."""
    return getattr(Keys.General, name.upper(), None) or f"general.{name}"


def _generation_name(name: str) -> str:
    """What generation_config.json calls a field."""
    return "temperature" if name == "sampling_temp" else name.removeprefix("sampling_")


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


def _source(entry: Any, kind: str, total_params: int) -> dict[str, Any]:
    """A model or data set that a card names: by its fields, its address, or its id on the hub."""
    if isinstance(entry, dict):
        return entry
    if not isinstance(entry, str):
        logger.error("model card: %r in %s is neither a text nor a mapping", entry, kind)
        return {}
    source = {}
    if entry.startswith(("http://", "https://", "ssh://")):
        source["repo_url"] = entry
        match = re.match(r"https?://huggingface\.co/([^/]+/[^/]+)$", entry)
        if not match:
            return source
        entry = match[1]
    parts = model_id.read(entry, total_params)
    titles = {name: getattr(parts, name) for name in ("name", "organization")}
    source |= {name: model_id.title(value) for name, value in titles.items() if value is not None}
    if parts.version is not None:
        source["version"] = parts.version
    if parts.organization is not None:
        source.setdefault("repo_url", f"https://huggingface.co/{parts.organization}/{parts.name}")
    return source


def _add_sources(writer: GGUFWriter, kind: str, sources: list[dict[str, Any]]) -> None:
    getattr(writer, f"add_{kind}_count")(len(sources))
    for index, source in enumerate(sources):
        for part in _SOURCE_PARTS:
            if part in source:
                getattr(writer, f"add_{kind}_{part}")(index, source[part])


def _file_in(folder: Path | None, name: str) -> Path | None:
    path = Path(folder) / name if folder is not None else None
    return path if path is not None and path.is_file() else None


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} is not an object of keys and values")
    return value


def _front_matter(path: Path) -> str:
    """The lines between the fences, as YAML can read them; empty: there are none."""
    with open(path, encoding="utf-8") as file:
        lines = file.read(_CARD_LIMIT).splitlines()
    if not lines or lines[0] != "---":
        return ""
    end = lines.index("---", 1) if "---" in lines[1:] else len(lines)
    text = "".join(f"{line}\n" for line in lines[1:end])
    # Norway's code is not a boolean, and cards have tabs.
    return text.replace("- no\n", '- "no"\n').replace("\t", "  ")


def _yaml_object(text: str, path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as error:
        raise ImportError(f"{path}: a model card is YAML, which needs the package PyYAML") from error
    try:
        card = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        logger.warning("%s: the front matter is not YAML (%s); it is not used", path, error)
        return {}
    if isinstance(card, dict):
        return card
    if card is not None:
        logger.error("%s: the front matter is not a mapping and is not used", path)
    return {}
