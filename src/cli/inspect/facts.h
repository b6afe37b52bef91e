/* The facts of a model, for its summary: one table (facts.c), whose rows are parts of lines for
 * people, members of JSON, or both. */
#ifndef CLI_INSPECT_FACTS_H
#define CLI_INSPECT_FACTS_H

#include "cli/core/json.h"
#include "cli/inspect/overview.h"

/* Calls `put` for each fact about a model; lines of `text`, which it may change, end with a newline
 * but the last. */
void facts_put(const overview *o, void (*put)(const char *label, char *text));

/* {"name":...}: the members that the file has (docs/json.md), with at most `limit` elements of
 * every list. */
void facts_write(json_writer *j, const char *key, const overview *o, uint64_t limit);

/* ---- for the table -------------------------------------------------------------------------- */

/* Writes a line, or nothing if the file has no such fact.  A newline begins another line below. */
typedef void fact_text(FILE *out, const overview *o);
/* Writes members of an object. */
typedef void fact_json(json_writer *j, const overview *o);

fact_text facts_put_parameters, facts_put_quantization, facts_put_size, facts_put_bits,
    facts_put_tokens, facts_put_merge, facts_put_shard, facts_put_templates, facts_put_parents,
    facts_put_format, facts_put_complete;
fact_json facts_write_sums, facts_write_tokens, facts_write_templates, facts_write_parents;

#endif
