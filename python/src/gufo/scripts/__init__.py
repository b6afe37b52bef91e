"""The commands of the package gguf.  `gufo` itself, the command, does more."""
