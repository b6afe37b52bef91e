import sys

from gufo.scripts import gguf_dump

if __name__ == "__main__":
    gguf_dump.main()
else:
    sys.modules[__name__] = gguf_dump
