/* The filter urlize: addresses in a text become links of HTML.  Which texts are addresses is a
 * heuristic of Jinja's, and this is the same one. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "template/library/natives.h"

typedef struct linking {
    machine *m;
    value rel; /* the attributes of links, escaped; ABSENT: none */
    value target;
    value limit;       /* characters of an address that are shown */
    item_list schemes; /* of addresses, besides those of the web */
} linking;

/* ==== Parts of addresses ===================================================================== */

typedef bool in_class(uint32_t point);

/* The bytes of characters of a class at the start; *chars is their number. */
static size_t span(gufo_str text, in_class *is_in, size_t *chars)
{
    size_t at = 0, len;

    for (*chars = 0; at < text.len && is_in(point_at(str_from(text, at), &len)); at += len)
        ++*chars;
    return at;
}

static bool all_in(gufo_str text, in_class *is_in, size_t least, size_t most)
{
    size_t chars;

    return span(text, is_in, &chars) == text.len && chars >= least && chars <= most;
}

static bool is_label_point(uint32_t point)
{
    return point == '%' || point == '-' || is_word_point(point);
}

static bool is_host_point(uint32_t point)
{
    return point == '.' || is_label_point(point);
}

static bool is_code_point(uint32_t point)
{
    return point == '%' || is_word_point(point);
}

static bool is_mail_point(uint32_t point)
{
    return point == '.' || point == '-' || is_word_point(point);
}

/* a to z whatever their case: those that Unicode folds to them, too. */
static bool is_latin(uint32_t point)
{
    return (point < 0x80 && is_letter((char)point)) || point == 0x130 || point == 0x131 ||
           point == 0x17F || point == 0x212A;
}

static bool is_hex_point(uint32_t point)
{
    return is_decimal(point) || (point < 0x80 && is_hex((char)point));
}

static bool begins_folded(gufo_str text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len && str_same_folded((gufo_str){text.data, len}, gufo_str_of(start));
}

/* The place of the last `c`, or text.len. */
static size_t last_place(gufo_str text, char c)
{
    for (size_t i = text.len; i > 0; i--)
        if (text.data[i - 1] == c)
            return i - 1;
    return text.len;
}

/* Whether labels of a length with dots between them are all of a text. */
static bool are_labels(gufo_str text, size_t least, size_t most)
{
    for (;;) {
        const char *dot = text.len == 0 ? NULL : memchr(text.data, '.', text.len);
        size_t len = dot == NULL ? text.len : (size_t)(dot - text.data);

        if (!all_in((gufo_str){text.data, len}, is_label_point, least, most))
            return false;
        if (dot == NULL)
            return true;
        text = str_from(text, len + 1);
    }
}

/* ==== Addresses ============================================================================== */

/* A port, a path, a query, a fragment, and nothing else. */
static bool is_address_end(gufo_str text)
{
    size_t digits = 0, bytes;

    if (str_begins(text, ":")) {
        bytes = span(str_from(text, 1), is_decimal, &digits);
        if (digits == 0 || digits > 5)
            return false;
        text = str_from(text, 1 + bytes);
    }
    return text.len == 0 || memchr("/?#", *text.data, 3) != NULL;
}

static bool is_common_domain(gufo_str label)
{
    static const char *const domains[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};

    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
        if (str_same_folded(label, gufo_str_of(domains[i])))
            return true;
    return false;
}

/* A name of a host with nothing before it that says so needs a domain that everybody knows. */
static bool is_host(gufo_str host, bool announced)
{
    size_t dot = last_place(host, '.');
    gufo_str top = dot == host.len ? host : str_from(host, dot + 1);

    if (!announced)
        return dot != host.len && is_common_domain(top) &&
               are_labels((gufo_str){host.data, dot}, 2, 63);
    if (dot != host.len && !are_labels((gufo_str){host.data, dot}, 1, SIZE_MAX))
        return false;
    return all_in(top, is_latin, 2, 63) ||
           (begins_folded(top, "xn--") && all_in(str_from(top, 4), is_code_point, 2, 59));
}

