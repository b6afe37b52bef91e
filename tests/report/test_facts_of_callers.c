/* Sections of what callers compute: their findings in words against numbers that are worked out by hand; odd and
 * hostile content; the same bytes each time. */
#include "../support/allocator.h"
#include "../support/builder.h"
#include "../support/check.h"
#include "../support/openers.h"

#include "gufo/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pages -------------------------------------------------------------------------------------- */

/* A model with these tensors of F16 (or of `type`), 64 x 32 each. */
typedef struct sample {
    builder b;
    gufo_model *model;
} sample;

static sample sample_open(const char *const *names, size_t count, uint32_t type)
{
    static const uint64_t dims[] = {64, 32};
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    sample s = {.b = builder_new((encoding){3, false})};

    builder_header(&s.b, count, 1);
    builder_kv_str(&s.b, "general.architecture", "llama");
    for (size_t i = 0; i < count; i++)
        builder_tensor(&s.b, names[i], type, 2, dims, i * 64 * 32 * 2);
    builder_pad(&s.b, 32);
    builder_zeros(&s.b, count * 64 * 32 * 2);
    s.model = gufo_model_open_memory(s.b.data, s.b.len, &lenient, &error);
    check(s.model != NULL, "%s", error.message);
    return s;
}

static void sample_close(sample *s)
{
    gufo_model_free(s->model);
    builder_free(&s->b);
}

