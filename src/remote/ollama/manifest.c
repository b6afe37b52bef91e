/* Manifests of Ollama; manifest.h has an example. */
#include "remote/ollama/manifest.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pull.h"

#define PREFIX "application/vnd.ollama.image."

static const char *const types[OLLAMA_OTHER] = {
    [OLLAMA_MODEL] = PREFIX "model",       [OLLAMA_PROJECTOR] = PREFIX "projector",
    [OLLAMA_ADAPTER] = PREFIX "adapter",   [OLLAMA_TEMPLATE] = PREFIX "template",
    [OLLAMA_PROMPT] = PREFIX "prompt",     [OLLAMA_SYSTEM] = PREFIX "system",
    [OLLAMA_LICENSE] = PREFIX "license",   [OLLAMA_PARAMS] = PREFIX "params",
    [OLLAMA_MESSAGES] = PREFIX "messages", [OLLAMA_JSON] = PREFIX "json",
    [OLLAMA_TENSOR] = PREFIX "tensor",     [OLLAMA_DRAFT] = PREFIX "draft",
    [OLLAMA_EMBED] = PREFIX "embed",
};

const char *ollama_layer_type(ollama_layer_kind kind)
{
    return kind < OLLAMA_OTHER ? types[kind] : NULL;
}

const char *ollama_layer_word(ollama_layer_kind kind)
{
    return kind < OLLAMA_OTHER ? types[kind] + strlen(PREFIX) : "other";
}

static ollama_layer_kind kind_of(gufo_str type)
{
    ollama_layer_kind kind = OLLAMA_MODEL;

    while (kind < OLLAMA_OTHER && !gufo_str_equal(type, gufo_str_of(types[kind])))
        kind++;
    return kind;
}

bool ollama_digest_read(gufo_str text, char hex[OLLAMA_HEX + 1])
{
    const size_t before = strlen("sha256:");

    if (text.len != before + OLLAMA_HEX || !str_begins(text, "sha256") ||
        (text.data[before - 1] != ':' && text.data[before - 1] != '-') ||
        str_span(text, before, is_hex) != OLLAMA_HEX)
        return false;
    for (size_t i = 0; i < OLLAMA_HEX; i++)
        hex[i] = to_lower(text.data[before + i]);
    hex[OLLAMA_HEX] = '\0';
    return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool read_digest(pull *p, ollama_layer *layer)
{
    size_t at = p->at;
    gufo_str text;

    if (!pull_string(p, &text))
        return false;
    /* Part of a path: it is nothing but a digest. */
    return ollama_digest_read(text, layer->hex) ||
           pull_fail(p, GUFO_E_MALFORMED, at, "a layer has the digest %s, which is not of SHA-256",
                     QUOTED(text));
}

static bool read_member(pull *p, gufo_str name, ollama_layer *layer)
{
    if (gufo_str_equal(name, gufo_str_of("mediaType")))
        return pull_string(p, &layer->type);
    if (gufo_str_equal(name, gufo_str_of("digest")))
        return read_digest(p, layer);
    if (gufo_str_equal(name, gufo_str_of("size")))
        return pull_u64(p, &layer->size);
    if (gufo_str_equal(name, gufo_str_of("name")) && pull_peek(p) == '"')
        return pull_string(p, &layer->name);
    return pull_skip(p, NULL);
}

static bool read_layer(pull *p, ollama_layer *layer)
{
    size_t at;
    gufo_str name;

    *layer = (ollama_layer){.kind = OLLAMA_OTHER, .size = UINT64_MAX};
    (void)pull_peek(p);
    at = p->at;
    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);)
        if (!pull_name(p, &name) || !read_member(p, name, layer))
            return false;
    if (p->status != GUFO_OK)
        return false;
    if (layer->type.data == NULL || layer->hex[0] == '\0' || layer->size > INT64_MAX)
        return pull_fail(p, GUFO_E_MALFORMED, at, "a layer needs a mediaType, a digest and a size");
    layer->kind = kind_of(layer->type);
    return true;
}

static bool read_layers(pull *p, ollama_manifest *m)
{
    uint64_t room = m->count;

    if (pull_peek(p) == 'n')
        return pull_null(p);
    if (!pull_mark(p, '['))
        return false;
    for (bool first = true; pull_next(p, ']', &first); m->count++) {
        ollama_layer *grown;

        if (m->count == OLLAMA_MOST_LAYERS)
            return pull_fail(p, GUFO_E_LIMIT, p->at, "a manifest has more than %s layers",
                             GROUPED(OLLAMA_MOST_LAYERS));
        grown = mem_grow(m->allocator, m->layers, m->count, &room, sizeof *m->layers);
        if (grown == NULL)
            return pull_fail_memory(p);
        m->layers = grown;
        if (!read_layer(p, &m->layers[m->count]))
            return false;
    }
    return p->status == GUFO_OK;
}

