/* A float32 is one of many decimal numbers that are read as it. */
#include "import/shortest_real.h"

#include <stdio.h>
#include <stdlib.h>

double shortest_real(float number)
{
    char text[32];

    for (int digits = 1; digits < 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            return strtod(text, NULL);
    }
    (void)snprintf(text, sizeof text, "%.9g", (double)number);
    return strtod(text, NULL);
}
