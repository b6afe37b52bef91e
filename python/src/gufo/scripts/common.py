"""What the scripts share: the option --verbose, the question before a change, escapes."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from functools import wraps

from gufo._core import Error

SURE = "YES, I am sure> "


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--verbose", action="store_true", help="increase output verbosity")
    return made


def arguments(made: argparse.ArgumentParser, given: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of the command line; without any, the help."""
    words = sys.argv[1:] if given is None else given
    args = made.parse_args(words or ["--help"])
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO)
    return args


def plain_errors(main: Callable[[], None]) -> Callable[[], None]:
    """A main whose errors are one sentence, as those of a command."""
    @wraps(main)
    def wrapped() -> None:
        try:
            main()
        except (OSError, ValueError, LookupError, Error) as error:
            # a KeyError would put its message between quotes
            text = error.args[0] if isinstance(error, LookupError) and error.args else error
            sys.exit(f"{os.path.basename(sys.argv[0])}: {escaped(str(text))}")
    return wrapped


def warn(logger: logging.Logger, *lines: str) -> None:
    logger.warning("*** Warning *** Warning *** Warning **")
    for line in lines:
        logger.warning("* %s", line)


def confirmed() -> bool:
    """Whether the user types exactly YES; the end of the input is a no."""
    try:
        return input(SURE) == "YES"
    except EOFError:
        return False


def escaped(text: str) -> str:
    """Text whose control characters cannot reach a terminal."""
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
                   for c in text)
