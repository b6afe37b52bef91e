/* Refused files. */
#include "refused.h"

#include "allocator.h"
#include "findings.h"
#include "openers.h"
#include "walk.h"

typedef struct expectation {
    const char *rule;
    gufo_status status;
    uint64_t offset;
    const char *label;
} expectation;

static void check_fault(const gufo_error *error, const expectation *e, const char *how)
{
    check(error->code == e->status && error->rule != NULL &&
              strcmp(error->rule->name, e->rule) == 0,
          "%s, %s: got %s, rule %s, \"%s\"; expected %s, rule %s", e->label, how,
          gufo_status_name(error->code), error->rule != NULL ? error->rule->name : "none",
          error->message, gufo_status_name(e->status), e->rule);
    check_u64(error->rule->status, e->status, "%s, %s", e->label, how);
    check(error->rule->fatal && error->rule->severity == GUFO_ERROR, "%s, %s", e->label, how);
    check(error->offset == e->offset, "%s, %s: at byte %" PRIu64 ", expected %" PRIu64 " (\"%s\")",
          e->label, how, error->offset, e->offset, error->message);
    check_error_shape(error, e->status, e->label);
}

static void check_strict(const builder *b, const expectation *e)
{
    counter c;
    gufo_allocator allocator;
    gufo_open_options options = {0};
    gufo_error error = no_error();
    uint8_t *copy = builder_exact_copy(b, b->len);
    gufo_model *file;

    counter_init(&c);
    allocator = counter_allocator(&c);
    options.allocator = &allocator;
    file = gufo_model_open_memory(copy, b->len, &options, &error);
    check(file == NULL, "%s: was opened", e->label);
    check_fault(&error, e, "memory");
    check(c.peak < REFUSED_PEAK && c.largest < REFUSED_PEAK, "%s: used %zu bytes", e->label,
          c.peak);
    check_u64(c.in_use, 0, "%s: leak", e->label);
    check(gufo_model_open_memory(copy, b->len, NULL, NULL) == NULL, "%s: without an error",
          e->label);
    free(copy);
}

static void check_other_ways(const builder *b, const expectation *e)
{
    static const way ways[] = {WAY_SOURCE, WAY_PATH_NO_MAP, WAY_PATH, WAY_PIPE};

    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        opened o;

        /* files and processes cost time: one encoding is enough for them */
        if (i > 0 && (b->encoding.version != 3 || b->encoding.big))
            break;
        open_way(&o, ways[i], b->data, b->len, NULL);
        check(o.file == NULL, "%s, %s: was opened", e->label, way_name(ways[i]));
        check_fault(&o.error, e, way_name(ways[i]));
        check_u64(o.source.closed, ways[i] == WAY_SOURCE ? 1 : 0, "%s", e->label);
        check_u64(o.source.bad, 0, "%s", e->label);
        close_way(&o);
    }
}

static bool was_reported(const findings *found, const expectation *e)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].rule->name, e->rule) == 0 && found->items[i].offset == e->offset)
            return true;
    return false;
}

static void check_lenient(const builder *b, const expectation *e)
{
    counter c;
    findings found;
    gufo_allocator allocator;
    gufo_open_options options = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    uint8_t *copy = builder_exact_copy(b, b->len);
    gufo_model *file;

    counter_init(&c);
    findings_init(&found);
    allocator = counter_allocator(&c);
    options.allocator = &allocator;
    options.on_finding = findings_add;
    options.finding_context = &found;
    file = gufo_model_open_memory(copy, b->len, &options, &error);
    if (file != NULL) {
        check(gufo_model_damage(file) != NULL, "%s, lenient: no damage", e->label);
        check_fault(gufo_model_damage(file), e, "lenient");
        walk_file(file, copy, b->len, e->label);
    } else {
        check_fault(&error, e, "lenient");
    }
    check(was_reported(&found, e), "%s, lenient: not among the %zu findings", e->label,
          found.count);
    gufo_model_free(file);
    check_u64(c.in_use, 0, "%s, lenient: leak", e->label);
    check(c.peak < REFUSED_PEAK, "%s, lenient: used %zu bytes", e->label, c.peak);
    findings_free(&found);
    free(copy);
}

void check_refused(const builder *b, const char *rule, gufo_status status, uint64_t offset,
                   const char *label)
{
    expectation e = {rule, status, offset, label};

    check_strict(b, &e);
    check_other_ways(b, &e);
    check_lenient(b, &e);
}

void check_refused_at_mark(const builder *b, const char *rule, gufo_status status,
                           const char *label)
{
    check_refused(b, rule, status, b->mark, label);
}
