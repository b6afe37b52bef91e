/* Ids of models, taken apart at their hyphens:
 *
 *     example-org/Tiny-Llama-8x7B-Chat-v1.0
 *     |           |          |    |    version
 *     |           |          |    fine tune
 *     |           |          size
 *     |           base name
 *     organization
 *
 * Each piece has a class by its form: a version, a size, a well-known word of fine tuning, the name of
 * an element type (which is never used).  A size that is far from the number of parameters is a length
 * of context.  The base name is what has no class at the beginning; what has none later is part of the
 * fine tune. */
#include "base/checked.h"
#include "base/text.h"
#include "import/general/model_id.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ==== the size of a model ====================================================================== */

/* The size label that a converter writes: two digits at least, in thousands, millions, billions or
 * trillions.  That of a file's name (schema/name/size.c) counts experts' biases as experts, and is written otherwise:
 * here 1,000,000,000 is "1000M", there "1B". */

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return checked_add(a, b, &sum) ? sum : UINT64_MAX;
}

static uint64_t elements_of(const gufo_document_tensor *tensor)
{
    uint64_t product = 1;

    for (uint32_t i = 0; i < tensor->n_dims; i++)
        if (!checked_mul(product, tensor->dims[i], &product))
            return UINT64_MAX;
    return product;
}

/* How many experts a tensor holds; 0: it counts as shared by all, as matrices do, those of biases too. */
static uint64_t experts_of(const gufo_document_tensor *tensor)
{
    bool bias = str_search(tensor->name, gufo_str_of(".bias")) != NULL;

    if (str_search(tensor->name, gufo_str_of("_exps.")) == NULL || tensor->n_dims < 3)
        return 0;
    return tensor->dims[bias ? 1 : 2];
}

parameter_count count_parameters(const gufo_document *document)
{
    uint64_t sum_of_experts = 0, tensors_of_experts = 0;
    parameter_count count = {0};
    gufo_document_tensor tensor;

    for (uint64_t i = 0; gufo_document_tensor_at(document, i, &tensor); i++) {
        uint64_t elements = elements_of(&tensor), experts = experts_of(&tensor);

        count.total = add(count.total, elements);
        if (experts == 0) {
            count.shared = add(count.shared, elements);
            continue;
        }
        count.expert = add(count.expert, elements / experts);
        sum_of_experts = add(sum_of_experts, experts);
        tensors_of_experts++;
    }
    if (tensors_of_experts > 0)
        count.experts = sum_of_experts / tensors_of_experts;
    return count;
}

/* The comma of a locale becomes a point. */
static size_t copy_number(const char *from, char *out)
{
    size_t len = 0;

    for (; *from != '\0'; from++)
        if (is_digit(*from))
            out[len++] = *from;
        else if (out[len - 1] != '.')
            out[len++] = '.';
    return len;
}

static void write_scaled(uint64_t number, char out[SIZE_LABEL_ROOM / 2])
{
    static const struct {
        uint64_t above;
        double scale;
        char letter;
    } scales[] = {{UINT64_C(1000000000000), 1e-12, 'T'},
                  {UINT64_C(1000000000), 1e-9, 'B'},
                  {UINT64_C(1000000), 1e-6, 'M'},
                  {0, 1e-3, 'K'}};
    char digits[SIZE_LABEL_ROOM / 2];
    double scaled, rounded;
    size_t i = 0, len;

    while (number <= scales[i].above && scales[i].above > 0)
        i++;
    scaled = (double)number * scales[i].scale;
    rounded = nearbyint(scaled);
    (void)snprintf(digits, sizeof digits, "%.*f", rounded < 1 ? 2 : rounded < 10 ? 1 : 0, scaled);
    len = copy_number(digits, out);
    out[len] = scales[i].letter;
    out[len + 1] = '\0';
}

void size_label_write(const parameter_count *count, char out[SIZE_LABEL_ROOM])
{
    char size[SIZE_LABEL_ROOM / 2];

    write_scaled(count->experts > 0 ? add(count->shared, count->expert) : count->total, size);
    if (count->experts > 0)
        (void)snprintf(out, SIZE_LABEL_ROOM, "%" PRIu64 "x%s", count->experts, size);
    else
        (void)snprintf(out, SIZE_LABEL_ROOM, "%s", size);
}

