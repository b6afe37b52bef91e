"""Files that take their name when they are complete.

Until then the bytes are in a file beside the target, so that whoever opens the target finds the
old file or the new one, never half of it.  A target that exists and is not a regular file (a pipe, a
device) is written directly.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from pathlib import Path
from typing import Sequence


class OutputFile(io.BufferedWriter):
    """A binary file to write; `name` is the final name."""

    temporary: str | None = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.process = os.getpid()
        self.target = os.path.realpath(path)
        super().__init__(self._open())

    def _open(self) -> io.FileIO:
        mode = _mode(self.target)
        if mode is not None and not stat.S_ISREG(mode):
            return io.FileIO(self.target, "w")
        folder = os.path.dirname(self.target)
        temporary = os.path.join(folder, f".gufo-{secrets.token_hex(8)}.part")
        try:
            file = io.FileIO(temporary, "x")
        except PermissionError:
            # the folder takes no new file, but the old one may be writable
            return io.FileIO(self.target, "w")
        except OSError as error:
            raise type(error)(error.errno, error.strerror, self.target) from None
        self.temporary = temporary
        if mode is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        return file

    @property
    def name(self) -> str:
        return self.target

    def finish(self) -> None:
        """Brings all bytes to the disk; the name is still the temporary one."""
        if self.closed:
            return
        self.flush()
        if self.temporary is not None:
            os.fsync(self.fileno())
        super().close()

    def rename(self) -> None:
        """Gives a finished file its name."""
        if self.temporary is not None:
            os.replace(self.temporary, self.target)
            self.temporary = None

    def close(self) -> None:
        self.finish()
        self.rename()

    def is_own(self) -> bool:
        """Whether this process opened it; a child of fork leaves the file to its parent."""
        return self.process == os.getpid()

    def discard(self) -> None:
        """Removes what was written; a file of the final name stays as it is."""
        temporary, self.temporary = self.temporary, None
        try:
            if temporary is not None and self.is_own():
                Path(temporary).unlink(missing_ok=True)
        finally:
            self.raw.close()  # without a flush, which a full disk refuses

    def __del__(self) -> None:
        if self.temporary is not None:
            self.discard()


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def close_all(files: Sequence[OutputFile]) -> None:
    """Closes the files of a set.  The first one, without which the set does not open, comes last:
    after a crash the old set opens, or the new one, or none."""
    for file in files:
        file.finish()
    if len(files) > 1 and files[0].temporary is not None:
        Path(files[0].target).unlink(missing_ok=True)
    for file in reversed(files):
        file.rename()
