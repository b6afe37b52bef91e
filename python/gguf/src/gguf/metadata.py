import sys

import gufo.metadata
from gufo.metadata import *

sys.modules[__name__] = gufo.metadata
