/* What the steps of a normalizer share. */
#include "text/pipeline/steps/normal_step.h"

#include "base/error.h"
#include "text/vocabulary/characters.h"

gufo_status normal_replace(normal_run *r, size_t begin, size_t end, size_t from, size_t to,
                           gufo_str text)
{
    if (!work_text_keep(r->out, r->in, r->kept, begin) ||
        !work_text_put(r->out, r->in, from, to, text))
        return fail_memory(r->error);
    r->kept = end;
    r->changed = true;
    return r->out->len <= r->most ? GUFO_OK
                                  : refuse(r->error, GUFO_E_LIMIT,
                                           "the normalizer makes the text longer than %llu bytes",
                                           (unsigned long long)r->most);
}

gufo_status normal_transform(normal_run *r, size_t begin, size_t end, const normal_character *list,
                             size_t count)
{
    const work_text *in = r->in;
    size_t at = begin, replaced = begin, size;
    gufo_status status = count > 0 ? GUFO_OK : normal_put(r, begin, end, (gufo_str){"", 0});

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        size_t from = at, to = at;
        int32_t taken = list[i].change > 0 ? 0 : 1 - list[i].change;
        char text[4];

        if (taken == 0 || at == in->len)
            from = at > 0 ? utf8_before(in->data, at) : 0;
        for (int32_t n = 0; n < taken && at < in->len; n++) {
            (void)utf8_next(in->data + at, &size);
            at += size;
            if (n == 0)
                to = at;
        }
        size = lenient_encode(list[i].code_point, text);
        status = normal_replace(r, replaced, i + 1 < count ? replaced : end, from, to,
                                (gufo_str){text, size});
    }
    return status;
}
