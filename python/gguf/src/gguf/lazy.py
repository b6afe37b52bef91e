import sys

import gufo.lazy
from gufo.lazy import *

sys.modules[__name__] = gufo.lazy
