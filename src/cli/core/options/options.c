/* Values of options, and the options that all commands share. */
#include "gufo/print.h"
#include "cli/core/options/names.h"
#include "cli/core/options/options.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "gufo/format.h"
#include "gufo/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int option_number(const char *name, const char *text, uint64_t lowest, uint64_t highest,
                  uint64_t *out)
{
    const char *end = text;
    uint64_t value;

    if (gufo_number_read(&end, &value) && *end == '\0' && value >= lowest && value <= highest) {
        *out = value;
        return CODE_OK;
    }
    return report_usage("%s needs a whole number from %llu to %llu, not '%s'", name,
                        (unsigned long long)lowest, (unsigned long long)highest, text);
}

static int read_size(const command_option *option, const char *text, uint64_t *out)
{
    if (size_read(text, out) && *out >= option->lowest)
        return CODE_OK;
    return report_usage("--%s needs a size such as %s, not '%s'", option->name, option->example,
                        text);
}

int option_memory(const char *name, const char *example, const char *text, uint64_t lowest,
                  uint64_t *out)
{
    const char *unit = size_likely_unit(text);

    if (unit != NULL)
        return report_usage("%s %s has no unit, and would be %s bytes; %s%s is %s %siB", name, text,
                            text, text, unit, text, unit);
    if (size_read_memory(text, out) && *out >= lowest)
        return CODE_OK;
    return report_usage("%s needs a size such as %s, not '%s'", name, example, text);
}

/* "red, green or blue" */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; words[i] != NULL && len < size; i++) {
        const char *before = words[i + 1] == NULL ? " or " : ", ";

        len += (size_t)snprintf(out + len, size - len, "%s%s", i > 0 ? before : "", words[i]);
    }
}

/* One of option->words; `out` is an unsigned or an enum. */
static int read_choice(const command_option *option, const char *text, void *out)
{
    char words[128];
    unsigned number = (unsigned)option->lowest;
    gufo_str given = gufo_str_of(text);
    suggestion near = suggest_start(given);

    for (size_t i = 0; option->words[i] != NULL; i++, number++) {
        suggest_offer(&near, gufo_str_of(option->words[i]));
        if (!gufo_spelling_means(option->own, given, option->words[i]))
            continue;
        memcpy(out, &number, sizeof number); /* enums are as large */
        return CODE_OK;
    }
    list_words(option->words, words, sizeof words);
    return report_usage("--%s is %s, not '%s'%s", option->name, words, text,
                        suggest_text(&near, ""));
}

int option_add(option_texts *texts, const char *text)
{
    const char **added = array_add(&texts->items, &texts->count, sizeof *added);

    if (added != NULL)
        *added = text;
    return added != NULL ? CODE_OK : CODE_FAILED;
}

int option_store(void *options, const option_given *given)
{
    const command_option *option = given->option;
    const char *text = given->text != NULL ? given->text : option->fallback;
    void *to = (char *)options + option->place;
    char name[64];

    if (option->given != 0)
        *(bool *)((void *)((char *)options + option->given)) = true;
    switch (option->kind) {
    case OPTION_KIND_FLAG:
        *(bool *)to = true;
        return CODE_OK;
    case OPTION_KIND_BITS:
        *(uint32_t *)to |= (uint32_t)option->lowest;
        return CODE_OK;
    case OPTION_KIND_TEXT:
        *(const char **)to = text;
        return CODE_OK;
    case OPTION_KIND_TEXTS:
        return option_add(to, text);
    case OPTION_KIND_NUMBER:
        snprintf(name, sizeof name, "--%s", option->name);
        return option_number(name, text, option->lowest, option->highest, to);
    case OPTION_KIND_SIZE:
        return read_size(option, text, to);
    case OPTION_KIND_MEMORY:
        snprintf(name, sizeof name, "--%s", option->name);
        return option_memory(name, option->example, text, option->lowest, to);
    case OPTION_KIND_CHOICE:
        return read_choice(option, text, to);
    case OPTION_KIND_READ:
        return option->read(options, given);
    }
    return CODE_USAGE;
}

