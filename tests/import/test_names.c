/* Names of tensors: as the tables say, for every architecture, and as a plain search in the delivered
 * table finds them. */
#include "../support/shared.h"

#include "gufo/schema.h"
#include "import/architectures/operations/names.h"

/* ---- examples -------------------------------------------------------------------------------- */

static void test_examples(void **state)
{
    static const struct {
        const char *architecture, *source, *expected; /* NULL: no rule */
    } rows[] = {
        {"llama", "model.embed_tokens.weight", "token_embd.weight"},
        {"llama", "model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"},
        {"llama", "model.layers.4294967295.mlp.gate_proj.weight", "blk.4294967295.ffn_gate.weight"},
        {"llama", "layers.3.attention.wq.weight", "blk.3.attn_q.weight"},
        {"llama", "model.layers.1.self_attn.q_proj.bias", "blk.1.attn_q.bias"},
        {"llama", "model.layers.1.post_attention_layernorm.weight", "blk.1.ffn_norm.weight"},
        {"gemma2", "model.layers.1.post_attention_layernorm.weight",
         "blk.1.post_attention_norm.weight"},
        {"arctic", "model.layers.1.post_attention_layernorm.weight", "blk.1.ffn_norm_exps.weight"},
        {"t5", "decoder.block.7.layer.1.EncDecAttention.q.weight", "dec.blk.7.cross_attn_q.weight"},
        {"llama", "blk.5.attn_q.weight", "blk.5.attn_q.weight"},
        {"llama", "token_embd.weight", "token_embd.weight"},
        {"llama", "model.layers.05.self_attn.q_proj.weight", NULL},
        {"llama", "model.layers.{bid}.self_attn.q_proj.weight", NULL},
        {"llama", "model.layers.self_attn.q_proj.weight", NULL},
        {"llama", "blk.{bid}.attn_q", NULL},
        {"llama", "h.0.attn.c_attn.weighty", NULL},
        {"llama", "", NULL},
        {"llama", ".weight", NULL},
        {"no-such", "model.embed_tokens.weight", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char name[GUFO_MAX_NAME + 1] = "";
        bool found = names_map(rows[i].architecture, gufo_str_of(rows[i].source), name);

        check(found == (rows[i].expected != NULL), "%s: %s", rows[i].source, name);
        check(!found || strcmp(name, rows[i].expected) == 0, "%s: %s", rows[i].source, name);
    }
}

/* Names that no buffer holds, or that no text is. */
static void test_long_names(void **state)
{
    char name[GUFO_MAX_NAME + 1], source[5000];

    (void)state;
    for (size_t len = 1; len < sizeof source; len += 7) {
        memset(source, '9', len);
        memcpy(source, "model.layers.", len < 13 ? len : 13);
        assert_false(names_map("llama", (gufo_str){source, len}, name));
    }
    memcpy(source, "model.embed_tokens\0x.weight", 27);
    assert_false(names_map("llama", (gufo_str){source, 27}, name));
    /* The name exists, but is too long with this number. */
    (void)snprintf(source, sizeof source, "model.layers.%060d.mlp.gate_proj.weight", 0);
    source[13] = '1';
    assert_false(names_map("llama", gufo_str_of(source), name));
}

/* ---- the delivered table --------------------------------------------------------------------- */

enum { MAX_ROWS = 4000 };

typedef struct row {
    char *tensor, *source, *architectures;
} row;

typedef struct lines {
    char *text;
    row rows[MAX_ROWS];
    size_t count;
} lines;

static void split(char *line, row *out)
{
    out->tensor = line;
    out->source = strchr(line, '\t');
    *out->source++ = '\0';
    out->architectures = strchr(out->source, '\t');
    if (out->architectures != NULL)
        *out->architectures++ = '\0';
    else
        out->architectures = out->source + strlen(out->source);
}

static lines *read_lines(const char *name)
{
    path_text path = need_shared(name);
    lines *l = calloc(1, sizeof *l);
    size_t len;
    char *rest = NULL;

    assert_non_null(l);
    l->text = (char *)read_file(path.text, &len);
    assert_non_null(l->text);
    l->text[len - 1] = '\0';
    for (char *line = strtok_r(l->text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#') {
            assert_true(l->count < MAX_ROWS);
            split(line, &l->rows[l->count++]);
        }
    return l;
}

static void lines_free(lines *l)
{
    free(l->text);
    free(l);
}

/* "a,b", or "!a,!b" for all others. */
static bool in_list(const char *list, const char *architecture)
{
    bool excluded = list[0] == '!';
    size_t len = strlen(architecture);

    if (list[0] == '\0')
        return true;
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        at += *at == '!';
        if (strncmp(at, architecture, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return !excluded;
    }
    return excluded;
}

static bool has_tensor(const char *architecture, const char *tensor)
{
    size_t count;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(architecture, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, tensor) == 0)
            return true;
    return false;
}

/* All rows in order: the last that fits counts. */
static const char *search(const lines *names, const char *architecture, const char *source)
{
    const char *found = NULL;

    for (size_t i = 0; i < names->count; i++) {
        const row *r = &names->rows[i];

        if (strcmp(r->source, source) == 0 && in_list(r->architectures, architecture) &&
            has_tensor(architecture, r->tensor))
            found = r->tensor;
    }
    return found;
}

/* A pattern with a number for {bid}. */
static void fill(const char *pattern, char *out, size_t size)
{
    const char *place = strstr(pattern, "{bid}");

    if (place == NULL)
        (void)snprintf(out, size, "%s", pattern);
    else
        (void)snprintf(out, size, "%.*s11%s", (int)(place - pattern), pattern, place + 5);
}

/* The whole name, or what is in front of .weight. */
static void expect(const lines *names, const char *architecture, const char *source, char *out,
                   size_t size)
{
    const char *found = search(names, architecture, source), *suffix = "";
    size_t len = strlen(source);
    char part[256];

    if (found == NULL && len > 7 && strcmp(source + len - 7, ".weight") == 0) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(len - 7), source);
        found = search(names, architecture, part);
        suffix = ".weight";
    }
    if (found == NULL)
        return;
    fill(found, out, size);
    (void)snprintf(out + strlen(out), size - strlen(out), "%s", suffix);
}

/* Every name that has a rule, for some architectures of all kinds. */
static void test_delivered(void **state)
{
    static const char *const architectures[] = {"llama",  "gemma2",    "arctic", "t5",
                                                "rwkv7",  "bert",      "mamba2", "deepseek2",
                                                "gpt2",   "falcon-h1", "arwkv7", "wavtokenizer-dec",
                                                "dflash", "olmo2"};
    lines *names = read_lines("data/registry/hf_tensor_names.tsv");

    (void)state;
    for (size_t a = 0; a < COUNT_OF(architectures); a++)
        for (size_t i = 0; i < names->count; i++) {
            char source[256], name[GUFO_MAX_NAME + 1] = "", wanted[256] = "";

            fill(names->rows[i].source, source, sizeof source);
            expect(names, architectures[a], names->rows[i].source, wanted, sizeof wanted);
            (void)names_map(architectures[a], gufo_str_of(source), name);
            check(strcmp(name, wanted) == 0, "%s: %s is %s instead of %s", architectures[a], source,
                  name, wanted);
        }
    lines_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_delivered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