/* Elements that have no end. */
static bool is_void(const char *name, size_t len)
{
    static const char *const names[] = {"meta", "input", "br", "link"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return true;
    return false;
}

/* Every element that begins ends, in order.  Styles and scripts are skipped. */
static void check_nesting(const char *page, const char *label)
{
    const char *open[256];
    size_t depth = 0;

    for (const char *at = strchr(page, '<'); at != NULL; at = strchr(at + 1, '<')) {
        bool ends = at[1] == '/';
        const char *name = at + 1 + ends, *end = strchr(at, '>');
        size_t len = strcspn(name, " />\n");

        check(end != NULL, "%s: an element without an end", label);
        if (at[1] == '!' || end[-1] == '/' || is_void(name, len))
            continue;
        if (!ends) {
            check(depth < COUNT_OF(open), "%s: too deep", label);
            open[depth++] = name;
            if (memcmp(name, "style", 5) == 0 || memcmp(name, "script", 6) == 0)
                at = strstr(at, name[1] == 't' ? "</style>" : "</script>") - 1;
            continue;
        }
        check(depth > 0 && memcmp(open[depth - 1], name, len) == 0, "%s: </%.20s> ends <%.20s>",
              label, name, depth > 0 ? open[depth - 1] : "nothing");
        depth--;
    }
    check_u64(depth, 0, "%s", label);
}

/* The page, which the caller frees. */
static char *write_page(const gufo_report_content *content, const char *label)
{
    gufo_text first = {0}, second = {0};
    gufo_error error = no_error();

    check_ok(gufo_report_write(content, &first, &error), &error, "%s", label);
    check_ok(gufo_report_write(content, &second, &error), &error, "%s", label);
    check_view(((gufo_str){second.data, second.len}), ((gufo_str){first.data, first.len}),
               "%s: twice", label);
    check(first.len > 0 && memchr(first.data, '\0', first.len) == NULL, "%s: a NUL", label);
    check(strstr(first.data, "nan%") == NULL && strstr(first.data, "inf%") == NULL &&
              strstr(first.data, "=\"nan") == NULL && strstr(first.data, " nan ") == NULL,
          "%s: a place that is not a number", label);
    check_nesting(first.data, label);
    gufo_text_free(&second);
    return first.data;
}

static void check_has(const char *page, const char *part)
{
    check(strstr(page, part) != NULL, "the page lacks '%s'", part);
}

static void check_lacks(const char *page, const char *part)
{
    check(strstr(page, part) == NULL, "the page has '%s'", part);
}

static const char *const layered[] = {"token_embd.weight", "blk.0.attn_q.weight",
                                      "blk.0.ffn_up.weight", "blk.1.attn_q.weight",
                                      "blk.1.ffn_up.weight"};
enum { TENSORS = COUNT_OF(layered) };

/* Values from -1 to 1, of a deviation of 0.1, but for one that is `most`. */
static gufo_stats stats_of(double most)
{
    gufo_stats s = {.elements = 2048,
                    .finite = 2048,
                    .minimum = -1,
                    .maximum = most,
                    .deviation = 0.1,
                    .rms = 0.1,
                    .top_energy = 0.25,
                    .low = -0.6,
                    .high = 0.6};

    s.outliers_above = 1;
    s.bins[31] = 1000;
    s.bins[32] = 1047;
    return s;
}

/* ---- weights ------------------------------------------------------------------------------------ */

static void test_weights(void **state)
{
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_stats stats[TENSORS];
    const gufo_model_numbers numbers = {.stats = stats};
    gufo_report_model model = {
        .model = s.model, .name = gufo_str_of("m.gguf"), .numbers = &numbers};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    for (size_t i = 0; i < TENSORS; i++)
        stats[i] = stats_of(i == 4 ? 4.5 : 1);
    page = write_page(&content, "weights");
    check_has(page, "All 10,240 values are finite; the largest, 4.5, is in "
                    "<code>blk.1.ffn_up.weight</code>.");
    check_has(page, "1 value is outside of the picture, beyond six deviations");
    check_has(page, "1 tensor reaches 32 times its root mean square or more; the most is 45.");
    check_has(page, ">45×</text>");
    /* All cells but one are of one colour: one path; a title of each is not there. */
    check_has(page, "data-first=\"0\" data-row=\"17\"><path class=\"m0\" d=\"M0.02 0h.96v16h-.96z");
    check_lacks(page, "blk.0.attn_q.weight 0.1</title>");
    check_has(page, "<td>25</td>"); /* of the energy, in percent */
    free(page);
    stats[2].finite = 2000;
    page = write_page(&content, "not finite");
    check_has(page, "48 values are not finite, in 1 tensor.");
    free(page);
    sample_close(&s);
}

/* Without finite values, read values or statistics; with numbers that have no place on a scale. */
static void test_odd_weights(void **state)
{
    static const char *const alone[] = {"t"};
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16), one = sample_open(alone, 1, 0);
    gufo_stats stats[TENSORS] = {{.elements = 0}};
    const gufo_model_numbers numbers = {.stats = stats};
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("m"), .numbers = &numbers};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    page = write_page(&content, "nothing was read");
    check_has(page, "No tensor has a finite value.");
    free(page);
    for (size_t i = 0; i < TENSORS; i++)
        stats[i] = (gufo_stats){.elements = 2048};
    page = write_page(&content, "nothing is finite");
    check_has(page, "No tensor has a finite value.");
    free(page);
    for (size_t i = 0; i < TENSORS; i++)
        stats[i] = (gufo_stats){.elements = 2048, .finite = 2048, .zeros = 2048};
    free(write_page(&content, "all are 0"));
    for (size_t i = 0; i < TENSORS; i++)
        stats[i] = (gufo_stats){.elements = UINT64_MAX / TENSORS,
                                .finite = UINT64_MAX / TENSORS,
                                .minimum = -1.7e308,
                                .maximum = 1.7e308,
                                .deviation = 1e308,
                                .rms = 5e-324,
                                .low = -1.7e308,
                                .high = 1.7e308,
                                .mean = -1e308};
    free(write_page(&content, "as large as numbers are"));
    model.model = one.model;
    stats[0] = stats_of(3);
    page = write_page(&content, "one tensor");
    check_lacks(page, "class=\"pick\"");
    check_lacks(page, "id=\"outliers\"");
    check_has(page, "id=\"numbers\"");
    free(page);
    model.numbers = NULL;
    page = write_page(&content, "without statistics");
    check_lacks(page, "id=\"weights\"");
    free(page);
    model.hints[GUFO_REPORT_STATS] = "gufo report --stats <m> -o OUT.html";
    page = write_page(&content, "with a hint");
    check_has(page, "<code>gufo report --stats &lt;m&gt; -o OUT.html</code>");
    free(page);
    sample_close(&s);
    sample_close(&one);
}

