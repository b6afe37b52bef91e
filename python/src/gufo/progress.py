"""Progress of long calls.

`progress` is a function of (done, total); True: a bar of tqdm; False: nothing; None: a bar where
tqdm is installed and somebody looks (a terminal, a notebook)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional, Union

Call = Callable[[int, int], object]
#: What calls take as `progress`.
Progress = Optional[Union[bool, Call]]


def is_watched() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def tqdm_class(wanted: bool) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        return None
    return tqdm


def shortened(title: str) -> str:
    """What leaves room for numbers beside it: tqdm cuts them off a line that is too long."""
    most = max(8, shutil.get_terminal_size().columns // 3)
    return title if len(title) <= most else f"{title[: most // 2]}…{title[most // 2 + 1 - most :]}"


@contextmanager
def shown(progress: Progress, title: str) -> Iterator[Call | None]:
    """The function that the work calls, or None."""
    if callable(progress) or progress is False:
        yield progress or None
        return
    bar_class = tqdm_class(progress is True) if progress or is_watched() else None
    if bar_class is None:
        yield None
        return
    bar = bar_class(desc=shortened(title), unit="B", unit_scale=True, unit_divisor=1000, leave=False, delay=0.5)

    def move(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    with bar:
        yield move
