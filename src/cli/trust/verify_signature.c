/* Whether a manifest is what was signed. */
#include "cli/trust/verify.h"

#include "cli/core/line.h"
#include "cli/core/text.h"

#include <stdlib.h>

static const char *const verdict_names[] = {[GUFO_SIGNATURE_GOOD] = "good",
                                            [GUFO_SIGNATURE_OTHER_KEY] = "other key",
                                            [GUFO_SIGNATURE_BAD] = "bad",
                                            [GUFO_SIGNATURE_BAD_COMMENT] = "bad comment"};

static int report_verdict(const char *path, const char *signature_path, const gufo_public_key *key,
                          const gufo_signature_result *result)
{
    char own[17], other[17];

    gufo_key_id_text(key->id, own);
    gufo_key_id_text(result->key_id, other);
    switch (result->verdict) {
    case GUFO_SIGNATURE_GOOD:
        return CODE_OK;
    case GUFO_SIGNATURE_OTHER_KEY:
        return report_as(CODE_NO, signature_path,
                         "this signature was made with key %s, not with %s", other, own);
    case GUFO_SIGNATURE_BAD_COMMENT:
        return report_as(CODE_NO, signature_path, "the trusted comment is not what was signed");
    default:
        return report_as(CODE_NO, path, "this is not what was signed in %s", signature_path);
    }
}

static int check_parts(const char *path, gufo_str message, const verify_options *options,
                       const char *signature_path, signed_text *s)
{
    gufo_str key_text;
    gufo_public_key key;
    gufo_error error;

    if (small_file_read(options->key, HASH_MOST_KEY, HASH_TOO_LONG, &key_text) != CODE_OK)
        return CODE_FAILED;
    gufo_status status = gufo_public_key_parse(key_text, &key, &error);

    small_file_free(&key_text);
    if (status != GUFO_OK)
        return report_error(options->key, &error);
    if ((options->signature != NULL ? small_file_read : small_file_read_beside)(
            signature_path, HASH_MOST_KEY, HASH_TOO_LONG, &s->text) != CODE_OK)
        return CODE_FAILED;
    if (gufo_signature_check(&key, message, s->text, &s->result, &error) != GUFO_OK)
        return report_error(signature_path, &error);
    s->checked = true;
    return report_verdict(path, signature_path, &key, &s->result);
}

int verify_signature(const char *path, gufo_str message, const verify_options *options,
                     signed_text *s)
{
    bool is_given = options->signature != NULL;
    char *signature_path;
    int code = hash_check_signatures();

    if (code != CODE_OK)
        return code;
    if (!is_given && path_is_standard(path))
        return report_usage("a manifest from standard input needs --signature");
    signature_path = path_with(is_given ? options->signature : path, is_given ? "" : ".minisig");
    code = signature_path != NULL ? check_parts(path, message, options, signature_path, s)
                                  : CODE_FAILED;
    free(signature_path);
    return code;
}

void verify_put_signature(const char *path, const signed_text *s)
{
    gufo_str comment = s->result.trusted_comment;
    char id[17];

    gufo_key_id_text(s->result.key_id, id);
    text_print("%s: good signature of key %s: %.*s\n", path, id, (int)comment.len, comment.data);
}

void verify_write_signature(json_writer *j, const signed_text *s)
{
    char id[17];

    gufo_key_id_text(s->result.key_id, id);
    json_begin_object(j, "signature");
    json_write_text(j, "verdict", verdict_names[s->result.verdict]);
    json_write_text(j, "key", id);
    if (s->result.verdict == GUFO_SIGNATURE_GOOD)
        json_write_str(j, "trusted_comment", s->result.trusted_comment);
    json_end_object(j);
}