/* ---- losses ------------------------------------------------------------------------------------- */

static void test_losses(void **state)
{
    static const double a[TENSORS] = {0.01, 0.02, 0.03, 0.04, 0.05},
                        b[TENSORS] = {0, 0.002, 0.003, NAN, 0.08};
    static const uint32_t types[TENSORS] = {GUFO_TYPE_Q4_K, GUFO_TYPE_Q4_K, GUFO_TYPE_Q4_K,
                                            GUFO_TYPE_Q4_K, 99};
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("a.gguf")};
    gufo_candidate_losses losses[] = {
        {.sums = {.bytes = 1 << 20, .elements = 1 << 21, .loss = 0.15},
         .losses = a,
         .types = types},
        {.sums = {.bytes = 1 << 21, .loss = 0.12}, .losses = b},
    };
    gufo_report_candidate candidates[] = {
        {.name = gufo_str_of("a.gguf"), .losses = &losses[0]},
        {.name = gufo_str_of("b.gguf"), .losses = &losses[1]},
    };
    gufo_report_content content = {
        .models = &model, .model_count = 1, .candidates = candidates, .candidate_count = 2};
    char *page;

    (void)state;
    page = write_page(&content, "losses");
    check_has(page, "b.gguf loses 20 % less than a.gguf; the worst tensor is "
                    "<code>blk.1.ffn_up.weight</code>, 0.08.");
    check_has(page, " · 4.00 bits per weight · sum of losses 0.15<");
    check_has(page, "MiB · sum of losses 0.12<");
    check_has(page, "The 5 worst tensors lose from 0.01 to 0.08.");
    check_has(page, "unknown 0.05");
    check_has(page, "blk.1.attn_q.weight not known</title>");
    /* Means by role: attn_q of a 0.03; by layer: layer 1 of a 0.045. */
    check_has(page, ">0.03</td>");
    check_has(page, ">0.045</td>");
    free(page);
    content.candidate_count = 1;
    page = write_page(&content, "one candidate");
    check_has(page, "Most is lost in <code>blk.1.ffn_up.weight</code>, 0.05.");
    check_has(page, "The mean of the tensors that lose something is 0.03.");
    free(page);
    losses[0].losses = NULL;
    losses[0].sums.loss = NAN;
    free(write_page(&content, "no losses of tensors"));
    candidates[0].losses = NULL;
    page = write_page(&content, "no losses");
    check_has(page, "No tensor loses anything.");
    free(page);
    model.model = NULL;
    page = write_page(&content, "no model");
    check_lacks(page, "id=\"losses\"");
    free(page);
    sample_close(&s);
}

/* ---- memory ------------------------------------------------------------------------------------- */

#define GIB (UINT64_C(1) << 30)

static void test_memory_over_context(void **state)
{
    static const gufo_report_memory_point points[] = {
        {.context = 2048, .weights = 3 * GIB, .cache = GIB / 2, .compute = GIB / 2},
        {.context = 4096, .weights = 3 * GIB, .cache = 8 * GIB, .compute = GIB},
    };
    static const gufo_report_memory_point vast[] = {
        {.context = 256, .weights = UINT64_MAX, .cache = UINT64_MAX, .compute = UINT64_MAX}};
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_report_memory memory = {
        .cache_type = gufo_str_of("F16"), .points = points, .count = 2, .compute_known = true};
    gufo_report_model model = {
        .model = s.model, .name = gufo_str_of("m"), .memory = &memory, .memory_count = 1};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    page = write_page(&content, "memory");
    /* 8 GiB are half of the way from 4 to 12. */
    check_has(page,
              "A card of 8 GiB holds 3,072 tokens of context with a cache of F16; 12 GiB hold "
              "all 4,096.");
    check_has(page, "8 GiB card full at 3,072 tokens");
    check_has(page, "Everything also fits on cards of 24, 32, 48, 80 GiB.");
    check_lacks(page, "are not known for this architecture");
    free(page);
    memory.count = 1;
    memory.compute_known = false;
    page = write_page(&content, "one context");
    check_has(page, "A card of 8 GiB holds all 2,048 tokens");
    check_has(page, "are not known for this architecture");
    free(page);
    memory.points = vast;
    page = write_page(&content, "vast");
    check_has(page, "No card of up to 80 GiB holds the model with 256 tokens.");
    free(page);
    memory.count = 0;
    page = write_page(&content, "no context");
    check_lacks(page, "id=\"memory\"");
    free(page);
    sample_close(&s);
}

