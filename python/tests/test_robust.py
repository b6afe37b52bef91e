"""The extension over time: no leak, no symbol outside the stable interface, Ctrl-C, threads."""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import weakref
from pathlib import Path
from typing import Any, Callable

import numpy
import pytest

import layout
from gufo import Error, _core
from gufo.gguf_reader import GGUFReader


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks_nothing(work: Callable[[], Any], times: int) -> None:
    for _ in range(100):
        work()
    gc.collect()
    blocks, files, memory = sys.getallocatedblocks(), len(os.listdir("/proc/self/fd")), resident()
    for _ in range(times):
        work()
    gc.collect()
    # Caches of Python grow by some hundreds; a block for each call is more.
    assert sys.getallocatedblocks() - blocks < times // 2
    assert len(os.listdir("/proc/self/fd")) == files
    # A page for each ten calls would be ten times as much.
    assert resident() - memory < times * 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    content, maker = layout.random_file(24)
    assert maker.fields and maker.tensors
    (tmp_path / "model.gguf").write_bytes(content)
    return tmp_path / "model.gguf"


def use(source: Any) -> None:
    with _core.open(source) as model:
        model.facts()
        for index, entry in enumerate(model.entries()):
            model.value(index)
            if entry[1] == 9:
                model.parts(index)
        for index in range(len(model.tensors())):
            model.data(index)


def test_10000_opens(path: Path) -> None:
    leaks_nothing(lambda: use(path), 10000)


def test_opens_of_memory(path: Path) -> None:
    content = path.read_bytes()
    references = sys.getrefcount(content)
    leaks_nothing(lambda: use(content), 2000)
    assert sys.getrefcount(content) == references


def test_opens_of_the_reader(path: Path) -> None:
    def read() -> None:
        reader = GGUFReader(path)
        for field in reader.fields.values():
            field.contents()
            list(field.parts)
        del field
        assert reader.tensors
        reader.close()

    leaks_nothing(read, 1000)


def test_failures(path: Path) -> None:
    content = path.read_bytes()[:-64]
    values = numpy.zeros(256, numpy.float32)

    def fail() -> None:
        for call in (
            lambda: _core.open(content),
            lambda: _core.open("/missing"),
            lambda: _core.open(None),
            lambda: _core.decode(12, b"short", 1, 256, values),
            lambda: _core.encode(4, values, 1, 256, bytearray(144)),
        ):
            with pytest.raises((Error, TypeError, ValueError)):
                call()
        assert _core.validate(content)

    leaks_nothing(fail, 1000)


def test_cycles_are_collected() -> None:
    class Content(bytearray):
        pass

    content = Content(layout.random_file(24)[0])
    content.model = _core.open(content)  # type: ignore[attr-defined]
    left = weakref.ref(content)
    del content
    gc.collect()
    assert left() is None


