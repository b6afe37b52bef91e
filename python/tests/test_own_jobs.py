"""Jobs: the same bytes as the command, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import making
import numpy as np
import pytest

import gufo

COMMAND = Path(gufo.__file__).parents[2] / "gufo"


def command(*arguments: object) -> None:
    """Runs the command that was built with the package."""
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built")
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "model.gguf"
    path.write_bytes(making.llama(width=256))
    return path


OPTIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("Q4_K_M", {}, []),
    ("Q8_0", {"pure": True}, ["--pure"]),
    ("IQ4_XS", {"effort": "high"}, ["--effort", "high"]),
    ("MXFP4", {"types": {"ffn_(up|down)": "Q6_K", "blk.1": "F16"}},
     ["--tensor-type", "ffn_(up|down)=Q6_K", "--tensor-type", "blk.1=F16"]),
    ("F16", {"keep_output": True, "prune_layers": [0]}, ["--leave-output-tensor", "--prune-layers", "0"]),
    ("Q5_K_S", {"output_type": "Q8_0", "token_embedding_type": "Q4_0"},
     ["--output-tensor-type", "Q8_0", "--token-embedding-type", "Q4_0"]),
    ("COPY", {"metadata": {"general.name": "Other", "my.count": 7, "my.share": 0.5, "my.flag": True}},
     ["--override-kv", "general.name=str:Other", "--override-kv", "my.count=int:7",
      "--override-kv", "my.share=float:0.5", "--override-kv", "my.flag=bool:true"]),
]  # fmt: skip


@pytest.mark.parametrize("type, options, arguments", OPTIONS, ids=[row[0] for row in OPTIONS])
def test_same_bytes(
    path: Path, tmp_path: Path, type: str, options: dict[str, Any], arguments: list[str]
) -> None:
    with gufo.open(path) as model:
        job = model.quantize(tmp_path / "ours.gguf", type, **options)
    if "types" in options and "import" not in gufo._core.features:
        return  # the command has no patterns in a minimal build
    command("quantize", *arguments, path, tmp_path / "theirs.gguf", type)
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert job.size == (tmp_path / "ours.gguf").stat().st_size


def test_shards(path: Path, tmp_path: Path) -> None:
    job = gufo.open(path).quantize(tmp_path / "ours.gguf", "Q8_0", split_tensors=8)
    command("quantize", "--split-max-tensors", "8", path, tmp_path / "theirs.gguf", "Q8_0")
    assert len(job.files) == 3
    for file in job.files:
        theirs = Path(file.path.replace("ours", "theirs"))
        # gufo.split.id differs: it is that of the set
        assert Path(file.path).stat().st_size == theirs.stat().st_size == file.size
    with gufo.open(job.files[0].path) as model:
        assert model.shards == 3 and len(model.tensors) == 21


def test_importance(path: Path, tmp_path: Path) -> None:
    (tmp_path / "imatrix.gguf").write_bytes(making.imatrix(making.matrices(width=256)))
    with pytest.raises(gufo.Error, match="importance"):
        gufo.open(path).plan("IQ2_XXS")
    job = gufo.open(path).quantize(tmp_path / "ours.gguf", "Q4_K_S", importance=tmp_path / "imatrix.gguf")
    command("quantize", "--imatrix", tmp_path / "imatrix.gguf", path, tmp_path / "theirs.gguf", "Q4_K_S")
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert job.tensors["blk.0.attn_q.weight"].has_importance
    with pytest.raises(gufo.Error):
        gufo.open(path).quantize(
            tmp_path / "imatrix.gguf", "Q4_0", importance=tmp_path / "imatrix.gguf", replace=True
        )


def test_losses(path: Path, tmp_path: Path) -> None:
    job = gufo.open(path).quantize(tmp_path / "out.gguf", "Q8_0")
    first, second = (gufo.open(one).tensors["output.weight"].numpy() for one in (path, tmp_path / "out.gguf"))
    tensor = job.tensors["output.weight"]
    relative = np.linalg.norm(second.astype(float) - first) / np.linalg.norm(first.astype(float))
    assert tensor.loss == pytest.approx(relative, rel=1e-4)
    assert tensor.largest_error == pytest.approx(np.abs(second - first).max(), rel=1e-4)
    assert tensor.compared == first.size
    assert job.tensors["output_norm.weight"].compared == 0


def test_refused(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        with pytest.raises(TypeError):
            model.quantize(tmp_path / "out.gguf")
        with pytest.raises(gufo.Error, match="Q9_Z"):
            model.plan("Q9_Z")
        for options in ({"types": {"nothing": "F16"}}, {"types": {"attn": "Q9_Z"}}, {"effort": "low"}):
            with pytest.raises(ValueError):
                model.plan("Q8_0", **options)
        with pytest.raises(TypeError):
            model.plan("Q8_0", metadata={"a.b": object()})
        with pytest.raises(OverflowError):
            model.plan("Q8_0", metadata={"llama.block_count": 2**40})
        with pytest.raises(gufo.Error):
            model.plan("Q8_0", metadata={"bad key": 1})
        with pytest.raises(gufo.Error):
            model.quantize(path, "Q8_0", replace=True)
        (tmp_path / "there.gguf").write_bytes(b"there")
        with pytest.raises(FileExistsError):
            model.quantize(tmp_path / "there.gguf", "Q8_0")
        job = model.plan("Q8_0")
        with pytest.raises(BufferError):
            model.close()
        job.run(tmp_path / "there.gguf", replace=True)
        with pytest.raises(ValueError):
            job.run(tmp_path / "again.gguf")
    assert os.listdir(tmp_path) == ["there.gguf"]


def test_not_finite(tmp_path: Path) -> None:
    data = np.full((8, 256), np.nan, "<f4").tobytes()
    model = gufo.open(making.gguf([("general.architecture", "string", "llama")], [("a.weight", 0, [256, 8], data)]))
    with pytest.raises(gufo.Error, match="a.weight"):
        model.quantize(tmp_path / "out.gguf", "Q8_0")
    assert os.listdir(tmp_path) == []
    model.quantize(tmp_path / "out.gguf", "Q8_0", keep_nonfinite=True)


# ---- progress and interruptions ------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> gufo.Model:
    """Its encoding takes a second or more."""
    rows = np.random.default_rng(1).standard_normal((4096, 1024), np.float32)
    data = rows.astype("<f4").tobytes()
    tensors = [(f"blk.{i}.ffn_up.weight", 0, [1024, 4096], data) for i in range(6)]
    return gufo.open(making.gguf([("general.architecture", "string", "llama")], tensors))


def test_progress(large: gufo.Model, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    thread = threading.get_ident()

    def show(done: int, total: int) -> None:
        assert threading.get_ident() == thread
        seen.append((done, total))

    large.quantize(tmp_path / "out.gguf", "Q8_0", progress=show)
    assert seen == sorted(seen) and len({total for _, total in seen}) == 1
    assert all(done <= total for done, total in seen)


def test_exception_in_progress(large: gufo.Model, tmp_path: Path) -> None:
    def fail(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        large.quantize(tmp_path / "out.gguf", "IQ4_XS", progress=fail)
    assert os.listdir(tmp_path) == []


def test_interrupt(large: gufo.Model, tmp_path: Path) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        large.quantize(tmp_path / "out.gguf", "IQ4_XS", effort="high", threads=1)
        time.sleep(5)  # where it was faster than the timer
    assert time.monotonic() - begin < 30
    assert os.listdir(tmp_path) == []


def test_two_at_once(path: Path, tmp_path: Path) -> None:
    with gufo.open(path) as model:
        threads = [
            threading.Thread(target=model.quantize, args=(tmp_path / f"{i}.gguf", "Q4_K_M")) for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({(tmp_path / f"{i}.gguf").read_bytes() for i in range(4)}) == 1


# ---- models in other formats ---------------------------------------------------------------------

LEGACY = "gptj.bin"
needs_import = pytest.mark.skipif("import" not in gufo._core.features, reason="a minimal build")


@needs_import
@pytest.mark.parametrize("type", [None, "Q8_0", "Q4_K_M", "F32"])
def test_convert(tmp_path: Path, type: str | None) -> None:
    folder = making.checkpoint(tmp_path / "checkpoint", width=256)
    job = gufo.convert(folder, tmp_path / "ours.gguf", type, no_vocabulary=True)
    command("convert", "--no-vocab", folder, tmp_path / "theirs.gguf", type or "auto")
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()
    assert job.files[0].path == str(tmp_path / "ours.gguf")


@needs_import
def test_convert_to_a_size(tmp_path: Path) -> None:
    making.checkpoint(tmp_path / "model")
    calls: list[tuple[int, int]] = []
    job = gufo.convert(
        tmp_path / "model", tmp_path / "out.gguf", size="100KiB", no_vocabulary=True, threads=1,
        progress=lambda done, total: calls.append((done, total)),
    )  # fmt: skip
    assert job.size_plan is not None and len({total for _, total in calls}) == 2  # it measures, and writes


@needs_import
def test_convert_over_an_older_result(tmp_path: Path, seeds: Path) -> None:
    folder = making.checkpoint(tmp_path / "checkpoint")
    legacy = tmp_path / "legacy"
    legacy.mkdir()
    source = seeds.parent / "seeds_legacy" / LEGACY
    (legacy / LEGACY).write_bytes(source.read_bytes())
    (legacy / "notes.txt").write_bytes(b"old")
    for input, output in ((folder, folder / "out.gguf"), (legacy / LEGACY, legacy / "out.gguf"),
                          (legacy / LEGACY, legacy / "notes.txt")):  # fmt: skip
        options = {"no_vocabulary": True} if input == folder else {}
        output.write_bytes(b"old")
        with pytest.raises(FileExistsError):
            gufo.convert(input, output, **options)
        gufo.convert(input, output, replace=True, **options)
        assert output.read_bytes()[:4] == b"GGUF"
    with pytest.raises(gufo.Error):
        gufo.convert(legacy / LEGACY, legacy / LEGACY, replace=True)
    assert (legacy / LEGACY).read_bytes() == source.read_bytes()


@needs_import
def test_folder(tmp_path: Path) -> None:
    folder = making.checkpoint(tmp_path / "checkpoint")
    with pytest.raises(gufo.Error, match="vocabulary"):
        gufo.open(folder)
    with pytest.raises(gufo.Error):
        gufo.open(tmp_path)
    model = gufo.models.open_foreign(folder, "checkpoint", {"flags": gufo._core.CHECKPOINT_NO_VOCABULARY})
    assert model.architecture == "llama" and model.origin is not None
    assert model.origin["container"] == "safetensors"
    assert model.tensors["output.weight"].type == "F16" and model.tensors["output.weight"].offset is None
    stored = (folder / "model.safetensors").read_bytes()[-2:]
    assert model.tensors["blk.1.ffn_down.weight"].numpy().astype("<f2").tobytes()[-2:] == stored
    with pytest.raises(ValueError):
        model.edit()
    with pytest.raises(ValueError):
        model.reload()
    assert not model.closed
    with pytest.raises(gufo.Error):
        model.quantize(folder / "config.json", "Q8_0", replace=True)


@needs_import
def test_folder_as_far_as_it_is_understood(tmp_path: Path) -> None:
    folder = making.checkpoint(tmp_path / "checkpoint")
    assert len(gufo.open(folder, lenient=True).tensors) == 21
    config = (folder / "config.json").read_text().replace("Llama", "Nobody").replace('"llama"', '"nobody"')
    (folder / "config.json").write_text(config)
    model = gufo.open(folder, lenient=True)
    assert model.architecture == "unknown" and "model.norm.weight" in model.tensors


@needs_import
def test_advice(tmp_path: Path) -> None:
    """A failure names the option that lets the call go on."""
    folder = making.checkpoint(tmp_path / "checkpoint")
    with pytest.raises(LookupError) as missing:
        gufo.convert(folder, tmp_path / "out.gguf")
    assert missing.value.advice == "vocabulary" and missing.value.file == str(folder)
    config = (folder / "config.json").read_text().replace("Llama", "Nobody").replace('"llama"', '"nobody"')
    (folder / "config.json").write_text(config)
    with pytest.raises(gufo.Error) as failure:
        gufo.convert(folder, tmp_path / "out.gguf", no_vocabulary=True)
    assert failure.value.advice == "generic"
    with pytest.raises(gufo.Error) as failure:
        gufo.open(b"GGUF" + bytes(20))
    assert failure.value.advice is None and gufo.Error("mine").advice is None


@needs_import
def test_migrate(seeds: Path, tmp_path: Path) -> None:
    same = 0
    for path in sorted((seeds.parent / "seeds_legacy").glob("*.bin")):
        if path.stem.startswith("gguf"):
            continue  # is opened, and quantized, as any GGUF file
        ours, theirs = tmp_path / f"{path.stem}.ours", tmp_path / f"{path.stem}.theirs"
        done = subprocess.run([COMMAND, "migrate", "-q", path, theirs], capture_output=True) if COMMAND.exists() else None
        try:
            job = gufo.convert(path, ours)
        except gufo.Error:
            assert done is None or done.returncode != 0, path
            assert not ours.exists()
            continue
        assert job.files[0].tensor_count == len(job.tensors)
        if done is not None:
            assert done.returncode == 0, path
            assert ours.read_bytes() == theirs.read_bytes(), path
            same += 1
    assert same > 10 or not COMMAND.exists()


@needs_import
def test_known(seeds: Path, tmp_path: Path) -> None:
    """What a file lacks, a program may say."""
    folder = seeds.parent / "seeds_legacy"
    with pytest.raises(gufo.Error, match="'tokenizer.ggml.merges' is missing"):
        gufo.convert(folder / "bloom.bin", tmp_path / "out.gguf")
    known = {"tokenizer.ggml.merges": ["a b"], "bloom.context_length": 77}
    gufo.convert(folder / "bloom.bin", tmp_path / "out.gguf", known=known)
    with gufo.open(tmp_path / "out.gguf") as model:
        assert model["tokenizer.ggml.merges"] == ["a b"]
        assert model["bloom.context_length"] == 77 and model.entry("bloom.context_length").type == "uint32"
    checkpoint = making.checkpoint(tmp_path / "checkpoint")
    gufo.convert(checkpoint, tmp_path / "c.gguf", no_vocabulary=True, known={"general.name": "Known", "my.key": 1})
    assert [gufo.open(tmp_path / "c.gguf")[key] for key in ("general.name", "my.key")] == ["Known", 1]
    with pytest.raises(TypeError, match="my.key"):
        gufo.convert(checkpoint, tmp_path / "d.gguf", no_vocabulary=True, known={"my.key": None})
    with pytest.raises(gufo.Error, match="bad key"):
        gufo.convert(checkpoint, tmp_path / "d.gguf", no_vocabulary=True, known={"bad key": 1})
    assert not (tmp_path / "d.gguf").exists()


def test_adapters(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(making.llama())
    (tmp_path / "lora.gguf").write_bytes(making.adapter())
    name = "blk.0.attn_q.weight"
    with gufo.open(tmp_path / "model.gguf") as model, gufo.open(tmp_path / "lora.gguf") as lora:
        model.quantize(tmp_path / "ours.gguf", "COPY", adapters=[(lora, 0.5)])
        a, b = (lora.tensors[name + end].numpy().astype(float) for end in (".lora_a", ".lora_b"))
        with gufo.open(tmp_path / "ours.gguf") as merged:
            expected = model.tensors[name].numpy() + 0.5 * (8 / 4) * (b @ a)
            assert np.array_equal(merged.tensors[name].numpy(), expected.astype("f4"))
            assert [one.name for one in gufo.diff(model, merged).tensors] == [name]
        model.quantize(tmp_path / "q8.gguf", "Q8_0", adapters=[tmp_path / "lora.gguf", lora])
        (tmp_path / "wide.gguf").write_bytes(making.adapter(width=64))
        with pytest.raises(gufo.Error) as error:
            model.plan("COPY", adapters=[tmp_path / "wide.gguf"])
        assert error.value.rule is not None and error.value.file == str(tmp_path / "wide.gguf")
    command("lora", "merge", tmp_path / "model.gguf", tmp_path / "lora.gguf", "--scale", 0.5, "-o", tmp_path / "theirs.gguf")
    assert (tmp_path / "ours.gguf").read_bytes() == (tmp_path / "theirs.gguf").read_bytes()


# ---- parts ---------------------------------------------------------------------------------------


def share(path: Path, output: Path, part: str | tuple[int, int], type: str = "Q4_K_M") -> gufo.PartResult:
    with gufo.open(path) as model:
        return model.plan(type).run_part(output, part, align=4096)


def test_parts(path: Path, tmp_path: Path) -> None:
    output = tmp_path / "parts.gguf"
    with gufo.open(path) as model:
        alone = model.quantize(tmp_path / "alone.gguf", "Q4_K_M")
    with pytest.raises(LookupError, match="no part of this output was begun"):
        gufo.plan(output)
    share(path, output, (2, 3))
    plan = gufo.plan(output)
    assert not plan.complete and plan.parts[-1].state == "complete" and plan.parts[0].state == "waiting"
    assert plan.parts[-1].worker is not None and plan.outputs[0].path == str(output)
    with gufo.open(path) as model:
        assert model.plan("Q4_K_M").commit(output) == len(plan.missing)
    assert not output.exists()
    with pytest.raises(gufo.Error, match="general.file_type"):
        share(path, output, "0/3", "Q8_0")
    result = share(path, output, "next")
    assert result.complete == result.count and result.made == len(plan.missing)
    assert gufo.plan(output).complete
    with gufo.open(path) as model:
        job = model.plan("Q4_K_M")
        assert job.commit(output) == 0
    assert output.read_bytes() == (tmp_path / "alone.gguf").read_bytes()
    assert job.tensors == alone.tensors  # with what they have lost
    assert sorted(file.name for file in tmp_path.iterdir()) == ["alone.gguf", "parts.gguf"]


@pytest.mark.parametrize("part", ["0", "a/2", (1, 2, 3), "", "1/2/3"])
def test_part_is_not_one(path: Path, tmp_path: Path, part: Any) -> None:
    with pytest.raises(ValueError, match="part is"):
        share(path, tmp_path / "out.gguf", part)


def test_part_out_of_range(path: Path, tmp_path: Path) -> None:
    with pytest.raises((IndexError, ValueError), match="none has number 2"):
        share(path, tmp_path / "out.gguf", (2, 2))
    assert not list(tmp_path.iterdir())
