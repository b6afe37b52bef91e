import sys

import gufo.vocab
from gufo.vocab import *

sys.modules[__name__] = gufo.vocab
