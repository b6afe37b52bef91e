/* The shared options. */
#include "cli/core/options/options.h"

#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/terminal.h"

#include "gufo/format.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const color_words[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

static uint64_t max_depth;
static bool follow;

static int read_depth(void *options, const option_given *given)
{
    (void)options;
    return option_number("--max-depth", given->text, 1, GUFO_LARGEST_DEPTH, &max_depth);
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
    {"threads", "N", "Use at most N threads (default: one per core)",
     OPTION_NUMBER(shared_options, threads, 1, OPTIONS_MOST_THREADS), .group = 90},
    {"max-depth", "N", "Read arrays that are nested up to N deep, at most 1024 (default: 16)",
     OPTION_READ(read_depth), .group = 90},
    {"follow", NULL,
     "Follow symlinks that lead out of a model folder; caches of Hugging Face do not need this",
     OPTION_READ(read_follow), .group = 90},
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