def test_stable_interface(tmp_path: Path) -> None:
    """What the extension takes of Python, Python's headers declare for the limited API of 3.11."""
    compiler, nm = shutil.which(os.environ.get("CC", "cc")), shutil.which("nm")
    if not compiler or not nm:
        pytest.skip("no compiler or no nm")
    source = tmp_path / "all.c"
    source.write_text("#define PY_SSIZE_T_CLEAN\n#define Py_LIMITED_API 0x030B0000\n#include <Python.h>\n#include <structmember.h>\n")
    include = f"-I{sysconfig.get_path('include')}"
    declared = subprocess.run([compiler, "-E", "-P", include, source], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"\b_?Py\w+", declared))
    names = subprocess.run([nm, "-D", "--undefined-only", _core.__file__], capture_output=True, text=True, check=True)
    taken = set(re.findall(r" U (_?Py\w+)", names.stdout))
    assert len(taken) > 40
    assert taken - known == set()
    shown = subprocess.run([nm, "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in shown.stdout.splitlines()] == ["PyInit__core"]


def test_interpreters_have_their_own(path: Path) -> None:
    """No variable of the module is shared."""
    import _xxsubinterpreters as interpreters  # its name in 3.11 and 3.12

    other = interpreters.create()
    try:
        code = f"import sys; sys.path[:] = {sys.path!r}\nfrom gufo import _core\n_core.open({str(path)!r}).entries()"
        interpreters.run_string(other, code)
    finally:
        interpreters.destroy(other)
    use(path)


# ---- long calls ---------------------------------------------------------------------------------

IQ2_XXS = 16
ROWS, COLUMNS = 512, 4096


def encode_for_minutes(progress: Callable[[int, int], object] | None = None) -> None:
    values = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS), numpy.float32)
    importance = numpy.ones(COLUMNS, numpy.float32)
    blocks = numpy.zeros(ROWS * COLUMNS // 256 * 66, numpy.uint8)
    effort = _core.EFFORT_HIGH
    _core.encode(IQ2_XXS, values, ROWS, COLUMNS, blocks, importance, effort, threads=1, progress=progress)


def test_interrupt() -> None:
    seen: list[int] = []

    def interrupt(done: int, total: int) -> None:
        if not seen:
            os.kill(os.getpid(), signal.SIGINT)
        seen.append(done)
        assert total == ROWS

    with pytest.raises(KeyboardInterrupt):
        encode_for_minutes(interrupt)
    assert len(seen) < 3


@pytest.mark.parametrize("has_writer", [True, False])
def test_interrupt_of_a_silent_pipe(tmp_path: Path, has_writer: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR) if has_writer else -1
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        _core.open(str(tmp_path / "pipe"))
    timer.join()
    if has_writer:
        os.close(pipe)


def test_interrupt_of_a_pipe_without_end() -> None:
    reading, writing = os.pipe()
    content, _ = layout.random_file(24)

    def write() -> None:
        os.write(writing, content)
        try:
            for count in itertools.count():
                os.write(writing, bytes(1 << 16))
                if count == 20:
                    os.kill(os.getpid(), signal.SIGINT)
        except BrokenPipeError:
            os.close(writing)

    thread = threading.Thread(target=write)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        _core.open(reading)
    os.close(reading)
    thread.join()


def test_exception_of_progress() -> None:
    def stop(done: int, total: int) -> None:
        raise LookupError(done < total)

    with pytest.raises(LookupError, match="True"):
        encode_for_minutes(stop)


def test_threads_run_beside_each_other() -> None:
    """The work lets others run: a thread counts while it goes on, and closing waits for it."""
    counted = threading.Event()
    content, maker = layout.random_file(24)
    model = _core.open(content)

    def other() -> None:
        for _ in range(100):
            use(content)
        counted.set()

    def stop(done: int, total: int) -> None:
        if counted.is_set():
            raise LookupError

    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(LookupError):
        encode_for_minutes(stop)
    thread.join()
    model.close()


def test_many_threads_use_one_model(path: Path) -> None:
    model = _core.open(path)
    wanted = [model.value(index) for index in range(len(model.entries()))]
    failed: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(50):
                assert [model.value(index) for index in range(len(wanted))] == wanted
                bytes(model.data(0))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    model.close()


def test_closing_during_a_call(tmp_path: Path) -> None:
    """A model that a call uses without the GIL cannot be closed."""
    maker = layout.Maker()
    maker.add_tensor("x", "Q8_0", [1 << 20, 64], 0, (1 << 20) * 64 // 32 * 34)
    path = tmp_path / "large.gguf"
    path.write_bytes(maker.content())
    model = _core.open(path)
    out = numpy.empty((64, 1 << 20), numpy.float32)
    refused: list[bool] = []

    def close(done: int, total: int) -> None:
        with pytest.raises(BufferError):
            model.close()
        refused.append(True)

    model.decode(0, 0, 64, out, 1, close)
    assert numpy.isfinite(out[:, 0]).any()
    model.close()
