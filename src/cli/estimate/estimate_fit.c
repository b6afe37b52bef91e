/* What fits, for people: the answer first, then the command to copy.
 *
 *     llama-8b.gguf: yes, with 25,344 of 131,072 tokens of context
 *       llama-server -m llama-8b.gguf -c 25344 -ngl all -np 1
 *       limits: DEV0 7.5 GiB
 *       131,072 tokens of context: 12.9 GiB more needed on DEV0 */
#include "cli/estimate/estimate.h"

#include "cli/core/files/remote.h"
#include "cli/core/values/number.h"
#include "cli/core/values/sums.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command ---------------------------------------------------------------------------- */

/* An option with its value stays in a line: each of these ends one. */
#define NEXT "\n"

static void put_layers(FILE *out, const estimate_work *w, const gufo_estimate *e)
{
    const estimate_values *v = w->values;
    bool has_layers = !v->run.has_gpu_layers || v->run.n_gpu_layers > 0;
    bool has_shares = has_layers && e->device_count > 2;

    if (v->run.n_devices > 0 && v->run.has_gpu_layers)
        fprintf(out, NEXT "-ngl %" PRIu64, v->run.n_gpu_layers);
    else if (v->run.n_devices > 0)
        fputs(NEXT "-ngl all", out);
    if (v->run.n_cpu_moe > 0 && !w->options->cpu_moe)
        fprintf(out, NEXT "-ncmoe %" PRIu64, v->run.n_cpu_moe);
    if (has_shares && w->options->split != NULL)
        fprintf(out, NEXT "-ts %s", w->options->split); /* numbers and commas */
    for (uint32_t d = 1; has_shares && w->options->split == NULL && d < e->device_count; d++)
        fprintf(out, "%s%" PRIu64, d == 1 ? NEXT "-ts " : ",",
                e->devices[d].layers + e->devices[d].has_output);
}

static void put_numbers(FILE *out, const estimate_options *o)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"-np", larger(o->parallel, 1)}, {"-b", o->batch}, {"-ub", o->ubatch}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value > 0)
            fprintf(out, NEXT "%s %" PRIu64, rows[i].name, rows[i].value);
}

static void put_words(FILE *out, const estimate_options *o)
{
    const struct {
        const char *words;
        bool given;
    } rows[] = {{"-fa on", o->flash == GUFO_FLASH_ATTENTION_ON},
                {"-fa off", o->flash == GUFO_FLASH_ATTENTION_OFF},
                {"-kvu", o->unified},
                {"--swa-full", o->swa_full},
                {"-nkvo", o->no_kv_offload},
                {"-cmoe", o->cpu_moe},
                {"--no-mmap", o->no_mmap}};

    if (o->type_k > 0)
        fprintf(out, NEXT "-ctk %s", estimate_cache_types[o->type_k - 1]);
    if (o->type_v > 0)
        fprintf(out, NEXT "-ctv %s", estimate_cache_types[o->type_v - 1]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            fprintf(out, NEXT "%s", rows[i].words);
}

static void put_texts(FILE *out, const char *name, const char *const *texts, size_t count,
                      void (*put)(FILE *out, const char *text))
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, NEXT "%s", name);
        put(out, texts[i]);
    }
}

static void put_pattern(FILE *out, const char *text)
{
    putc(' ', out);
    shell_put(out, gufo_str_of(text));
}

/* llama.cpp loads GGUF files alone. */
static void put_command(FILE *out, const estimate_work *w, const gufo_estimate *e)
{
    const estimate_options *o = w->options;

    fputs("llama-server -m", out);
    if (path_is_standard(w->in->path) || remote_is(w->in->path) || !input_is_gguf(w->in->path))
        fputs(" MODEL.gguf", out);
    else
        shell_put_file(out, w->in->path);
    fprintf(out, NEXT "-c %" PRIu64, w->values->run.n_ctx);
    put_layers(out, w, e);
    put_numbers(out, o);
    put_words(out, o);
    put_texts(out, "-ot", o->overrides.items, o->overrides.count, put_pattern);
    put_texts(out, "--lora", o->adapters.items, o->adapters.count, shell_put_file);
    put_texts(out, "--mmproj", &o->projector, o->projector != NULL, shell_put_file);
    put_texts(out, "-md", &o->draft, o->draft != NULL, shell_put_file);
}