/* Four numbers of up to three digits. */
static size_t ip4_length(gufo_str text)
{
    size_t at = 0, chars;

    for (int i = 0; i < 4; i++) {
        size_t bytes = span(str_from(text, at), is_decimal, &chars);

        if (chars == 0 || chars > 3 || (i < 3 && !str_begins(str_from(text, at + bytes), ".")))
            return 0;
        at += bytes + (i < 3);
    }
    return at;
}

/* [x:x:...]: two groups of up to four digits with a colon, then up to six, with or without one. */
static size_t ip6_length(gufo_str text)
{
    size_t at = 1, groups = 0, chars;

    if (!str_begins(text, "["))
        return 0;
    for (int i = 0;; i++) {
        size_t bytes = span(str_from(text, at), is_hex_point, &chars);
        bool colon = str_begins(str_from(text, at + bytes), ":");

        if (i < 2 && (!colon || chars > 4))
            return 0;
        if (i >= 2)
            groups += chars > 4 ? (chars + 3) / 4 : chars != 0 || colon;
        at += bytes + colon;
        if (!colon)
            break;
    }
    return groups <= 6 && str_begins(str_from(text, at), "]") ? at + 1 : 0;
}

static bool is_web_address(gufo_str text)
{
    size_t scheme = begins_folded(text, "https://") ? 8 : begins_folded(text, "http://") ? 7 : 0;
    size_t start = scheme == 0 && begins_folded(text, "www.") ? 4 : scheme, chars;
    gufo_str rest = str_from(text, start), whole = text;
    size_t host = span(rest, is_host_point, &chars);
    size_t bare = span(whole, is_host_point, &chars);

    if (start != 0 && is_host((gufo_str){rest.data, host}, true) &&
        is_address_end(str_from(rest, host)))
        return true;
    if (is_host((gufo_str){whole.data, bare}, false) && is_address_end(str_from(whole, bare)))
        return true;
    if (scheme == 0)
        return false;
    host = ip4_length(rest);
    if (host == 0)
        host = ip6_length(rest);
    return host != 0 && is_address_end(str_from(rest, host));
}

/* name@host.domain */
static bool is_mail_address(gufo_str text)
{
    size_t at = last_place(text, '@'), dot, len, chars;
    gufo_str host;

    if (at == text.len || at == 0)
        return false;
    host = str_from(text, at + 1);
    dot = last_place(host, '.');
    return dot != host.len && dot != 0 && is_word_point(point_at(host, &len)) &&
           span(host, is_mail_point, &chars) == host.len &&
           all_in(str_from(host, dot + 1), is_word_point, 1, SIZE_MAX);
}

/* ==== Words ================================================================================== */

/* The text of an address, perhaps shortened. */
static bool write_shown(linking *l, gufo_str address)
{
    int64_t chars = (int64_t)string_count_chars(address), most, at = 0;

    if (!is_given(l->limit) || !take_index(l->m, l->limit, 0, &most) || chars <= most)
        return out_write(l->m, address);
    if (most < 0)
        most = most < -chars ? 0 : chars + most;
    for (size_t end = 0, len;; end += len, at++) {
        if (at == most)
            return out_write(l->m, (gufo_str){address.data, end}) && out_text(l->m, "...");
        (void)point_at(str_from(address, end), &len);
    }
}

static bool write_attribute(linking *l, const char *name, value text)
{
    return !is_given(text) || (out_text(l->m, name) && out_write(l->m, bytes_of(text.as.string)) &&
                               out_text(l->m, "\""));
}

/* <a href="SCHEMEADDRESS" ...>SHOWN</a> */
static bool write_link(linking *l, const char *scheme, gufo_str address, gufo_str shown, bool web)
{
    if (!out_text(l->m, "<a href=\"") || !out_text(l->m, scheme) || !out_write(l->m, address) ||
        !out_text(l->m, "\""))
        return false;
    if (web &&
        (!write_attribute(l, " rel=\"", l->rel) || !write_attribute(l, " target=\"", l->target)))
        return false;
    return out_text(l->m, ">") && (web ? write_shown(l, shown) : out_write(l->m, shown)) &&
           out_text(l->m, "</a>");
}

