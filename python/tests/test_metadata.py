"""What a model says of itself: ids, cards, configurations, and the keys that are written."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gufo.metadata import Metadata

WORDS = (
    "Llama llama2 Mistral qwen1.5 7B 7b 8x7B 1_5b 7b1 A14B a3b 50k 4k 128K 1m v1 v0.1 V2 iter3 Iter 2407 1 2.0 0628 chat "
    "Instruct vision LoRA lora mini small large XL xxl q4_0 Q8_0 f16 bf16 fp16 GGUF dpo hf base it x 8x22b é ü日本 2dpo "
    "1.0.3 v1-5 _a a_b v 0 007 7.5.1B 13B- b 12t 3T5 0.5B A2.7B IQ4_XS q4_k_m Q4 q4_0_4_4 1x 8x mini4k Mini 2b5k v1.olet Ⅷ "
    "٣b v٣ 7B²").split()
OWNERS = ["", "", "org/", "Org-Name/", "./", "../", "/", "a/b/", ".hidden/"]
PARAMS = [0, 0, 7 * 10**9, 161 * 10**6, -1234, -10**8, 50000, 1, -1, 10**12]
ADDRESSES = ["", "", "", "https://huggingface.co/", "http://huggingface.co/", "https://example.org/", "ssh://git@host/"]
CARD_NAMES = (
    "name model_name author model_author model_creator version organization description finetune basename model_type "
    "size_label model_size_label url model_url doi repo_url license license_name license_link tags pipeline_tag languages "
    "language base_model base_models base_model_sources datasets dataset dataset_sources other").split()


def random_id(dice: random.Random) -> str:
    text = "-".join(dice.choice(WORDS) for _ in range(dice.randint(1, 7)))
    if dice.random() < 0.1:
        text = dice.choice([f"-{text}", f"{text}-", text.replace("-", "--", 1), text.replace("-", " ", 1)])
    return dice.choice(OWNERS) + text


def random_value(dice: random.Random) -> Any:
    ids = [dice.choice(ADDRESSES) + random_id(dice) for _ in range(dice.randint(0, 3))]
    return dice.choice([None, 1.5, "", random_id(dice), ids, ids, [{"name": "a", "url": "b"}, *ids, 5]])


def random_card(dice: random.Random) -> dict[str, Any]:
    return {name: random_value(dice) for name in dice.sample(CARD_NAMES, dice.randint(0, 8))}


class Writer:
    """Keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.calls.append((name, *values))


def write(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.{'md' if name == 'README' else 'json'}").write_text(text, encoding="utf-8")
    return folder


# ---- always -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, params, parts", [
    ("Mistral/Mixtral-8x7B-Instruct-v0.1", 0, ("Mixtral-8x7B-Instruct-v0.1", "Mistral", "Mixtral", "Instruct", "v0.1", "8x7B")),
    ("Phi-3-mini-4k-instruct", 4 * 10**9, ("Phi-3-mini-4k-instruct", None, "Phi-3", "4k-instruct", None, "mini")),
    ("./bloom-7b1", 0, ("bloom-7b1", None, "bloom", None, None, "7.1B")),
    ("Llama-3-LoRA-8B", -1234, ("Llama-3-LoRA-8B", None, "Llama-3", None, None, "8B")),
    ("two words", 0, ("two words", None, None, None, None, None)),
    ("", 0, ("", None, None, None, None, None)),
    (None, 0, (None,) * 6)])
def test_parts_of_an_id(text: str | None, params: int, parts: tuple[str | None, ...]) -> None:
    assert Metadata.get_model_id_components(text, params) == parts


def test_sources_of_a_value(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "Tiny-3B-Chat-v2",
        README="---\nname: From the card\nlicense: mit\nlanguage:\n- no\n- en\ntags:\n\t- a\nbase_model: org/big-7B\n---\nText\n",
        config='{"_name_or_path": "owner/other-5B-base-v3"}',
        generation_config='{"temperature": 0.5, "top_k": 40, "name": "no"}')
    override = tmp_path / "override.json"
    override.write_text('{"general.sampling.top_k": 7, "general.author": "me", "general.license": "bsd", "general.x": 1}')
    found = Metadata.load(override, folder, total_params=3 * 10**9)
    assert found == Metadata(
        sampling_temp=0.5, sampling_top_k=7, author="me", name="From the card", license="bsd", languages=["no", "en"],
        tags=["a"], organization="Owner", basename="other", finetune="base", version="v3", size_label="5B",
        base_models=[{"name": "Big 7B", "organization": "Org", "repo_url": "https://huggingface.co/org/big-7B"}])
    assert Metadata.load(override, folder, "Mine").name == "Mine"
    assert Metadata.load() == Metadata()
    assert Metadata.load(tmp_path / "none", tmp_path / "no folder") == Metadata(name="No Folder")