/* A command that is longer than a line of the terminal goes on after a backslash, so that a copy of it
 * is still one command. */
static void put_broken(const char *text)
{
    enum { INDENT = 2, BELOW = 4, END = 2 };
    size_t room =
        stdout_columns() > 0 ? stdout_columns() - (size_t)smaller(stdout_columns(), END) : SIZE_MAX;
    size_t used = INDENT;

    text_pad(stdout, INDENT);
    for (const char *at = text; *at != '\0'; at += at[0] == '\n') {
        gufo_str words = {at, strcspn(at, NEXT)};
        size_t columns = text_columns(words, TEXT_PLAIN);

        if (at > text && used + 1 + columns > room) {
            printf(" \\\n%*s", BELOW, "");
            used = BELOW;
        } else if (at > text) {
            putchar(' ');
            used++;
        }
        fwrite(words.data, 1, words.len, stdout);
        used += columns;
        at += words.len;
    }
    putchar('\n');
}

static void write_command(const estimate_work *w, const gufo_estimate *e)
{
    text_stream s;
    char *text;

    if (!text_stream_open(&s))
        return;
    put_command(s.out, w, e);
    text = text_stream_close(&s);
    if (text != NULL)
        put_broken(text);
    free(text);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void put_memory(FILE *out, const char *name, uint64_t left, uint64_t total)
{
    if (name[0] != '\0') {
        fputs(" (", out);
        text_put(out, gufo_str_of(name), TEXT_PLAIN);
        putc(')', out);
    }
    fprintf(out, " %s free of %s", human_memory(left).text, human_memory(total).text);
}

/* What this machine has, and what is left to others. */
static void write_here(const estimate_work *w)
{
    const machine *m = &w->values->here;
    line l;

    line_begin(&l);
    fputs("  this machine: CPU", l.out);
    if (m->total > 0)
        put_memory(l.out, m->is_limited ? "as its control group allows" : "", m->available,
                   m->total);
    else
        fputs(", whose memory is not known", l.out);
    for (uint32_t d = 0; d < m->device_count; d++) {
        fprintf(l.out, ", %s", estimate_name_of(d + 1).text);
        put_memory(l.out, m->devices[d].name, m->devices[d].free, m->devices[d].total);
    }
    if (w->options->reserve > 0)
        fprintf(l.out, "; %s of each stay free", human_memory(w->options->reserve).text);
    else
        fputs("; 1.0 GiB and 5 % of each stay free", l.out);
    line_end(&l);
    if (m->unknown[0] == '\0')
        return;
    line_begin(&l);
    fputs("  not counted: ", l.out);
    text_put(l.out, gufo_str_of(m->unknown), TEXT_PLAIN);
    fprintf(l.out, ", %s; --fit 24G states it",
            m->is_asked ? "of which nvidia-smi reports no memory: it may be that of the CPU"
                        : "whose memory nvidia-smi would report");
    line_end(&l);
}

static void write_limits(const estimate_work *w, const gufo_estimate *e)
{
    const char *before = "  limits: ";
    line l;

    line_begin(&l);
    for (uint32_t d = 0; d < e->device_count; d++) {
        uint64_t limit = estimate_limit(w->values, d);

        if (limit == 0)
            continue;
        fprintf(l.out, "%s%s %s", before, estimate_name_of(d).text, human_memory(limit).text);
        before = ", ";
    }
    line_end(&l);
}

/* The line of the answer. */
static void begin_answer(line *l, const char *color)
{
    fputs(stdout_color() ? color : "", stdout);
    line_begin(l);
}

static void end_answer(line *l)
{
    line_end(l);
    fputs(stdout_color() ? "\033[0m" : "", stdout);
}

/* ---- yes ------------------------------------------------------------------------------------ */

static void write_yes(const estimate_work *w, const gufo_estimate *e)
{
    const gufo_estimate_options *run = &w->values->run;
    const gufo_estimate_shortage *context = &e->context_shortage, *layers = &e->layers_shortage;
    uint64_t on_devices = 0;
    line l;

    for (uint32_t d = 1; d < e->device_count; d++)
        on_devices += e->devices[d].layers + e->devices[d].has_output;
    begin_answer(&l, "\033[32m");
    text_put(l.out, gufo_str_of(w->in->path), TEXT_PLAIN);
    if (context->missing_bytes > 0)
        fprintf(l.out, ": yes, with %s of %s tokens of context", human_grouped(e->n_ctx).text,
                human_grouped(context->n_ctx).text);
    else
        fprintf(l.out, ": yes, with %s%s tokens of context", w->options->has_ctx ? "" : "all ",
                human_grouped(e->n_ctx).text);
    if (layers->missing_bytes > 0 && on_devices < layers->n_gpu_layers)
        fprintf(l.out, ", %" PRIu64 " of %" PRIu64 " layers on devices", on_devices,
                layers->n_gpu_layers);
    else if (run->n_devices > 0 && !w->options->has_layers)
        fputs(", all layers on devices", l.out);
    if (run->n_cpu_moe > 0 && !w->options->cpu_moe && !w->options->has_cpu_moe)
        fprintf(l.out, ", experts of %" PRIu64 " layers on the host", run->n_cpu_moe);
    end_answer(&l);
}

/* Why no more fits. */
static void write_shortages(const gufo_estimate *e)
{
    const gufo_estimate_shortage *layers = &e->layers_shortage, *context = &e->context_shortage;

    if (layers->missing_bytes > 0)
        line_put("  all %" PRIu64
                 " layers on devices, with %s tokens of context: %s more needed on %s",
                 layers->n_gpu_layers, human_grouped(layers->n_ctx).text,
                 human_memory(layers->missing_bytes).text, estimate_name_of(layers->device).text);
    if (context->missing_bytes > 0)
        line_put("  %s tokens of context: %s more needed on %s", human_grouped(context->n_ctx).text,
                 human_memory(context->missing_bytes).text, estimate_name_of(context->device).text);
}

void estimate_write_fit(const estimate_work *w, const gufo_estimate *e)
{
    write_yes(w, e);
    if (w->is_brief)
        return;
    write_command(w, e);
    if (w->values->is_here)
        write_here(w);
    else
        write_limits(w, e);
    write_shortages(e);
}

/* ---- no ------------------------------------------------------------------------------------- */

/* What needs less memory: what the user's own choices leave open, the least loss first, then without such a
 * choice. */
typedef struct change {
    uint64_t least_ctx; /* 0: the usual */
    bool small_cache, any_layers, any_ctx;
    bool any; /* all that the user chose */
} change;

enum { LEAST_PART = 8 }; /* of F16 is what the smallest types need */

static const change changes[] = {
    {.small_cache = true},
    {.least_ctx = 512},
    {.least_ctx = 512, .small_cache = true},
    {.any_layers = true},
    {.any_ctx = true},
    {.any_layers = true, .any_ctx = true},
    {.least_ctx = 512, .any = true},
    {.least_ctx = 512, .small_cache = true, .any = true},
};

static bool is_open(const estimate_work *w, const change *c)
{
    const estimate_options *o = w->options;

    if (c->any)
        return true;
    return (c->least_ctx == 0 || !o->has_ctx) &&
           (!c->small_cache || (o->type_k == 0 && o->type_v == 0)) &&
           (!c->any_layers || o->has_layers) && (!c->any_ctx || o->has_ctx);
}

/* Whether the model fits with a change. */
static bool fits_with(const estimate_work *w, const change *c, estimate_change *out)
{
    const gufo_element_type *q8_0 = gufo_element_type_by_id(GUFO_TYPE_Q8_0);
    gufo_estimate_options run = w->values->run;
    gufo_estimate_limits limits = w->values->limits;
    double split[GUFO_ESTIMATE_MAX_DEVICES];

    if (limits.split != NULL)
        limits.split = split;
    if (c->least_ctx > 0 || c->any_ctx)
        limits.least_ctx = c->least_ctx;
    if (c->any_ctx || c->any)
        run.n_ctx = 0;
    run.has_gpu_layers &= !c->any_layers && !c->any;
    if (c->small_cache)
        run.type_k = run.type_v = q8_0;
    if (gufo_estimator_fit(w->estimator, &limits, &run, NULL, NULL) != GUFO_OK)
        return false;
    *out = (estimate_change){.n_ctx = run.n_ctx,
                             .small_cache = c->small_cache,
                             .has_layers = c->any_layers && run.has_gpu_layers,
                             .has_cpu_moe = run.has_cpu_moe && !w->values->run.has_cpu_moe,
                             .n_gpu_layers = run.n_gpu_layers,
                             .n_cpu_moe = run.n_cpu_moe};
    return true;
}

bool estimate_find_change(const estimate_work *w, estimate_change *out)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (is_open(w, &changes[i]) && fits_with(w, &changes[i], out))
            return true;
    return false;
}

