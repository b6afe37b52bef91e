/* Values of options. */
#include "cli/core/options/option.h"

#include "base/text.h"

#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/core/values/size.h"
#include "cli/core/options/suggest.h"

#include <stdio.h>
#include <string.h>

int option_number(const char *name, const char *text, uint64_t lowest, uint64_t highest,
                  uint64_t *out)
{
    const char *end = text;
    uint64_t value;

    if (number_read(&end, &value) && *end == '\0' && value >= lowest && value <= highest) {
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
        if (!own_name_is(option->own, given, option->words[i]))
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
