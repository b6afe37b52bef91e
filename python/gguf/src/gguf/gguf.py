import sys

import gguf

sys.modules[__name__] = gguf