/* ---- loss over size ----------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    gufo_report_size_point points[] = {
        {.size = 100 * GIB, .loss = 16},
        {.size = 150 * GIB, .loss = 20, .name = gufo_str_of("Q3_K_M")},
        {.size = 200 * GIB, .loss = 4, .name = gufo_str_of("mine"), .is_chosen = true},
        {.size = 250 * GIB, .loss = 4, .name = gufo_str_of("Q4_K_M")},
        {.size = 300 * GIB, .loss = 1},
    };
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("m")};
    gufo_report_content content = {
        .models = &model, .model_count = 1, .sizes = points, .size_count = COUNT_OF(points)};
    char *page;

    (void)state;
    page = write_page(&content, "sizes");
    check_has(page,
              "The loss of Q4_K_M needs 200.0 GiB, 50.0 GiB less; every fixed mixture lies above "
              "the curve of plans.");
    check_has(page, "mine: 200.0 GiB, loss 100</title>");
    free(page);
    points[3].loss = 1;
    page = write_page(&content, "a mixture below");
    check_has(page, "1 of 2 fixed mixtures lie above the curve of plans.");
    free(page);
    for (size_t i = 0; i < COUNT_OF(points); i++)
        points[i].loss = i % 2 == 0 ? NAN : 0;
    page = write_page(&content, "nothing to draw");
    check_lacks(page, "id=\"sizes\"");
    free(page);
    for (size_t i = 0; i < COUNT_OF(points); i++)
        points[i] = (gufo_report_size_point){.size = UINT64_MAX, .loss = 1e308};
    free(write_page(&content, "all the same"));
    sample_close(&s);
}

/* ---- scales ------------------------------------------------------------------------------------- */

static void test_scales(void **state)
{
    gufo_type_scales scales[] = {
        {.type = GUFO_TYPE_Q4_K,
         .scales = {.count = 1000, .zeros = 10, .saturated = 1},
         .minimums = {.count = 1000, .zeros = 500}},
        {.type = 99, .scales = {.count = 4}},
    };
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    const gufo_model_numbers numbers = {.scales = scales, .scales_count = 2};
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("m"), .numbers = &numbers};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    scales[0].scales.exponents[0] = 9;
    scales[0].scales.exponents[GUFO_SCALE_EXPONENTS - 1] = 980;
    page = write_page(&content, "scales");
    check_has(page, "Q4_K: 1.0 % are 0, 0.1 % are the greatest number.");
    check_has(page, "from 2^15: 980 scales</title>");
    check_has(page, "Their minimums, of which 50 % are 0");
    check_has(page, "unknown: no scale is lost or cut off.");
    free(page);
    sample_close(&s);
}

/* ---- tokenizer and template --------------------------------------------------------------------- */