typedef enum piece_class {
    IS_BASE = 1,
    IS_VERSION = 2,
    IS_TYPE = 4,
    IS_SIZE = 8,
    IS_FINETUNE = 16,
} piece_class;

typedef struct id_piece {
    char *text;       /* with room for the point that a size may get */
    unsigned classes; /* of piece_class */
} id_piece;

typedef struct pieces {
    id_piece list[ID_LONGEST / 2 + 1];
    size_t count;
    char texts[ID_ROOM];
} pieces;

/* ==== the id =================================================================================== */

/* ---- forms of pieces ------------------------------------------------------------------------ */

static char char_at(gufo_str text, size_t at)
{
    return at < text.len ? to_lower(text.data[at]) : '\0';
}

/* Behind the groups ".1" or "_1" that follow: `most` of them. */
static size_t skip_groups(gufo_str text, size_t at, const char *marks, size_t most)
{
    for (; most > 0 && at < text.len && strchr(marks, text.data[at]) != NULL; most--) {
        size_t digits = str_digits(text, at + 1);

        if (digits == 0)
            break;
        at += 1 + digits;
    }
    return at;
}

/* Digits and groups of them: "1", "1.0.3". */
static bool is_dotted(gufo_str text, size_t at)
{
    size_t digits = str_digits(text, at);

    return digits > 0 && skip_groups(text, at + digits, ".", SIZE_MAX) == text.len;
}

static bool is_version(gufo_str text)
{
    size_t word = str_begins_folded(text, "iter") ? 4 : char_at(text, 0) == 'v';

    return is_dotted(text, word);
}

static bool is_element_type(gufo_str text)
{
    static const char *const floats[] = {"f16",  "f32",  "fp16",  "fp32",
                                         "bf16", "bf32", "bfp16", "bfp32"};
    size_t at = char_at(text, 0) == 'i';

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (str_same_folded(text, gufo_str_of(floats[i])))
            return true;
    if (char_at(text, at) != 'q' || !is_digit(char_at(text, at + 1)))
        return false;
    for (at += 2; at + 1 < text.len && text.data[at] == '_'; at += 2)
        if (!is_letter(text.data[at + 1]) && !is_digit(text.data[at + 1]) &&
            text.data[at + 1] != '_')
            return false;
    return at == text.len;
}

/* "7B", "1.5b", "1_5B", "7b1", "8x7B", "A3B" */
static bool is_numbered_size(gufo_str text)
{
    size_t at = char_at(text, 0) == 'a', digits = str_digits(text, 0);

    if (digits > 0 && char_at(text, digits) == 'x')
        at = digits + 1;
    digits = str_digits(text, at);
    at = skip_groups(text, at + digits, "._", 1);
    return digits > 0 && at < text.len && strchr("kmbt", to_lower(text.data[at])) != NULL &&
           str_digits(text, at + 1) <= 1 && at + 1 + str_digits(text, at + 1) == text.len;
}

static bool is_one_of(gufo_str text, const char *words)
{
    while (*words != '\0')
        if (str_same_folded(str_piece(&words, ' '), text))
            return true;
    return false;
}

