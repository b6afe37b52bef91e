/* Checks of what a small vocabulary makes of a text. */
#ifndef TEST_TEXT_ENCODING_H
#define TEST_TEXT_ENCODING_H

#include "support/vocab_maker.h"

#include "base/buffer.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

static inline gufo_vocab *open_made(vocab_maker *m, uint32_t flags)
{
    const gufo_vocab_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_vocab *v = vocab_maker_open(m, &options, &error);

    if (v == NULL)
        fail_msg("%s", error.message);
    return v;
}

/* The vocabulary must be refused with this status, and a message that has these words. */
static inline void check_refused(vocab_maker *m, gufo_status expected, const char *words)
{
    gufo_error error = no_error();
    gufo_vocab *v = vocab_maker_open(m, NULL, &error);

    assert_null(v);
    check_error_shape(&error, expected, words);
    check(strstr(error.message, words) != NULL, "%s", error.message);
}

/* The ids of a text, without special ones, are those of these tokens: "▁Hello|▁world". */
static inline void check_tokens(const gufo_vocab *v, gufo_str text, const char *expected)
{
    gufo_ids ids = {0};
    gufo_text got = {0};
    gufo_error error = no_error();

    check_ok(gufo_tokenize(v, text, NULL, &ids, &error), &error, "%s", expected);
    for (size_t i = 0; i < ids.count; i++) {
        gufo_str token = vocab_text(v, ids.ids[i]);

        assert_true((i == 0 || text_add(&got, "|", 1)) && text_add(&got, token.data, token.len));
    }
    check_str(((gufo_str){got.data, got.len}), expected, "tokens of \"%.*s\"", (int)text.len,
              text.data);
    gufo_text_free(&got);
    gufo_ids_free(&ids);
}

#define check_text(vocab, text, expected) check_tokens(vocab, gufo_str_of(text), expected)

static inline gufo_text random_text(const char *const *stretches, size_t count, uint64_t *state)
{
    size_t length = (size_t)(random_next(state) % 60);
    gufo_text text = {0};

    assert_true(text_reserve(&text, 1));
    for (size_t i = 0; i < length; i++) {
        const char *stretch = stretches[random_next(state) % count];

        assert_true(text_add(&text, stretch, strlen(stretch)));
    }
    return text;
}

static inline void encode_part(const gufo_vocab *v, fragment_part part, gufo_ids *out)
{
    const token_algorithm *a = v->algorithm;
    tokenizing t = {.vocab = v, .allocator = &v->allocator};
    gufo_error error;

    if (a->scratch_new != NULL)
        t.scratch = a->scratch_new(v, &v->allocator, &error);
    check_ok(a->encode(&t, part, out, &error), &error, "\"%.*s\"", (int)part.text.len,
             part.text.data);
    if (a->scratch_new != NULL)
        a->scratch_free(t.scratch, &v->allocator);
}

/* Encodes a text in parts, cut where the algorithm allows in stretches of any length; each part on
 * its own, as threads do.  Returns how many parts there were. */
static inline size_t encode_parts(const gufo_vocab *v, gufo_str text, uint64_t *state,
                                  gufo_ids *out)
{
    size_t at = 0, parts = 0;

    for (; at < text.len; parts++) {
        size_t left = text.len - at, window = 1 + (size_t)(random_next(state) % left);
        size_t cut = window == left ? 0 : v->algorithm->cut(v, (gufo_str){text.data + at, window});
        fragment_part part = {{text.data + at, cut == 0 ? left : cut}, at == 0, cut == 0};

        encode_part(v, part, out);
        at += part.text.len;
    }
    return parts;
}

/* Texts made of these stretches, as fragments, give the same ids in parts as whole.  Returns how
 * many parts there were. */
static inline size_t check_cuts(const gufo_vocab *v, const char *const *stretches, size_t count,
                                unsigned texts)
{
    uint64_t state = 88172645463325252u;
    size_t parts = 0;

    for (unsigned n = 0; n < texts; n++) {
        gufo_text text = random_text(stretches, count, &state);
        gufo_str view = {text.data, text.len};
        gufo_ids whole = {0}, cut = {0};

        encode_part(v, (fragment_part){view, true, true}, &whole);
        parts += encode_parts(v, view, &state, &cut);
        check_u64(cut.count, whole.count, "ids of \"%.*s\"", (int)view.len, view.data);
        for (size_t i = 0; i < whole.count; i++)
            check_u64(cut.ids[i], whole.ids[i], "id %zu of \"%.*s\"", i, (int)view.len, view.data);
        gufo_ids_free(&whole);
        gufo_ids_free(&cut);
        gufo_text_free(&text);
    }
    return parts;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Writes steps as "piece ab; merge ab 1; token ab". */
static inline void write_step(void *context, const gufo_tokenize_event *event)
{
    static const char *const names[] = {"special ", "piece ", "merge ", "token "};
    gufo_text *out = context;

    assert_true((out->len == 0 || text_add(out, "; ", 2)) &&
                text_add(out, names[event->kind], strlen(names[event->kind])) &&
                text_add(out, event->text.data, event->text.len));
}

static inline void check_steps(const gufo_vocab *v, const char *text, const char *expected)
{
    gufo_text got = {0};
    gufo_ids ids = {0};
    gufo_error error;
    const gufo_tokenize_options options = {.watch = write_step, .watch_context = &got};

    check_ok(gufo_tokenize(v, gufo_str_of(text), &options, &ids, &error), &error, "%s", text);
    check_str(((gufo_str){got.data, got.len}), expected, "steps of \"%s\"", text);
    gufo_text_free(&got);
    gufo_ids_free(&ids);
}

#endif