/* What begins with a scheme that the caller names. */
static bool write_other(linking *l, gufo_str word)
{
    if (!machine_spend(l->m, l->schemes.count))
        return false;
    for (size_t i = 0; i < l->schemes.count; i++) {
        gufo_str scheme = bytes_of(l->schemes.items[i].as.string);

        if (word.len > scheme.len && memcmp(word.data, scheme.data, scheme.len) == 0) {
            value all = l->limit;
            bool done;

            l->limit = value_of(VALUE_ABSENT);
            done = write_link(l, "", word, word, true);
            l->limit = all;
            return done;
        }
    }
    return out_write(l->m, word);
}

static bool write_address(linking *l, gufo_str word)
{
    bool at = word.len != 0 && memchr(word.data, '@', word.len) != NULL;

    if (is_web_address(word)) {
        bool complete = str_begins(word, "https://") || str_begins(word, "http://");

        return write_link(l, complete ? "" : "https://", word, word, true);
    }
    if (str_begins(word, "mailto:") && is_mail_address(str_from(word, 7)))
        return write_link(l, "", word, str_from(word, 7), false);
    if (at && !str_begins(word, "www.") && *word.data != '@' &&
        memchr(word.data, ':', word.len) == NULL && is_mail_address(word))
        return write_link(l, "mailto:", word, word, false);
    return write_other(l, word);
}

static size_t count_of(gufo_str text, gufo_str part)
{
    size_t count = 0;

    for (const char *found; (found = find_bytes(text, part)) != NULL; count++)
        text = str_from(text, (size_t)(found - text.data) + part.len);
    return count;
}

/* Brackets and points at the end of a word are not of its address, unless they close what opened in
 * it: the length of the address. */
static size_t address_length(gufo_str word)
{
    static const struct {
        gufo_str open, close;
    } pairs[] = {{{"(", 1}, {")", 1}}, {{"<", 1}, {">", 1}}, {{"&lt;", 4}, {"&gt;", 4}}};
    size_t len = word.len;

    while (len > 0) {
        gufo_str left = {word.data, len};
        size_t mark = memchr(")>.,", word.data[len - 1], 4) != NULL ? 1
                      : str_ends(left, "&gt;")                      ? 4
                                                                    : 0;

        if (mark == 0)
            break;
        len -= mark;
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        size_t open = count_of((gufo_str){word.data, len}, pairs[i].open);
        size_t close = count_of((gufo_str){word.data, len}, pairs[i].close);

        if (open <= close)
            continue;
        for (size_t moved = 0; moved < open; moved++) {
            gufo_str tail = str_from(word, len);
            const char *end = find_bytes(tail, pairs[i].close);

            if (tail.len == 0 || end == NULL)
                break;
            len += (size_t)(end - tail.data) + pairs[i].close.len;
        }
    }
    return len;
}

static bool write_word(linking *l, gufo_str word)
{
    size_t head = 0, len;

    while (head < word.len) {
        size_t mark = memchr("(<", word.data[head], 2) != NULL   ? 1
                      : str_begins(str_from(word, head), "&lt;") ? 4
                                                                 : 0;

        if (mark == 0)
            break;
        head += mark;
    }
    if (!machine_spend_bytes(l->m, word.len * 16) || !out_write(l->m, (gufo_str){word.data, head}))
        return false;
    word = str_from(word, head);
    len = address_length(word);
    return write_address(l, (gufo_str){word.data, len}) && out_write(l->m, str_from(word, len));
}

static bool write_words(linking *l, gufo_str text)
{
    while (text.len != 0) {
        size_t blanks = space_before(text), len = blanks, point;

        if (!out_write(l->m, (gufo_str){text.data, blanks}))
            return false;
        while (len < text.len && !is_space(point_at(str_from(text, len), &point)))
            len += point;
        if (len != blanks && !write_word(l, (gufo_str){text.data + blanks, len - blanks}))
            return false;
        text = str_from(text, len);
    }
    return true;
}

