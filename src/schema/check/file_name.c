/* The file's name and its metadata: what a name says should be so.
 *
 * A name that does not conform, or leaves something out, says nothing; that is a finding only where the
 * specification is taken to the letter. */
#include <inttypes.h>
#include <string.h>

#include "schema/check/check.h"
#include "schema/name/name.h"

static gufo_finding place_of(gufo_str part)
{
    return (gufo_finding){.offset = GUFO_NO_OFFSET, .subject = part};
}

/* Whether the text is `word`, or begins with it and a hyphen, in any case of letters. */
static bool is_or_extends(gufo_str text, gufo_str word)
{
    return text.len >= word.len && str_same_folded((gufo_str){text.data, word.len}, word) &&
           (text.len == word.len || text.data[word.len] == '-');
}

static void check_size(check_context *c, const gufo_name *name)
{
    gufo_str label;

    if (name->size_label.data == NULL || c->kind == KIND_PROJECTOR ||
        gufo_get_str(c->model, "general.size_label", &label, NULL) != GUFO_OK || label.len == 0 ||
        is_or_extends(name->size_label, label) || is_or_extends(label, name->size_label))
        return;
    schema_report(c, RULE_NAME_SIZE, place_of(name->size_label),
                  "the file name has size %s, but general.size_label is %s",
                  QUOTED(name->size_label), QUOTED(label));
}

static void check_encoding(check_context *c, const gufo_name *name)
{
    const gufo_file_type *said, *own;
    uint64_t id;

    if (name->encoding.data == NULL || c->kind == KIND_VOCABULARY ||
        gufo_get_u64(c->model, "general.file_type", &id, NULL) != GUFO_OK)
        return;
    said = name_file_type(name->encoding);
    own = gufo_file_type_by_id(id);
    if (said != NULL && own != NULL && said != own)
        schema_report(c, RULE_NAME_ENCODING, place_of(name->encoding),
                      "the file name has encoding %s, but general.file_type is %" PRIu32 " (%s)",
                      QUOTED(name->encoding), own->id, own->name);
}

static void check_shard(check_context *c, gufo_str base)
{
    uint64_t split_no, split_count;
    uint32_t number = 1, count = 1;
    size_t prefix_len;
    bool named = gufo_shard_path_parse(c->options->path, &prefix_len, &number, &count);

    bool said = gufo_get_u64(c->model, "split.no", &split_no, NULL) == GUFO_OK &&
                gufo_get_u64(c->model, "split.count", &split_count, NULL) == GUFO_OK;

    if (said && split_no >= split_count)
        return; /* reported with the rules of the format */
    if (!said && named && count > 1)
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file name is that of shard %" PRIu32 " of %" PRIu32
                      ", but the file has no split keys",
                      number, count);
    else if (said && !named && split_count > 1)
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file is shard %" PRIu64 " of %" PRIu64
                      " by its split keys, but its name does not say so",
                      split_no + 1, split_count);
    else if (said && named && (split_no != number - 1 || split_count != count))
        schema_report(c, RULE_NAME_SHARD, place_of(base),
                      "the file name is that of shard %" PRIu32 " of %" PRIu32
                      ", but by its split keys the file is shard %" PRIu64 " of %" PRIu64,
                      number, count, split_no + 1, split_count);
}

static void check_type(check_context *c, const gufo_name *name)
{
    const struct {
        gufo_str part;
        const char *word;
        subject_kind kind;
        const char *what;
    } types[] = {
        {name->type, "LoRA", KIND_ADAPTER, "an adapter"},
        {name->type, "vocab", KIND_VOCABULARY, "a vocabulary: it has tensors"},
        {name->sidecar, "mmproj", KIND_PROJECTOR, "a projector"},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].part.data != NULL && c->kind != types[i].kind &&
            gufo_str_equal(types[i].part, gufo_str_of(types[i].word)))
            schema_report(c, RULE_NAME_TYPE, place_of(types[i].part),
                          "the file name says %s, but the file is not %s", QUOTED(types[i].part),
                          types[i].what);
}

void schema_check_name(check_context *c)
{
    gufo_name name = {0};
    gufo_error reason = {.code = GUFO_OK};
    const char *slash;
    gufo_str base;

    if (c->options->path == NULL)
        return;
    slash = strrchr(c->options->path, '/');
    base = gufo_str_of(slash != NULL ? slash + 1 : c->options->path);
    /* Leaves out what it does not understand. */
    if (gufo_name_explain(base, &name, &reason) != GUFO_OK)
        schema_report(c, RULE_NAME_CONVENTION, place_of(base),
                      "the file name %s does not conform: %s", QUOTED(base), reason.message);
    check_size(c, &name);
    check_encoding(c, &name);
    check_shard(c, base);
    check_type(c, &name);
}
