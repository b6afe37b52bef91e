"""Jobs that many processes make in parts: how far the parts are.

>>> _ = model.plan("Q8_0").run_part(folder / "far.gguf", "0/2", align=4096)
>>> plan = gufo.plan(folder / "far.gguf")
>>> plan.missing == [part.number for part in plan.parts if part.state != "complete"]
True
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gufo import _core
from gufo.models import need

if TYPE_CHECKING:
    from gufo.models import Path

__all__ = ["Part", "PartOutput", "Plan", "plan"]

STATES = ("waiting", "running", "silent", "failed", "complete")  # gufo_part_state


@dataclass(frozen=True)
class Part:
    """A part of a job.

    >>> gufo.plan(folder / "far.gguf").parts[0].state
    'complete'
    """

    #: For `Job.run_part`: (number, len(plan.parts)) is this part alone.
    number: int
    #: "waiting": nobody has begun it; "running"; "silent": its log has not changed for two minutes; "failed"; "complete".
    state: str
    units: int
    units_done: int
    #: Bytes that it writes.
    size: int
    #: Seconds since its log has changed.
    silent: float
    #: Host and process that worked on it last, "node7:1234".
    worker: str | None
    #: Why it failed.
    reason: str | None


@dataclass(frozen=True)
class PartOutput:
    """A file of such a job: complete, it can be read as PATH.part before it has its name.

    >>> gufo.plan(folder / "far.gguf").outputs[0].complete
    False
    """

    path: str
    size: int
    complete: bool


@dataclass(frozen=True)
class Plan:
    """How a job is cut into parts, and how far these are.

    >>> plan = gufo.plan(folder / "far.gguf")
    >>> plan.complete, len(plan.outputs)
    (False, 1)
    """

    parts: list[Part]
    outputs: list[PartOutput]
    #: The command that made the plan; empty if a program did.
    command: list[str]

    @property
    def missing(self) -> list[int]:
        """Numbers of parts that are not complete.

        >>> plan = gufo.plan(folder / "far.gguf")
        >>> len(plan.missing) < len(plan.parts)
        True
        """
        return [part.number for part in self.parts if part.state != "complete"]

    @property
    def complete(self) -> bool:
        """Whether `Job.commit` can name the files.

        >>> gufo.plan(folder / "far.gguf").complete
        False
        """
        return not self.missing


def plan(output: Path) -> Plan:
    """Reads the plan beside an output, and how far its parts are; a LookupError where nobody has begun one.

    >>> gufo.plan(folder / "far.gguf").command
    []
    """
    need("jobs in parts")
    parts, outputs, command = _core.plan(os.fsencode(output))
    for number, row in enumerate(parts):
        row["number"], row["state"] = number, STATES[row["state"]]
    return Plan(
        [Part(**row) for row in parts],
        [PartOutput(os.fsdecode(path), size, complete) for path, size, complete in outputs],
        [os.fsdecode(argument) for argument in command],
    )
