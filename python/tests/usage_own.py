"""How programs use gufo's own interface: mypy --strict checks this file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import gufo


def look(path: Path) -> list[str]:
    with gufo.open(path) as model:
        name = model["general.name"]
        assert isinstance(name, str)
        tensor = model.tensors["output.weight"]
        values = tensor.numpy(rows=slice(0, 4))
        half: np.ndarray[tuple[int, ...], np.dtype[np.float16]] = tensor.numpy("float16")
        print(values.mean(), half.shape, tensor.type, tensor.bits_per_weight, np.asarray(tensor).sum())
        return [finding.rule for finding in model.validate() if finding.fix is not None]


def sizes(folder: Path) -> dict[str, int]:
    found = gufo.find(folder, recursive=True, caches=True)
    return {model.name or model.path: model.size for model in found if model.fault is None}


def change(path: str) -> str:
    with gufo.edit(path, reserve=1024) as edit:
        edit["general.name"] = "Another"
        edit.set("my.numbers", [1, 2, 3], "array[uint8]")
        for change in edit.changes():
            print(change.kind, change.old_name, change.new)
        return edit.plan().way


def make(source: os.PathLike[str], target: Path) -> float:
    def show(done: int, total: int) -> None:
        print(f"{done / total:.0%}")

    with gufo.open(source) as model:
        job = model.quantize(target, "Q4_K_M", types={r"ffn_down": "Q6_K"}, progress=show)
        planned = model.plan("IQ4_XS", importance="some.imatrix")
        print(job.bits_per_weight, planned.size, [file.path for file in job.files])
        return max(tensor.loss for tensor in job.tensors.values())


def convert(folder: str) -> str | None:
    job = gufo.convert(folder, "out.gguf", "auto", replace=True)
    print(job.files[0].size)
    return gufo.open(folder).architecture


def reform(paths: list[str]) -> list[str]:
    with gufo.open(paths) as model:
        job = model.split("part", "2GiB", replace=True)
        model.merge("merged.gguf")
        model.endian("big.gguf", "big")
        model.strip("head.gguf", [name for name in model.tensors if name.startswith("blk.0.")])
        return job.notes + model.export("folder", dtype="BF16", shard_size="5GB").notes


def write(path: Path, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
    with gufo.open(path) as model:
        blocks = gufo.quantize(values, gufo.GGMLQuantizationType.Q8_0)
        tensors = {"a": values, "b": (blocks, "Q8_0"), "c": model.tensors["output.weight"]}
        gufo.write("new.gguf", {"general.architecture": "llama", "my.numbers": [1, 2]}, tensors, replace=True)
        gufo.write("copy.gguf", model, model.tensors)


def fit(model: gufo.Model, plan: Path) -> float:
    job = model.quantize("sized.gguf", size="8GiB", size_types=["Q8_0", "Q4_K"], losses="model.losses")
    assert job.size_plan is not None and job.size_plan.target is not None
    plan.write_text(job.size_plan.rules)
    model.quantize("again.gguf", job.size_plan.target, types=plan, replace=True)
    return max(tensor.loss for tensor in job.size_plan.tensors.values())


def weights(paths: list[str], model: gufo.Model) -> float:
    imatrix = gufo.imatrix(paths)
    imatrix.write("sum.gguf", format="legacy", replace=True)
    verification = gufo.verify(model, gufo.hash(model, "sha1", "uuid").manifest().encode())
    print([one.tensor for one in verification.verdicts if one.verdict != "same"], bool(verification))
    data = model.mapping().data
    print(None if data is None else data.nbytes, imatrix.counts("output.weight").max())
    return float(imatrix["output.weight"].mean())


def talk(path: str) -> str:
    tokenizer = gufo.tokenizer(path)
    ids = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], add_generation_prompt=True)
    text = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False)
    for number, (begin, end) in zip(ids, ids.spans):
        print(number, ids.text[begin:end])
    print(tokenizer.count(text), [end for end in tokenizer.stop_tokens if end in ids])
    census: gufo.Census = tokenizer.census(longest=3)
    changes: list[str] = [token.change for token in tokenizer.compare(tokenizer).tokens]
    print(census.types["normal"], changes)
    return tokenizer.decode(tokenizer.encode(text))


def weigh(path: str) -> int:
    estimate = gufo.estimate(path, devices=["24GiB", "16GiB"], type_k="Q8_0")
    speed: float = estimate.tokens_per_second(host=50e9, devices=[900e9, 900e9])
    return int(estimate.most_bytes + speed)


def compare(a: str, b: str) -> bool:
    diff = gufo.diff(a, b, values=True)
    for tensor in diff.tensors:
        if tensor.values is not None:
            print(tensor.name, tensor.values.cosine)
    return diff.same


def fail(path: str) -> tuple[int | None, str | None, str | None]:
    try:
        gufo.open(path)
    except gufo.Error as error:
        return error.offset, error.rule, error.file
    return None, None, None