/* Of a file that lacks nothing. */
uint64_t estimate_smaller_size(const estimate_work *w, const gufo_estimate *e)
{
    uint64_t weights = 0, missing = e->context_shortage.missing_bytes, size;

    for (uint32_t d = 0; d < e->device_count; d++)
        weights = capped_add(weights, e->devices[d].model_bytes);
    size = weights - smaller(missing, weights);
    return size < weights / LEAST_PART || !input_is_gguf(w->in->path) ? 0 : size;
}

/* In units of files, rounded down. */
static void write_size(const estimate_work *w, uint64_t size)
{
    bool is_large = size >= UINT64_C(1000000000);
    line l;

    line_begin(&l);
    fputs("  a smaller type would fit: gufo quantize", l.out);
    shell_put_file(l.out, w->in->path);
    fprintf(l.out, " --target-size %" PRIu64 ".%" PRIu64 "%s",
            size / (is_large ? 1000000000 : 1000000), size / (is_large ? 100000000 : 100000) % 10,
            is_large ? "G" : "M");
    line_end(&l);
}

static void write_change(const estimate_work *w, const gufo_estimate *e)
{
    uint64_t size = estimate_smaller_size(w, e);
    estimate_change found;
    line l;

    if (!estimate_find_change(w, &found)) {
        if (size > 0)
            write_size(w, size);
        else
            line_put("  no option and no smaller type is enough: it takes a smaller model, or more "
                     "memory");
        return;
    }
    line_begin(&l);
    fprintf(l.out, "  it would fit with -c %" PRIu64, found.n_ctx);
    if (found.has_layers)
        fprintf(l.out, " -ngl %" PRIu64, found.n_gpu_layers);
    if (found.has_cpu_moe)
        fprintf(l.out, " -ncmoe %" PRIu64, found.n_cpu_moe);
    fputs(found.small_cache ? " -ctk q8_0 -ctv q8_0" : "", l.out);
    line_end(&l);
}

int estimate_write_no(const estimate_work *w, const gufo_estimate *e)
{
    const gufo_estimate_shortage *s = &e->context_shortage;
    line l;

    begin_answer(&l, "\033[31m");
    text_put(l.out, gufo_str_of(w->in->path), TEXT_PLAIN);
    fprintf(l.out, ": no, %s more is needed on %s, with %s tokens of context",
            human_memory(s->missing_bytes).text, estimate_name_of(s->device).text,
            human_grouped(s->n_ctx).text);
    end_answer(&l);
    if (!w->is_brief) {
        (w->values->is_here ? write_here(w) : write_limits(w, e));
        write_change(w, e);
    }
    return CODE_NO;
}
