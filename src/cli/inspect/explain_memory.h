/* How models of an architecture use memory, in words. */
#ifndef CLI_INSPECT_EXPLAIN_MEMORY_H
#define CLI_INSPECT_EXPLAIN_MEMORY_H

/* Prints a sentence; the title of the first one is "memory", that of the others empty. */
typedef void explain_put(const char *title, const char *sentence);
/* Says what is in an architecture's line of memory; nothing where it has none. */
void explain_memory(const char *arch, explain_put *put_sentence);

#endif
