import sys

import gufo.constants
from gufo.constants import *

sys.modules[__name__] = gufo.constants
