"""What is wrong with a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Finding", "Findings"]


@dataclass(frozen=True)
class Finding:
    """One place where a file breaks a rule.

    >>> [finding.rule for finding in model.validate() if finding.severity == "error"]
    []
    """

    #: "G205", which `gufo explain G205` explains, and its name.
    rule: str
    name: str
    #: "info", "warning", "error"
    severity: str
    #: Of the file; None where none applies.
    offset: int | None
    #: The key, the tensor ...
    subject: str
    message: str
    hint: str | None
    #: What would fix it, or None: "kind", "certain", "key", "value".
    fix: dict[str, Any] | None
    #: Whether the file cannot be opened because of it, but leniently.
    fatal: bool
    #: The number of the file, from 0.
    shard: int

    def __str__(self) -> str:
        place = "" if self.offset is None else f" at byte {self.offset}"
        return f"{self.severity}: {self.message} ({self.rule}{place})"


class Findings(Sequence[Finding]):
    """What is wrong with a model.  True where something is.

    >>> findings = model.validate()
    >>> findings.errors
    []
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._all = [Finding(**row) for row in rows]

    @property
    def errors(self) -> list[Finding]:
        """Those that break the format.

        >>> len(model.validate().errors)
        0
        """
        return [finding for finding in self._all if finding.severity == "error"]

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._all)) or "<gufo.Findings: nothing>"

    def _repr_html_(self) -> str:
        from gufo.notebook import findings_html

        return findings_html(self)
