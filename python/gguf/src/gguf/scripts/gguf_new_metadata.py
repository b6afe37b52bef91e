import sys

from gufo.scripts import gguf_new_metadata

if __name__ == "__main__":
    gguf_new_metadata.main()
else:
    sys.modules[__name__] = gguf_new_metadata
