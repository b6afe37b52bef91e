import sys

from gufo.scripts import gguf_convert_endian

if __name__ == "__main__":
    gguf_convert_endian.main()
else:
    sys.modules[__name__] = gguf_convert_endian
