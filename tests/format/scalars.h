/* Metadata of every scalar type: in a document, and as the bytes of a file. */
#ifndef TEST_FORMAT_SCALARS_H
#define TEST_FORMAT_SCALARS_H

#include "../support/builder.h"
#include "../support/check.h"

#include "gufo/document.h"

static inline void set_scalars(gufo_document *d, gufo_error *e)
{
    check_ok(gufo_document_set_u8(d, "a.u8", 200, e), e, "u8");
    check_ok(gufo_document_set_i8(d, "a.i8", -100, e), e, "i8");
    check_ok(gufo_document_set_u16(d, "a.u16", 60000, e), e, "u16");
    check_ok(gufo_document_set_i16(d, "a.i16", -30000, e), e, "i16");
    check_ok(gufo_document_set_u32(d, "a.u32", 4000000000, e), e, "u32");
    check_ok(gufo_document_set_i32(d, "a.i32", -2000000000, e), e, "i32");
    check_ok(gufo_document_set_f32(d, "a.f32", 0.1f, e), e, "f32");
    check_ok(gufo_document_set_bool(d, "a.true", true, e), e, "bool");
    check_ok(gufo_document_set_bool(d, "a.false", false, e), e, "bool");
    check_ok(gufo_document_set_text(d, "a.text", "gr\xc3\xbc\xc3\x9f", e), e, "text");
    check_ok(gufo_document_set_text(d, "a.empty", "", e), e, "text");
    check_ok(gufo_document_set_str(d, "a.str", (gufo_str){"a\0b", 3}, e), e, "str");
    check_ok(gufo_document_set_u64(d, "a.u64", UINT64_MAX - 1, e), e, "u64");
    check_ok(gufo_document_set_i64(d, "a.i64", INT64_MIN, e), e, "i64");
    check_ok(gufo_document_set_f64(d, "a.f64", 0.1, e), e, "f64");
}

static inline void build_scalars(builder *b)
{
    builder_header(b, 0, 15);
    builder_kv_u8(b, "a.u8", 200);
    builder_key(b, "a.i8", GUFO_VALUE_INT8);
    builder_u8(b, 156);
    builder_kv_u16(b, "a.u16", 60000);
    builder_key(b, "a.i16", GUFO_VALUE_INT16);
    builder_u16(b, 35536);
    builder_kv_u32(b, "a.u32", 4000000000);
    builder_kv_i32(b, "a.i32", -2000000000);
    builder_key(b, "a.f32", GUFO_VALUE_FLOAT32);
    builder_f32(b, 0.1f);
    builder_kv_bool(b, "a.true", true);
    builder_kv_bool(b, "a.false", false);
    builder_kv_str(b, "a.text", "gr\xc3\xbc\xc3\x9f");
    builder_kv_str(b, "a.empty", "");
    builder_kv_strn(b, "a.str", "a\0b", 3);
    builder_kv_u64(b, "a.u64", UINT64_MAX - 1);
    builder_key(b, "a.i64", GUFO_VALUE_INT64);
    builder_u64(b, UINT64_C(1) << 63);
    builder_key(b, "a.f64", GUFO_VALUE_FLOAT64);
    builder_f64(b, 0.1);
    builder_pad(b, 32);
}

#endif
