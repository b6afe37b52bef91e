/* The facts of a model, for its summary: one table (facts.c), whose rows are parts of lines for
 * people, members of JSON, or both. */
#ifndef CLI_INSPECT_FACTS_H
#define CLI_INSPECT_FACTS_H

#include "cli/core/values/json.h"
#include "cli/inspect/overview.h"

/* Calls `put` for each fact about a model; lines of `text`, which it may change, end with a newline
 * but the last. */
void facts_put(const overview *o, void (*put)(const char *label, char *text));

/* {"name":...}: the members that the file has (docs/json.md), with at most `limit` elements of
 * every list. */
void facts_write(json_writer *j, const char *key, const overview *o, uint64_t limit);

#endif