static bool is_size(gufo_str text)
{
    return is_numbered_size(text) || is_one_of(text, "small mini medium large xl xxl");
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void replace(char *text, char from, char to)
{
    for (; *text != '\0'; text++)
        if (*text == from)
            *text = to;
}

/* "7b1" means 7.1B, and "1_5b" 1.5B. */
static void normalise_size(char *text)
{
    size_t len = strlen(text);

    replace(text, '_', '.');
    if (is_digit(text[len - 1])) {
        char letter = text[len - 2], digit = text[len - 1];

        text[len - 2] = '.';
        text[len - 1] = digit;
        text[len] = letter;
        text[++len] = '\0';
    }
    if (len > 1 && is_digit(text[len - 2]))
        text[len - 1] = to_upper(text[len - 1]);
}

/* The number before the letter; false for "8x7B", "A3B", "7.5.1B" and words. */
static bool size_number(gufo_str text, double *out)
{
    static const char scales[] = "KMBT";
    size_t whole = str_digits(text, 0), at = whole;
    double number = 0, unit = 1;
    const char *scale;

    for (size_t i = 0; i < whole; i++)
        number = number * 10 + (text.data[i] - '0');
    if (char_at(text, at) == '.')
        for (at++; at < text.len && is_digit(text.data[at]); at++) {
            number = number * 10 + (text.data[at] - '0');
            unit *= 10;
        }
    if (whole == 0 || at + 1 != text.len)
        return false;
    scale = strchr(scales, to_upper(text.data[at]));
    for (const char *s = scales; scale != NULL && s <= scale; s++)
        number *= 1000;
    *out = number / unit;
    return scale != NULL;
}

static bool is_context_length(gufo_str size, const id_scale *scale)
{
    double number, parameters = (double)scale->parameters;
    uint64_t eighth = scale->parameters / 8;

    if (scale->parameters == 0 || !size_number(size, &number))
        return false;
    if (scale->adapter)
        return number < (double)eighth;
    eighth += scale->parameters % 8 != 0; /* seven eighths are rounded down */
    return fabs(number - parameters) > (double)(scale->parameters - eighth);
}

/* ---- classes -------------------------------------------------------------------------------- */

static void classify_size(id_piece *p, const id_scale *scale)
{
    normalise_size(p->text);
    p->classes = IS_SIZE;
    if (is_context_length(gufo_str_of(p->text), scale)) {
        char *letter = p->text + strlen(p->text) - 1;

        p->classes = IS_FINETUNE;
        *letter = to_lower(*letter);
    }
}

static void classify(id_piece *p, bool first, const id_scale *scale)
{
    gufo_str text = gufo_str_of(p->text);

    if (is_version(text))
        p->classes = IS_VERSION;
    else if (is_element_type(text))
        p->classes = IS_TYPE;
    else if (!first && is_size(text))
        classify_size(p, scale);
    else if (!first && is_one_of(text, "chat instruct vision lora"))
        p->classes = scale->adapter && is_one_of(text, "lora") ? IS_TYPE : IS_FINETUNE;
}

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* A word is a size only where no number is. */
static void drop_size_words(pieces *all)
{
    bool numbered = false;

    for (size_t i = 0; i < all->count; i++)
        numbered = numbered || (all->list[i].classes == IS_SIZE && has_digit(all->list[i].text));
    for (size_t i = 0; i < all->count && numbered; i++)
        if (all->list[i].classes == IS_SIZE && !has_digit(all->list[i].text))
            all->list[i].classes = 0;
}

/* Letters of other scripts begin a base name as well. */
static bool begins_as_base(const char *text)
{
    return is_letter(text[0]) || (unsigned char)text[0] >= 0x80;
}

static void find_base(pieces *all)
{
    bool at_start = true;

    for (size_t i = 0; i < all->count; i++) {
        id_piece *p = &all->list[i];

        at_start = at_start &&
                   ((p->classes == 0 && begins_as_base(p->text)) || (p->classes & IS_VERSION) != 0);
        if (at_start)
            p->classes |= IS_BASE;
        else if (p->classes == 0)
            p->classes = IS_FINETUNE;
    }
    /* A version at the end of the base name is that of the model. */
    for (size_t i = all->count; i-- > 0 && all->list[i].classes == (IS_BASE | IS_VERSION);)
        all->list[i].classes = IS_VERSION;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void divide(gufo_str text, pieces *all)
{
    char *free_text = all->texts;

    all->count = 0;
    for (size_t at = 0, len; at < text.len; at += len + 1) {
        const char *hyphen = memchr(text.data + at, '-', text.len - at);

        len = hyphen != NULL ? (size_t)(hyphen - text.data) - at : text.len - at;
        if (len == 0)
            continue;
        memcpy(free_text, text.data + at, len);
        free_text[len] = '\0';
        all->list[all->count++] = (id_piece){.text = free_text};
        free_text += len + 2;
    }
}

static bool occurs_before(const pieces *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (all->list[i].classes == all->list[index].classes &&
            strcmp(all->list[i].text, all->list[index].text) == 0)
            return true;
    return false;
}

/* The pieces of a class, with hyphens between them; a size that is there twice counts once. */
static void join(const pieces *all, piece_class class, char out[ID_ROOM])
{
    size_t len = 0;

    for (size_t i = 0; i < all->count; i++) {
        const id_piece *p = &all->list[i];
        size_t size = strlen(p->text);

        if ((p->classes & class) == 0 || (class == IS_VERSION && (p->classes & IS_BASE) != 0) ||
            (class == IS_SIZE && occurs_before(all, i)) || len + size + 2 > ID_ROOM)
            continue;
        if (len > 0)
            out[len++] = '-';
        memcpy(out + len, p->text, size);
        len += size;
    }
    out[len] = '\0';
}

static void copy(gufo_str text, char out[ID_ROOM])
{
    memcpy(out, text.data, text.len);
    out[text.len] = '\0';
}

static void read_pieces(gufo_str name, const id_scale *scale, model_id *out)
{
    pieces all = {.count = 0};

    divide(name, &all);
    for (size_t i = 0; i < all.count; i++)
        classify(&all.list[i], i == 0, scale);
    drop_size_words(&all);
    find_base(&all);
    join(&all, IS_BASE, out->part[ID_BASENAME]);
    join(&all, IS_SIZE, out->part[ID_SIZE]);
    join(&all, IS_FINETUNE, out->part[ID_FINETUNE]);
    join(&all, IS_VERSION, out->part[ID_VERSION]);
    /* A base name alone says nothing that the name does not. */
    if (out->part[ID_SIZE][0] == '\0' && out->part[ID_FINETUNE][0] == '\0' &&
        out->part[ID_VERSION][0] == '\0')
        out->part[ID_BASENAME][0] = '\0';
}

void model_id_read(gufo_str text, const id_scale *scale, model_id *out)
{
    const char *slash;

    for (size_t i = 0; i < ID_PARTS; i++)
        out->part[i][0] = '\0';
    if (text.len == 0 || text.len > ID_LONGEST || gufo_utf8_valid_prefix(text) != text.len ||
        memchr(text.data, '\0', text.len) != NULL)
        return;
    if (memchr(text.data, ' ', text.len) != NULL) {
        copy(text, out->part[ID_NAME]);
        return;
    }
    slash = memchr(text.data, '/', text.len);
    if (slash != NULL) {
        if (text.data[0] != '.') /* "./NAME" is a path */
            copy((gufo_str){text.data, (size_t)(slash - text.data)}, out->part[ID_ORGANIZATION]);
        text = str_from(text, (size_t)(slash - text.data) + 1);
    }
    copy(text, out->part[ID_NAME]);
    read_pieces(text, scale, out);
}

/* ---- titles --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '-';
}

static bool is_inside(char c)
{
    return !is_blank(c);
}

static bool wants_capitals(gufo_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (is_upper(word.data[i]))
            return false;
    return !is_digit(word.data[0]) && !(word.data[0] == 'v' && is_dotted(word, 1));
}

void model_id_title(gufo_str text, char out[ID_ROOM])
{
    size_t len = 0;

    if (text.len > ID_LONGEST)
        text.len = ID_LONGEST;
    text.len = gufo_utf8_valid_prefix(text);
    for (size_t at = str_span(text, 0, is_blank); at < text.len;
         at += str_span(text, at, is_blank)) {
        gufo_str word = {text.data + at, str_span(text, at, is_inside)};
        bool capitals = wants_capitals(word), in_word = false;

        if (len > 0)
            out[len++] = ' ';
        for (size_t i = 0; i < word.len; i++) {
            char c = word.data[i];

            out[len++] = capitals && !in_word ? to_upper(c) : c;
            in_word = is_letter(c) || (unsigned char)c >= 0x80;
        }
        at += word.len;
    }
    out[len] = '\0';
}
