/* Low-rank products, in tiles that stay in registers:
 *
 *                right   k  | . . . . . . . . |
 *     left               k + 1
 *     row 0    k k+1 ...    | = = = = = = = = |   PARTS vectors of each of ROWS rows
 *     row 1                 | = = = = = = = = |
 *
 * A vector of the right factor is made of floats once for all rows of the tile. */
#include "codec/product.h"

#include <string.h>

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

enum { ROWS = 4, PARTS = 2, WIDTH = LANES * PARTS };

/* The compiler's own vectors: they are the same on every processor. */
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));

static inline doubles widened(const float *from)
{
    floats v;

    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, doubles);
}

/* values += number * sum */
static inline void add_scaled(double *values, double number, doubles sum)
{
    doubles v;

    memcpy(&v, values, sizeof v);
    v += number * sum;
    memcpy(values, &v, sizeof v);
}

/* `rows` is a constant wherever it is called. */
static inline void add_tile(const low_rank_product *p, uint64_t row, uint64_t column, unsigned rows)
{
    doubles sums[ROWS][PARTS] = {{{0}}};
    const float *left = p->left + row * p->rank, *right = p->right + column;

    for (uint64_t k = 0; k < p->rank; k++, right += p->columns) {
        doubles first = widened(right), second = widened(right + LANES);

        for (unsigned i = 0; i < rows; i++) {
            double factor = (double)left[i * p->rank + k];

            sums[i][0] += factor * first;
            sums[i][1] += factor * second;
        }
    }
    for (unsigned i = 0; i < rows; i++)
        for (unsigned part = 0; part < PARTS; part++)
            add_scaled(p->values + (row + i) * p->columns + column + part * LANES, p->number,
                       sums[i][part]);
}

/* Columns that fill no tile. */
static void add_rest(const low_rank_product *p, uint64_t row, uint64_t column)
{
    const float *left = p->left + row * p->rank;

    for (; column < p->columns; column++) {
        double sum = 0;

        for (uint64_t k = 0; k < p->rank; k++)
            sum += (double)left[k] * (double)p->right[k * p->columns + column];
        p->values[row * p->columns + column] += p->number * sum;
    }
}

void KERNEL(product_add)(const low_rank_product *p)
{
    uint64_t whole = p->columns - p->columns % WIDTH, row = 0;

    for (; row + ROWS <= p->rows; row += ROWS)
        for (uint64_t column = 0; column < whole; column += WIDTH)
            add_tile(p, row, column, ROWS);
    for (; row < p->rows; row++)
        for (uint64_t column = 0; column < whole; column += WIDTH)
            add_tile(p, row, column, 1);
    for (row = 0; row < p->rows; row++)
        add_rest(p, row, whole);
}
