/* Scales: from numbers to classes of colours, and the ticks of axes. */
#ifndef GUFO_REPORT_PAGE_SCALE_H
#define GUFO_REPORT_PAGE_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- element types: viridis by bits per weight ----------------------------------------------- */

typedef struct type_look {
    const char *name;  /* "Q4_K"; "type 57" is "unknown" */
    const char *color; /* class: "t1" (few bits) to "t9" (many), "tu" unknown */
    const char *ink;   /* class of letters on it: "w" white, "k" black */
    const char *code;  /* of cells: "4K" */
    double bits;       /* per weight; 0: not known */
} type_look;

type_look scale_type(uint32_t id);

/* ---- measured numbers: cividis in ten steps --------------------------------------------------- */

typedef struct heat_scale {
    double least, most;
    bool is_log; /* least is above 0 */
} heat_scale;

enum { HEAT_STEPS = 10 };
/* Whether all numbers are alike, within 1 %: shades of their differences would show noise. */
bool heat_is_even(const heat_scale *scale);
/* The step of a number, from 0 to 9: more is more contrast.  Its colour is the class "mN". */
unsigned heat_step(const heat_scale *scale, double value);
/* The class of letters on a step: "hl" on the stronger half, else "hd". */
const char *heat_ink(unsigned step);

/* ---- axes ------------------------------------------------------------------------------------- */

enum { MOST_TICKS = 12 };
typedef struct axis_ticks {
    double values[MOST_TICKS];
    size_t count;
    double end; /* the last one or a little more: where the axis ends */
} axis_ticks;

/* Round numbers from 0 to `most` or more: about `wanted` of them. */
axis_ticks axis_linear(double most, size_t wanted);
/* The same in steps of powers of two: for bytes in GiB and numbers of tokens. */
axis_ticks axis_binary(double most, size_t wanted);
/* Powers of ten, or of ten with 2 and 5 between, inside of a range above 0. */
axis_ticks axis_log(double least, double most);

#endif