/* ==== Arguments ============================================================================== */

/* What a link is to its page: words in their order, each once, with noopener. */
static bool take_rel(linking *l, value given, bool nofollow)
{
    value absent = value_of(VALUE_ABSENT), words[3] = {absent, absent, absent}, list;
    value known[] = {string_view(&l->m->memory, gufo_str_of("noopener")),
                     string_view(&l->m->memory, gufo_str_of("nofollow"))};
    size_t mark = l->m->out_len;

    words[0] = string_view(&l->m->memory, gufo_str_of(""));
    if (is_given(given) && given.kind != VALUE_NONE) {
        if (take_string(l->m, given, "'rel'") == NULL)
            return false;
        words[0] = given;
    }
    list = is_failed(words[0]) ? FAILED : str_split(l->m, words, NULL);
    if (is_failed(list) || is_failed(known[0]) || is_failed(known[1]))
        return false;
    list = list_add(&l->m->memory, VALUE_LIST, list.as.list, known, nofollow ? 2 : 1);
    if (is_failed(list))
        return false;
    list = filter_sort(l->m, (value[]){list, absent, value_bool(true), absent}, NULL);
    for (size_t i = 0; !is_failed(list) && i < list.as.list->count; i++) {
        const value *word = &list.as.list->items[i];

        if (i != 0 && value_equal(l->m, word[-1], word[0]))
            continue;
        if ((i != 0 && !out_text(l->m, " ")) || !escape_text(l->m, bytes_of(word->as.string)))
            return false;
    }
    l->rel = is_failed(list) ? FAILED : out_cut(l->m, mark);
    return !is_failed(l->rel);
}

static bool take_target(linking *l, value given)
{
    size_t mark = l->m->out_len;

    l->target = value_of(VALUE_ABSENT);
    if (!is_given(given) || !value_truth(given))
        return true;
    if (!print_escaped(l->m, given))
        return false;
    l->target = out_cut(l->m, mark);
    return !is_failed(l->target);
}

static bool is_scheme_point(uint32_t point)
{
    return point == '.' || point == '+' || point == '-' || is_word_point(point);
}

static bool take_schemes(linking *l, value given)
{
    if (!is_given(given) || given.kind == VALUE_NONE)
        return true;
    if (!iterate_all(l->m, given, &l->schemes))
        return false;
    for (size_t i = 0; i < l->schemes.count; i++) {
        const string *scheme = take_string(l->m, l->schemes.items[i], "a scheme");
        size_t name, chars;
        gufo_str end;

        if (scheme == NULL || !machine_spend_bytes(l->m, scheme->len * 4))
            return false;
        name = span(bytes_of(scheme), is_scheme_point, &chars);
        end = str_from(bytes_of(scheme), name);
        if (chars < 2 ||
            !(gufo_str_equal(end, gufo_str_of(":")) || gufo_str_equal(end, gufo_str_of(":/")) ||
              gufo_str_equal(end, gufo_str_of("://"))))
            return !is_failed(
                fail_type(l->m, "%s is not a scheme of addresses", QUOTED(bytes_of(scheme))));
    }
    return true;
}

value filter_urlize(machine *m, const value *given, const arguments *all)
{
    size_t mark = m->out_len;
    value text = print_escaped(m, given[0]) ? out_cut(m, mark) : FAILED, made;
    linking l = {.m = m, .limit = given[1].kind == VALUE_NONE ? value_of(VALUE_ABSENT) : given[1]};

    (void)all;
    if (is_failed(text) || !take_rel(&l, given[4], is_given(given[2]) && value_truth(given[2])) ||
        !take_target(&l, given[3]) || !take_schemes(&l, given[5]) ||
        !write_words(&l, bytes_of(text.as.string)))
        return FAILED;
    made = out_cut(m, mark);
    return is_failed(made) ? made : string_cast(&m->memory, made.as.string, m->escape);
}