static void test_tokenizer(void **state)
{
    const gufo_census_token tokens[] = {
        {.id = 0, .text = gufo_str_of("<s>"), .role = gufo_str_of("bos")}};
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_vocab_census t = {
        .model = gufo_str_of("gpt2"), .tokens = 12, .special = tokens, .special_count = 1};
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("m"), .tokenizer = &t};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    t.lengths[1] = 5;
    t.lengths[3] = 4;
    t.lengths[GUFO_TOKEN_LENGTHS - 1] = 1;
    t.kinds[0] = (gufo_census_kind){.name = "normal", .tokens = 10};
    t.kinds[1] = (gufo_census_kind){.name = "control", .tokens = 2};
    t.kinds[2] = (gufo_census_kind){.name = "byte"};
    t.kind_count = 3;
    page = write_page(&content, "tokenizer");
    check_has(page, "Half of the tokens give 1 bytes or less, 90 % of them 3 or less.");
    check_has(page, "33 bytes and more: 1 token</title>");
    check_has(page, "<code>&lt;s&gt;</code>");
    check_has(page, ">83 %<");
    free(page);
    memset(t.lengths, 0, sizeof t.lengths);
    page = write_page(&content, "no written tokens");
    check_lacks(page, "id=\"token-lengths\"");
    free(page);
    sample_close(&s);
}

static void test_template(void **state)
{
    static const gufo_template_finding findings[] = {
        {.line = 30, .column = 7, .message = "a fault"},
        {.line = 31, .dangerous = true, .message = "a danger"},
        {.line = 0, .message = "of the whole"},
        {.line = UINT64_MAX, .message = "past the end"},
    };
    char source[3 * 60 + 1] = "";
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_chat_review t = {.findings = findings, .finding_count = 4};
    gufo_report_model model = {
        .model = s.model, .name = gufo_str_of("m"), .templates = &t, .template_count = 1};
    gufo_report_content content = {.models = &model, .model_count = 1};
    char *page;

    (void)state;
    for (size_t i = 0; i < 60; i++)
        strcat(source, i % 2 == 0 ? "<a\n" : "&b\n");
    t.source = gufo_str_of(source);
    page = write_page(&content, "template");
    check_has(page, "The template has 4 findings in 60 lines. Do not render it without a sandbox.");
    check_has(page, "<summary>Lines 1 to 21</summary>");
    check_has(page, "<summary>Lines 40 to 60</summary>");
    check_has(page, "<li value=\"30\" class=\"bad\"><code>&amp;b</code><p class=\"fnd\">");
    check_has(page, "a fault (column 7)");
    check_has(page, "past the end");
    free(page);
    t.finding_count = 0;
    t.messages = gufo_str_of("[]");
    t.rendered = gufo_str_of("<|im_start|>\n");
    page = write_page(&content, "no findings");
    check_has(page, "Nothing is wrong with the 60 lines of the template.");
    check_has(page, "&lt;|im_start|&gt;\n</pre>");
    free(page);
    t.source = (gufo_str){0};
    free(write_page(&content, "empty"));
    sample_close(&s);
}

/* A line of a megabyte, and a million of lines: the page stays small. */
static void test_large_templates(void **state)
{
    enum { SIZE = 1 << 20 };
    char *source = malloc(SIZE);
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_chat_review t = {.source = {source, SIZE}};
    gufo_report_model model = {
        .model = s.model, .name = gufo_str_of("m"), .templates = &t, .template_count = 1};
    gufo_report_content content = {.models = &model, .model_count = 1};

    (void)state;
    check(source != NULL, "memory");
    for (int newlines = 0; newlines < 2; newlines++) {
        char *page;

        memset(source, newlines ? '\n' : 'x', SIZE);
        page = write_page(&content, "large");
        check(strlen(page) < 400000, "%zu bytes", strlen(page));
        check_has(page, "bytes more are not shown");
        free(page);
    }
    free(source);
    sample_close(&s);
}

/* ---- hostile content ---------------------------------------------------------------------------- */

#define HOSTILE "<script>alert(1)</script>\"'&\xe2\x80\xae\x1b[2J\xff"

