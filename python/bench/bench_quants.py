"""Compares gufo.quants with the reference package: million elements per second, and how many times faster.

    PYTHONPATH=BUILD/python python3 python/bench/bench_quants.py GGUF-PY [--type NAME]... [--threads N]

GGUF-PY is the folder with the reference package.  Both code the same array in turns, in one process; the best of several
turns counts, in time of the processor (of all threads), and on the wall.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from types import ModuleType
from typing import Any, Callable

import numpy as np

from gufo import quants
from gufo.constants import GGML_QUANT_SIZES, GGMLQuantizationType

Clock = Callable[[], float]
CLOCKS: tuple[Clock, Clock] = (time.process_time, time.perf_counter)


def reference(folder: str) -> ModuleType:
    for name in [name for name in sys.modules if name.split(".")[0] == "gguf"]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    return importlib.import_module("gguf").quants  # type: ignore[no-any-return]


def best(calls: list[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """Of each call the least time of the processor and on the wall."""
    least = [[float("inf")] * len(CLOCKS) for _ in calls]
    end = time.perf_counter() + seconds
    turns = 0
    while turns < 3 or (time.perf_counter() < end and turns < 50):
        turns += 1
        for call, times in zip(calls, least):
            starts = [clock() for clock in CLOCKS]
            call()
            for i, clock in enumerate(CLOCKS):
                times[i] = min(times[i], clock() - starts[i])
    return least


def compare(title: str, elements: int, ours: Callable[[], Any], theirs: Callable[[], Any] | None, seconds: float) -> None:
    times = best([ours] if theirs is None else [ours, theirs], seconds)
    speeds = [elements / cpu / 1e6 for cpu, _ in times]
    line = f"{title:22} {speeds[0]:9.1f}"
    if theirs is not None:
        cpu, wall = (there / here for here, there in zip(*times))
        line += f" {speeds[1]:9.1f} {cpu:8.1f} {wall:8.1f}"
    print(line, flush=True)


def bench(qtype: GGMLQuantizationType, peer: Any, rows: int, threads: int, seconds: float) -> None:
    ours = quants._classes[qtype]
    theirs = peer and peer._type_traits.get(qtype.value)
    elements = rows * 1024
    values = np.random.default_rng(1).standard_normal((rows, 1024)).astype(np.float32)
    weights = np.ones(1024, dtype=np.float32)
    try:
        theirs_quantizes = theirs is not None and theirs.quantize(values[:1]) is not None
    except NotImplementedError:
        theirs_quantizes = False
    compare(f"quantize {qtype.name}", elements, lambda: ours.quantize(values, weights if not theirs_quantizes else None,
            threads=threads), (lambda: theirs.quantize(values)) if theirs_quantizes else None, seconds)
    blocks = ours.quantize(values, weights)
    compare(f"dequantize {qtype.name}", elements, lambda: ours.dequantize(blocks, threads=threads),
            (lambda: theirs.dequantize(blocks)) if theirs is not None else None, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="GGUF-PY", nargs="?", help="the folder with the reference package")
    parser.add_argument("--type", action="append", help="a type, for example Q4_K; all by default")
    parser.add_argument("--threads", type=int, default=0, help="all processors by default")
    parser.add_argument("--rows", type=int, default=2048, help="of 1024 elements")
    parser.add_argument("--seconds", type=float, default=1, help="for each line")
    options = parser.parse_args()
    peer = reference(options.folder) if options.folder else None
    names = options.type or [qtype.name for qtype in quants._type_traits]
    print(f"{'Melem/s of CPU':22} {'gufo':>9} {'gguf':>9} {'x CPU':>8} {'x wall':>8}")
    for name in names:
        slow = GGML_QUANT_SIZES[GGMLQuantizationType[name]][0] == 256 and name.startswith("IQ")
        bench(GGMLQuantizationType[name], peer, options.rows // 8 if slow else options.rows, options.threads, options.seconds)


if __name__ == "__main__":
    main()