static bool read_manifest(pull *p, ollama_manifest *m)
{
    bool layers = false;
    gufo_str name;

    if (!pull_mark(p, '{'))
        return false;
    for (bool first = true; pull_next(p, '}', &first);) {
        if (!pull_name(p, &name))
            return false;
        if (gufo_str_equal(name, gufo_str_of("config")) && pull_peek(p) == '{') {
            if (!read_layer(p, &m->config))
                return false;
        } else if (gufo_str_equal(name, gufo_str_of("layers")) && !layers) {
            layers = true;
            if (!read_layers(p, m))
                return false;
        } else if (!pull_skip(p, NULL)) {
            return false;
        }
    }
    if (p->status == GUFO_OK && !layers)
        return pull_fail(p, GUFO_E_MALFORMED, 0,
                         "it has no layers, so it is not a manifest of Ollama");
    return pull_end(p);
}

gufo_status ollama_manifest_read(gufo_str text, const gufo_allocator *allocator,
                                 ollama_manifest *out, gufo_error *error)
{
    pull p = {.len = text.len, .error = error};

    *out = (ollama_manifest){.config = {.kind = OLLAMA_OTHER}, .allocator = allocator};
    if (text.len > OLLAMA_MANIFEST_MOST)
        return refuse(error, GUFO_E_LIMIT, "a manifest of %s bytes is more than %s bytes",
                      GROUPED(text.len), GROUPED(OLLAMA_MANIFEST_MOST));
    out->text = mem_text(allocator, text);
    if (out->text == NULL)
        return fail_memory(error);
    p.text = p.decoded = out->text;
    (void)read_manifest(&p, out);
    return p.status;
}

void ollama_manifest_free(ollama_manifest *manifest)
{
    if (manifest->allocator == NULL)
        return;
    mem_free(manifest->allocator, manifest->layers);
    mem_free(manifest->allocator, manifest->text);
    *manifest = (ollama_manifest){.config = {.kind = OLLAMA_OTHER}};
}

const ollama_layer *ollama_manifest_find(const ollama_manifest *manifest, ollama_layer_kind kind)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->layers[i].kind == kind)
            return &manifest->layers[i];
    return NULL;
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool add(gufo_text *out, const char *text)
{
    return text_add(out, text, strlen(text));
}

bool ollama_json_string(gufo_str text, gufo_text *out)
{
    char escape[JSON_ESCAPE_SIZE];
    bool good = add(out, "\"");

    while (text.len > 0 && good) {
        uint32_t code_point = 0xfffd;
        size_t len = gufo_utf8_decode(text, &code_point);

        if (len == 0 || code_point == '"' || code_point == '\\' || gufo_utf8_is_control(code_point))
            good = text_add(out, escape, json_escape_put(len == 0 ? 0xfffd : code_point, escape));
        else
            good = text_add(out, text.data, len);
        text = str_from(text, len > 0 ? len : 1);
    }
    return good && add(out, "\"");
}

static bool write_layer(const ollama_layer *layer, gufo_text *out)
{
    char size[GUFO_NUMBER_SIZE];

    (void)gufo_number_u64(size, layer->size);
    return add(out, "{\"mediaType\":") && ollama_json_string(layer->type, out) &&
           add(out, ",\"digest\":\"sha256:") && add(out, layer->hex) && add(out, "\",\"size\":") &&
           add(out, size) &&
           (layer->name.len == 0 ||
            (add(out, ",\"name\":") && ollama_json_string(layer->name, out))) &&
           add(out, "}");
}

gufo_status ollama_manifest_write(const ollama_layer *config, const ollama_layer *layers,
                                  size_t count, gufo_text *out, gufo_error *error)
{
    bool good =
        add(out, "{\"schemaVersion\":2,\"mediaType\":\"" OLLAMA_MANIFEST_TYPE "\",\"config\":") &&
        write_layer(config, out) && add(out, ",\"layers\":[");

    for (size_t i = 0; i < count && good; i++)
        good = (i == 0 || add(out, ",")) && write_layer(&layers[i], out);
    return good && add(out, "]}\n") ? GUFO_OK : fail_memory(error);
}
