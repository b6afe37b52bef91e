import sys

import gufo.tensor_mapping
from gufo.tensor_mapping import *

sys.modules[__name__] = gufo.tensor_mapping
