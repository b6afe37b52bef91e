import sys

import gufo.gguf_reader
from gufo.gguf_reader import *

sys.modules[__name__] = gufo.gguf_reader
