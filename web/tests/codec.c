/* The codec as a module: what tests/codec/digests.tsv has the digests of (tests/module.test.mjs takes them). */
#include "support/digested.h"

#include <stdio.h>

static uint8_t coded[DIGESTED_ROOM];
static char name[64];

__attribute__((export_name("codec_types"))) size_t codec_types(void)
{
    return gufo_element_type_count();
}

/* "Q4_0\tplain\thigh" of a row; empty if there is none. */
__attribute__((export_name("codec_name"))) const char *codec_name(size_t type, int mode, int effort)
{
    const gufo_element_type *t = gufo_element_type_at(type);

    name[0] = '\0';
    if (digested_exists(t, (digested_mode)mode, (gufo_effort)effort))
        (void)snprintf(name, sizeof name, "%s\t%s\t%s", t->name,
                       digested_mode_name((digested_mode)mode),
                       effort == GUFO_EFFORT_HIGH ? "high" : "reference");
    return name;
}

__attribute__((export_name("codec_code"))) size_t codec_code(size_t type, int mode, int effort)
{
    return digested_bytes(gufo_element_type_at(type), (digested_mode)mode, (gufo_effort)effort,
                          GUFO_CPU_PORTABLE, coded);
}

__attribute__((export_name("codec_bytes"))) const uint8_t *codec_bytes(void)
{
    return coded;
}
