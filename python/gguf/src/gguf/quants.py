import sys

import gufo.quants
from gufo.quants import *

sys.modules[__name__] = gufo.quants
