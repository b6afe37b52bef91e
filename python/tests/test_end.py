"""The end of the interpreter while calls run, and several interpreters in a process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import making
import numpy as np
import pytest

import gufo

BEGIN = """
import os, sys, threading, time
import gufo
model = gufo.open("large.gguf")
begun = threading.Event()
def show(done, total):
    begun.set()
def work():
    model.quantize("out.gguf", "IQ3_S", effort="high", threads=1, progress=show)
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a file whose encoding takes some seconds."""
    rows = np.random.default_rng(1).standard_normal((16384, 1024), np.float32)
    tensors = [("blk.0.ffn_up.weight", 0, [1024, 16384], rows.astype("<f4").tobytes())]
    (tmp_path / "large.gguf").write_bytes(making.gguf([("general.architecture", "string", "llama")], tensors))
    return tmp_path


def run(folder: Path, program: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(gufo.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "time.sleep(0.15)"])
def test_end_stops_work(folder: Path, end: str) -> None:
    assert run(folder, BEGIN + end) == ""
    assert os.listdir(folder) == ["large.gguf"]


def test_no_work_begins_after_the_end(folder: Path) -> None:
    end = """
import gufo._core
gufo._core.stop_work()
try:
    model.plan("Q8_0")
except RuntimeError as error:
    print(error)
"""
    assert run(folder, BEGIN + end) == "the interpreter ends\n"
    assert os.listdir(folder) == ["large.gguf"]


def test_child_of_fork_ends(folder: Path) -> None:
    """It has the list of work, but not the threads that do it."""
    end = """
child = os.fork()
if child == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(folder, BEGIN + end) == "7\n"


@pytest.mark.parametrize("end", ["pass", "sys.exit(7)"])
def test_child_of_fork_in_progress(folder: Path, end: str) -> None:
    """It does not wait for work of its parent, which goes on."""
    program = f"""
import os, signal, sys
import gufo
children = []
def show(done, total):
    if not children:
        children.append(os.fork())
        if children[0] == 0:
            signal.alarm(20)
            {end}
def work():
    with gufo.open("large.gguf") as model:
        model.quantize("out.gguf", "Q8_0", progress=show)
try:
    work()
except RuntimeError as error:
    sys.exit(7 if children[0] == 0 and "child of fork" in str(error) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), os.listdir())
"""
    assert run(folder, program).split(" ", 1)[0] == "7"
    assert sorted(os.listdir(folder)) == ["large.gguf", "out.gguf"]


def test_silent_pipe(folder: Path) -> None:
    """Work that cannot be stopped ends with the process."""
    end = """
reader, writer = os.pipe()
threading.Thread(target=gufo.open, args=(reader,), daemon=True).start()
time.sleep(0.2)
"""
    assert run(folder, BEGIN + end) == ""
    assert os.listdir(folder) == ["large.gguf"]


def test_interpreters(folder: Path) -> None:
    """Each has its own module, types and exceptions."""
    interpreters = pytest.importorskip("_xxsubinterpreters")
    path = folder / "model.gguf"
    path.write_bytes(making.llama())
    program = f"""
import sys
sys.path[:] = {sys.path!r}
import gufo
model = gufo.open({os.fspath(path)!r})
model.quantize({os.fspath(folder / "out.gguf")!r}, "F16", replace=True)
try:
    gufo.open(b"no model")
except gufo.Error as error:
    assert error.code == "not GGUF"
else:
    raise AssertionError
"""
    first = gufo.open(path)
    for _ in range(3):
        interpreter = interpreters.create()
        interpreters.run_string(interpreter, program)
        interpreters.destroy(interpreter)
        assert gufo.open(folder / "out.gguf").tensors["output.weight"].type == "F16"
        with pytest.raises(gufo.Error):
            gufo.open(b"no model")
    assert first["general.name"] == "Small"


def test_closing_while_calls_run(folder: Path) -> None:
    """A model that a call uses is not closed under it, whichever thread closes it."""
    path = folder / "model.gguf"
    path.write_bytes(making.llama())
    for _ in range(20):
        model = gufo.open(path, mapped=False)
        failed: list[BaseException] = []

        def read() -> None:
            try:
                for tensor in model.tensors.values():
                    assert tensor.numpy().size == tensor.elements
            except (ValueError, BufferError) as error:
                failed.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not model.closed:
            try:
                model.close()
            except BufferError:
                pass
        for thread in threads:
            thread.join()
        assert all("closed" in str(error) for error in failed)


@pytest.mark.skipif("text" not in gufo._core.features, reason="a minimal build")
def test_one_tokenizer_in_threads() -> None:
    tokenizer = gufo.tokenizer(making.llama())
    texts = ["ab a" * count for count in (1, 300, 30000)]
    expected = [list(tokenizer.encode(text)) for text in texts]
    failed: list[str] = []

    def work() -> None:
        for _ in range(5):
            for text, ids in zip(texts, expected):
                if list(tokenizer.encode(text)) != ids or tokenizer.count(text) != len(ids):
                    failed.append(text)
                tokenizer.decode(ids)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_one_call_at_a_time(folder: Path) -> None:
    (folder / "model.gguf").write_bytes(making.llama())
    model = gufo.open(folder / "model.gguf")
    job = model.plan("F16")
    said: list[str] = []

    def again(done: int, total: int) -> None:
        for call in (lambda: job.run(folder / "other.gguf"), lambda: job.outputs("x"), lambda: job.tensors, model.close):
            with pytest.raises((RuntimeError, BufferError)) as error:
                call()
            said.append(str(error.value))

    job.run(folder / "out.gguf", progress=again)
    assert set(said) == {"the job is in use", said[3]} and "still use its data" in said[3]
    model.close()
