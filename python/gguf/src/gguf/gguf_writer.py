import sys

import gufo.gguf_writer
from gufo.gguf_writer import *

sys.modules[__name__] = gufo.gguf_writer