@pytest.mark.parametrize("card", ["", "no fence", "---\n- a\n---\n", "---\na: [\n---\n", "---\n" + "[" * 2000 + "\n---\n",
                                  "---\n---\n", "---\n!!python/object:os.system {}\n---\n"],
                         ids=["empty", "fence", "list", "yaml", "deep", "nothing", "object"])
def test_card_without_values(tmp_path: Path, card: str) -> None:
    assert Metadata.load_model_card(write(tmp_path / "model", README=card)) == {}


def test_card_that_is_not_utf8(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "README.md").write_bytes(b"---\nname: \xff\n---\n")
    assert Metadata.load_model_card(tmp_path) == {}
    assert "README.md is not UTF-8" in caplog.text


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000], ids=["empty", "cut", "list", "deep"])
def test_configuration_that_is_no_object(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "model", config=text, generation_config=text)
    with pytest.raises(ValueError, match="config.json is not"):
        Metadata.load_hf_parameters(folder)
    assert Metadata.load_generation_config(folder) == {}


def test_keys_are_written_in_order() -> None:
    writer: Any = Writer()
    Metadata(name="a", license="mit", tags=["t"], sampling_top_p=0.5,
             base_models=[{"name": "b", "other": 1}, {"uuid": "u"}]).set_gguf_meta_model(writer)
    assert writer.calls == [
        ("add_sampling_top_p", 0.5), ("add_name", "a"), ("add_license", "mit"), ("add_base_model_count", 2),
        ("add_base_model_name", 0, "b"), ("add_base_model_uuid", 1, "u"), ("add_tags", ["t"])]
    with pytest.raises(ValueError, match="no name"):
        Metadata().set_gguf_meta_model(writer)


# ---- against gguf -------------------------------------------------------------------------------


def test_ids_are_read_as_gguf_does(peer: ModuleType) -> None:
    dice = random.Random(1)
    for _ in range(3000):
        text, params = random_id(dice), dice.choice(PARAMS)
        ours = Metadata.get_model_id_components(text, params)
        assert ours == peer.Metadata.get_model_id_components(text, params), (text, params)
        text = text.replace("_", " ")
        assert Metadata.id_to_title(text) == peer.Metadata.id_to_title(text), text


def test_cards_are_read_as_gguf_does(peer: ModuleType) -> None:
    dice = random.Random(2)
    for _ in range(1500):
        arguments = (random_card(dice), dice.choice([None, {}, {"_name_or_path": random_id(dice)}]),
                     dice.choice([None, Path(random_id(dice))]), dice.choice(PARAMS))
        theirs = peer.Metadata.apply_metadata_heuristic(peer.Metadata(), *copy.deepcopy(arguments))
        ours = Metadata.apply_metadata_heuristic(Metadata(), *copy.deepcopy(arguments))
        assert asdict(ours) == asdict(theirs), arguments


def test_folders_are_loaded_and_written_as_gguf_does(peer: ModuleType, tmp_path: Path) -> None:
    dice = random.Random(3)
    keys = [key for key in vars(peer.Keys.General).values() if str(key).startswith("general.") and "{" not in key]
    for number in range(100):
        card = {name: value for name, value in random_card(dice).items() if name != "license"}
        (tmp_path / str(number)).mkdir()
        folder = write(
            tmp_path / str(number) / random_id(dice).rpartition("/")[2],
            README=f"---\n{json.dumps(card)}\n---\n",
            config=json.dumps({"_name_or_path": random_id(dice)}),
            generation_config=json.dumps({"temperature": 0.5, "top_k": 5, "mirostat": 1}))
        # gguf takes no license from a file of keys and values.
        chosen = {key: random_id(dice) for key in dice.sample(keys, 5) if key != "general.license"}
        override = tmp_path / f"{number}.json"
        override.write_text(json.dumps({**chosen, "general.datasets": [{"name": "d", "doi": "e"}]}))
        ours = Metadata.load(override, folder, "name", 10**9)
        theirs = peer.Metadata.load(override, folder, "name", 10**9)
        assert asdict(ours) == asdict(theirs), folder
        calls: list[Any] = []
        for metadata in (ours, theirs):
            writer: Any = Writer()
            metadata.set_gguf_meta_model(writer)
            calls.append(writer.calls)
        assert calls[0] == calls[1]
