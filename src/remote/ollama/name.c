/* Names of models; name.h has the grammar. */
#include "remote/ollama/name.h"

#include "base/buffer.h"
#include "base/error.h"

#define USUAL_HOST "registry.ollama.ai"
#define USUAL_OWNER "library"
#define USUAL_TAG "latest"

/* A part is a letter, a digit or "_", then these and its marks. */
typedef struct part_rule {
    const char *called, *marks;
    size_t longest;
} part_rule;

static const part_rule host_rule = {"host", "-._:", 350}, owner_rule = {"namespace", "-_", 80},
                       model_rule = {"model", "-._", 80}, tag_rule = {"tag", "-._", 80};

static bool is_part(gufo_str part, const part_rule *rule)
{
    return part.len > 0 && part.len <= rule->longest && str_is_plain(part, rule->marks) &&
           (is_letter(part.data[0]) || is_digit(part.data[0]) || part.data[0] == '_');
}

static gufo_status check(gufo_str part, const part_rule *rule, gufo_str text, gufo_error *error)
{
    return is_part(part, rule)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "%s is not a name of Ollama, [[HOST/]NAMESPACE/]MODEL[:TAG]: the %s has "
                        "letters, digits and the marks %s, at most %zu, and not a mark first",
                        QUOTED(text), rule->called, rule->marks, rule->longest);
}

/* Cuts what follows the last `mark` off; false if it is not there. */
static bool cut_last(gufo_str *text, char mark, gufo_str *rest)
{
    size_t at = text->len;

    while (at > 0 && text->data[at - 1] != mark)
        at--;
    if (at == 0)
        return false;
    *rest = str_from(*text, at);
    text->len = at - 1;
    return true;
}

gufo_status ollama_name_read(gufo_str text, ollama_name *out, gufo_error *error)
{
    gufo_str rest = text, last;
    gufo_status status;

    *out = (ollama_name){
        gufo_str_of(USUAL_HOST), gufo_str_of(USUAL_OWNER), {"", 0}, gufo_str_of(USUAL_TAG)};
    last = rest;
    /* A colon before the last slash is that of a port. */
    if (cut_last(&last, ':', &out->tag) && memchr(out->tag.data, '/', out->tag.len) == NULL)
        rest = last;
    else
        out->tag = gufo_str_of(USUAL_TAG);
    if (!cut_last(&rest, '/', &out->model))
        out->model = rest;
    else if (!cut_last(&rest, '/', &out->owner))
        out->owner = rest;
    else
        out->host = rest;
    status = check(out->host, &host_rule, text, error);
    if (status == GUFO_OK)
        status = check(out->owner, &owner_rule, text, error);
    if (status == GUFO_OK)
        status = check(out->model, &model_rule, text, error);
    return status == GUFO_OK ? check(out->tag, &tag_rule, text, error) : status;
}

static bool add(gufo_text *out, gufo_str part, const char *mark)
{
    return text_add(out, part.data, part.len) && text_add(out, mark, strlen(mark));
}

bool ollama_name_path(const ollama_name *name, gufo_text *out)
{
    return add(out, name->host, "/") && add(out, name->owner, "/") && add(out, name->model, "/") &&
           add(out, name->tag, "");
}

bool ollama_name_text(const ollama_name *name, gufo_text *out)
{
    bool usual_host = str_same_folded(name->host, gufo_str_of(USUAL_HOST));
    bool usual_owner = usual_host && str_same_folded(name->owner, gufo_str_of(USUAL_OWNER));

    return (usual_host || add(out, name->host, "/")) &&
           (usual_owner || add(out, name->owner, "/")) && add(out, name->model, ":") &&
           add(out, name->tag, "");
}