/* Every text of others, in every place: never markup, never a character that is not seen. */
static void test_hostile_texts(void **state)
{
    static const char *const names[] = {"blk.0." HOSTILE ".weight", "blk.1." HOSTILE ".weight"};
    static const double of_tensors[] = {0.5, 0.25};
    static const gufo_candidate_losses losses[] = {{.sums = {.loss = 1}, .losses = of_tensors},
                                                   {.sums = {.loss = 2}, .losses = of_tensors}};
    const gufo_str text = gufo_str_of(HOSTILE);
    sample s = sample_open(names, 2, GUFO_TYPE_F16);
    const gufo_stats stats[] = {stats_of(40), stats_of(50)};
    const gufo_model_numbers numbers = {.stats = stats};
    const gufo_report_memory_point point = {.context = 256, .weights = GIB};
    const gufo_report_memory memory = {
        .cache_type = text, .points = &point, .count = 1, .formula = text};
    const gufo_census_token token = {.text = text, .role = text};
    const gufo_vocab_census tokenizer = {.model = text,
                                         .pre = text,
                                         .special = &token,
                                         .longest = &token,
                                         .first = &token,
                                         .last = &token,
                                         .special_count = 1,
                                         .longest_count = 1,
                                         .first_count = 1,
                                         .last_count = 1};
    const gufo_template_finding finding = {.line = 1, .message = HOSTILE};
    const gufo_chat_review template = {.name = text,
                                       .source = text,
                                       .findings = &finding,
                                       .finding_count = 1,
                                       .messages = text,
                                       .rendered = text};
    const gufo_report_candidate candidates[] = {{.name = text, .losses = &losses[0]},
                                                {.name = text, .losses = &losses[1]}};
    const gufo_report_size_point sizes[] = {
        {.size = GIB, .loss = 1, .name = text},
        {.size = 2 * GIB, .loss = 2, .name = text, .is_chosen = true}};
    gufo_report_model models[] = {{.model = s.model,
                                   .name = text,
                                   .numbers = &numbers,
                                   .memory = &memory,
                                   .memory_count = 1,
                                   .tokenizer = &tokenizer,
                                   .templates = &template,
                                   .template_count = 1},
                                  {.model = s.model, .name = text, .hints = {HOSTILE}}};
    gufo_report_content content = {.models = models,
                                   .title = text,
                                   .note = text,
                                   .original = text,
                                   .candidates = candidates,
                                   .candidate_count = 2,
                                   .sizes = sizes,
                                   .size_count = 2};

    (void)state;
    for (content.model_count = 1; content.model_count <= 2; content.model_count++) {
        char *page = write_page(&content, "hostile");

        check_lacks(page, "<script>alert");
        check_lacks(page, "\xe2\x80\xae");
        check_lacks(page, "\x1b");
        check_lacks(page, "\xff");
        check_has(page, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;");
        check_has(page, "\\u{202e}");
        free(page);
    }
    sample_close(&s);
}

/* Whichever allocation fails, no page is written, and the text keeps what it had. */
static void test_memory(void **state)
{
    sample s = sample_open(layered, TENSORS, GUFO_TYPE_F16);
    gufo_stats stats[TENSORS];
    const gufo_model_numbers numbers = {.stats = stats};
    gufo_report_model model = {.model = s.model, .name = gufo_str_of("m"), .numbers = &numbers};
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    for (size_t i = 0; i < TENSORS; i++)
        stats[i] = stats_of(1);
    for (size_t at = 1; status == GUFO_E_MEMORY; at++) {
        gufo_allocator allocator;
        gufo_report_content content = {.models = &model, .model_count = 1, .allocator = &allocator};
        gufo_text out = {.allocator = &allocator};
        counter c;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = at;
        status = gufo_report_write(&content, &out, NULL);
        check((status == GUFO_OK) == (out.len > 0), "%zu bytes", out.len);
        gufo_text_free(&out);
        check_u64(c.in_use, 0, "left");
        assert_true(at < 1000);
    }
    sample_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),         cmocka_unit_test(test_odd_weights),
        cmocka_unit_test(test_losses),          cmocka_unit_test(test_memory_over_context),
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_scales),
        cmocka_unit_test(test_tokenizer),       cmocka_unit_test(test_template),
        cmocka_unit_test(test_large_templates), cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
