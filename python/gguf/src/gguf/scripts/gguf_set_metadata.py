import sys

from gufo.scripts import gguf_set_metadata

if __name__ == "__main__":
    gguf_set_metadata.main()
else:
    sys.modules[__name__] = gguf_set_metadata
