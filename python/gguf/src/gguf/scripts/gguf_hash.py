import sys

from gufo.scripts import gguf_hash

if __name__ == "__main__":
    gguf_hash.main()
else:
    sys.modules[__name__] = gguf_hash
