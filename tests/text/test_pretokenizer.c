/* Pre-tokenizers: the pieces of texts, and where a text may be cut. */
#include "../support/check.h"
#include "../support/json.h"
#include "../support/shared.h"

#include "base/memory.h"
#include "text/tokenizers/pretokenizer.h"
#include "text/vocabulary/characters.h"

/* ---- running one ----------------------------------------------------------------------------- */

typedef struct cutter {
    pretokenizer *p;
    pre_scratch *scratch;
    size_t pieces[4096];
    size_t count;
} cutter;

static void cutter_open(cutter *c, const char *shape)
{
    gufo_error error = {0};

    c->p = pretokenizer_new(shape, &default_allocator, &error);
    check(c->p != NULL, "%s: %s", shape, error.message);
    c->scratch = pre_scratch_new(c->p, &default_allocator, &error);
    check(c->scratch != NULL, "%s: %s", shape, error.message);
}

static void cutter_close(cutter *c)
{
    pre_scratch_free(c->scratch);
    pretokenizer_free(c->p);
}

static gufo_status take_piece(void *context, gufo_str piece, gufo_error *error)
{
    cutter *c = context;

    (void)error;
    check(c->count < COUNT_OF(c->pieces), "too many pieces");
    c->pieces[c->count++] = piece.len;
    return GUFO_OK;
}

/* Appends the lengths of the pieces. */
static void cut(cutter *c, gufo_str text)
{
    gufo_error error = {0};

    check(pretokenizer_run(c->scratch, text, take_piece, c, &error) == GUFO_OK, "%s",
          error.message);
}

/* ---- expected pieces ------------------------------------------------------------------------ */

static void check_line(cutter *c, const json_value *line, const char *label, uint64_t number)
{
    const json_value *expected = json_at(line, "pieces");
    size_t i = 0;

    c->count = 0;
    cut(c, json_at(line, "text")->text);
    for (const json_value *v = expected->inside; v != NULL; v = v->next, i++)
        check(i < c->count && (double)c->pieces[i] == json_number(v),
              "%s, line %" PRIu64 ", piece %zu", label, number, i);
    check_u64(c->count, i, "%s, line %" PRIu64, label, number);
}

static void check_name(gufo_str name, const json_document *lines)
{
    const pre_rules *rules = pre_rules_find(name);
    cutter c = {0};
    uint64_t number = 1;

    check(rules != NULL, "%.*s", (int)name.len, name.data);
    cutter_open(&c, rules->shape);
    for (const json_value *line = lines->root->inside; line != NULL; line = line->next)
        check_line(&c, line, rules->name, number++);
    cutter_close(&c);
}

static void test_expected_pieces(void **state)
{
    path_text index_path = need_shared("data/text/tokens_pre/index.json");
    json_document index = json_load(index_path.text);
    uint64_t files = 0;

    (void)state;
    for (const json_value *file = json_at(index.root, "files")->inside; file != NULL;
         file = file->next, files++) {
        char name[128];
        path_text path;

        (void)snprintf(name, sizeof name, "data/text/tokens_pre/%.*s.jsonl", (int)file->name.len,
                       file->name.data);
        path = need_shared(name);
        json_document lines = json_load_lines(path.text);
        for (const json_value *pre = json_at(file, "pre_names")->inside; pre != NULL;
             pre = pre->next)
            check_name(pre->text, &lines);
        json_unload(&lines);
    }
    check(files > 20, "%" PRIu64 " files", files);
    json_unload(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
