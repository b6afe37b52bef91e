/* Weighing a JSON text.
 *
 * Jansson takes its memory from malloc, which is not ours to replace: a library does not know who else
 * uses Jansson.  So every mark is counted with the most that the value behind it takes with 64 bits
 * (Jansson 2.14: sizes of its structs, rounded by malloc), and for its place:
 *
 *     {  an object of 72 bytes and eight buckets of 16      [  an array of 40 and eight pointers
 *     :  a member of 56 and a name, and its share of buckets while they grow
 *     ,  a pointer, while the array grows                   "  a string of 32, and its bytes
 *
 * A string is read into a buffer that doubles, which counts for the longest one.
 *
 * The text need not be JSON: Jansson stops where it is not, and has taken no more until then. */
#include "text/formats/json_tree.h"

#include "base/error.h"
#include "base/text.h"

enum {
    OBJECT = 256,
    ARRAY = 128,
    MEMBER = 56, /* more than a string, as which its name is counted */
    ELEMENT = 24,
    STRING = 80,
    NUMBER = 32,
    GROWING = 4,
};

/* Behind the string that begins at `at`, or the end of the text. */
static size_t skip_string(gufo_str text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

static bool is_of_number(char c)
{
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

uint64_t json_tree_bytes(gufo_str text)
{
    /* Words are no values of their own. */
    static const uint16_t weights[256] = {
        ['{'] = OBJECT, ['['] = ARRAY, [':'] = MEMBER, [','] = ELEMENT};
    uint64_t bytes = 0;
    size_t longest = 0;

    for (size_t at = 0, next; at < text.len; at = next) {
        unsigned char c = (unsigned char)text.data[at];

        next = at + 1;
        if (c == '"') {
            next = skip_string(text, at);
            bytes += STRING + (next - at);
            longest = next - at > longest ? next - at : longest;
        } else if (is_digit((char)c) || c == '-') {
            next = at + str_span(text, at, is_of_number);
            bytes += NUMBER;
        } else {
            bytes += weights[c];
        }
    }
    return bytes + GROWING * longest;
}

gufo_status json_tree_check(gufo_str text, uint64_t memory, uint64_t *bytes, gufo_error *error)
{
    uint64_t taken = json_tree_bytes(text);

    if (bytes != NULL)
        *bytes = taken;
    if (taken > json_tree_allowed(text.len))
        return refuse(error, GUFO_E_LIMIT,
                      "the values of this JSON take up to %s bytes of memory, more than "
                      "%d for each of its %s bytes",
                      GROUPED(taken), JSON_TREE_FACTOR, GROUPED(text.len));
    if (taken > memory)
        return refuse(error, GUFO_E_LIMIT,
                      "the values of this JSON take up to %s bytes of memory, but only "
                      "%s may be used",
                      GROUPED(taken), GROUPED(memory));
    return GUFO_OK;
}