static const char *const color_words[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

static uint64_t max_depth;
static bool follow;

static int read_depth(void *options, const option_given *given)
{
    (void)options;
    return option_number("--max-depth", given->text, 1, GUFO_LARGEST_DEPTH, &max_depth);
}

static uint32_t remote_flags;

/* A flag of the client. */
static int read_remote(void *options, const option_given *given)
{
    (void)options;
    remote_flags |= (uint32_t)given->option->lowest;
    return CODE_OK;
}

uint32_t options_remote(void)
{
    return remote_flags;
}

static int read_follow(void *options, const option_given *given)
{
    (void)options, (void)given;
    follow = true;
    return CODE_OK;
}

bool options_follow(void)
{
    return follow;
}

uint64_t options_max_depth(void)
{
    return max_depth;
}

static void stop_for_help(shared_options *shared, bool whole, const option_given *given)
{
    shared->help = whole ? HELP_WHOLE : HELP_SHORT;
    shared->done = true;
    given->state->next = given->state->argc;
}

static int read_help(void *options, const option_given *given)
{
    stop_for_help(options, true, given);
    return CODE_OK;
}

static int read_short_help(void *options, const option_given *given)
{
    stop_for_help(options, false, given);
    return CODE_OK;
}

const command_option options_shared[] = {
    {.help = "Options of all commands:", .group = 90},
    {"json", NULL, "Write the result as JSON, one object per FILE and line",
     OPTION_FLAG(shared_options, json), .letter = 'j', .group = 90},
    {"quiet", NULL, "Print only the result, without warnings", OPTION_FLAG(shared_options, quiet),
     .letter = 'q', .group = 90},
    {"verbose", NULL, "Print more", OPTION_FLAG(shared_options, verbose), .letter = 'v',
     .group = 90},
    {"color", "WHEN", "Use colour: auto (on a terminal, unless NO_COLOR is set), always or never",
     OPTION_CHOICE(shared_options, color, color_words, 0), .fallback = "always", .optional = true,
     .group = 90},
    {"threads", "N", "Use at most N threads (default: one per processor that gufo may use)",
     OPTION_NUMBER(shared_options, threads, 1, OPTIONS_MOST_THREADS), .group = 90},
    {"max-depth", "N", "Read arrays that are nested up to N deep, at most 1024 (default: 16)",
     OPTION_READ(read_depth), .group = 90},
    {"follow", NULL,
     "Follow symlinks that lead out of a model folder; caches of Hugging Face do not need this",
     OPTION_READ(read_follow), .group = 90},
    {"offline", NULL, "Read models elsewhere from caches of this machine alone",
     OPTION_READ(read_remote), .lowest = GUFO_REMOTE_OFFLINE, .group = 90},
    {"no-remote-cache", NULL,
     "Do not keep headers of models elsewhere, nor use those that were kept",
     OPTION_READ(read_remote), .lowest = GUFO_REMOTE_NO_CACHE, .group = 90},
    {"insecure-http", NULL, "Allow http:// addresses of other machines", OPTION_READ(read_remote),
     .lowest = GUFO_REMOTE_PLAIN_HTTP, .group = 90},
    {"force", NULL, "Replace an output file that exists", OPTION_FLAG(shared_options, force),
     .group = 90},
    {NULL, NULL, "Print a short help", OPTION_READ(read_short_help), .letter = 'h', .group = 91},
    {"help", NULL, "Print this help", OPTION_READ(read_help), .group = 91},
    {0},
};

static bool environment_allows_color(void)
{
    const char *no_color = getenv("NO_COLOR");

    return (no_color == NULL || *no_color == '\0') && !terminal_is_dumb();
}

bool options_color(const shared_options *shared)
{
    if (shared->color != COLOR_AUTO)
        return shared->color == COLOR_ALWAYS;
    return stdout_is_terminal() && environment_allows_color();
}

bool options_error_color(const shared_options *shared)
{
    return isatty(STDERR_FILENO) && shared->color != COLOR_NEVER &&
           (shared->color == COLOR_ALWAYS || environment_allows_color());
}

int options_cpu(gufo_cpu *cpu)
{
    const char *name = getenv("GUFO_CPU");

    *cpu = GUFO_CPU_BEST;
    if (name == NULL || *name == '\0')
        return CODE_OK;
    if (!gufo_cpu_by_name(name, cpu))
        return report_as(CODE_USAGE, NULL,
                         "GUFO_CPU must be portable, avx2, avx512, neon or best, not '%s'", name);
    if (!gufo_cpu_available(*cpu))
        return report_as(CODE_USAGE, NULL,
                         "GUFO_CPU is '%s', which this machine or this build does not support",
                         name);
    return CODE_OK;
}
