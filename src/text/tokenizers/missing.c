/* Algorithms that are not there yet. */
#include "text/tokenizers/algorithm.h"

const token_algorithm algorithm_wpm = {0};
