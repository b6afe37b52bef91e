/* Numbers of 32 bits with few digits. */
#ifndef IMPORT_SHORTEST_REAL_H
#define IMPORT_SHORTEST_REAL_H

/* The number with the fewest digits, nine at most, that is the same float32: 0.1, not
 * 0.10000000149011612. */
double shortest_real(float number);

#endif
