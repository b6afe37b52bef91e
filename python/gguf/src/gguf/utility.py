import sys

import gufo.utility
from gufo.utility import *

sys.modules[__name__] = gufo.utility
