/* All metadata, in groups: keys that begin with the same word. */
#include "report/sections/sections.h"

#include "report/page/numbers.h"
#include "report/page/table.h"
#include "report/page/value.h"

enum { MOST_KEYS = 5000, MOST_GROUPS = 32 };

/* The word before the first point. */
static gufo_str group_of(gufo_str key)
{
    size_t len = 0;

    while (len < key.len && key.data[len] != '.')
        len++;
    return (gufo_str){key.data, len};
}

typedef struct key_group {
    gufo_str name; /* empty: all that found no group */
    uint64_t count;
} key_group;

typedef struct key_groups {
    key_group groups[MOST_GROUPS];
    size_t count;
} key_groups;

static size_t find_group(const key_groups *g, gufo_str name)
{
    size_t i = 0;

    while (i < g->count && !gufo_str_equal(g->groups[i].name, name))
        i++;
    return i < g->count ? i : g->count - 1;
}

static void count_groups(key_groups *g, const gufo_model *model)
{
    gufo_entry entry;

    *g = (key_groups){.count = 0};
    for (uint64_t i = 0; gufo_model_entry_at(model, i, &entry); i++) {
        const gufo_str name = group_of(entry.key);
        size_t at = g->count > 0 ? find_group(g, name) : 0;

        if (g->count == 0 || !gufo_str_equal(g->groups[at].name, name)) {
            if (g->count + 1 < MOST_GROUPS)
                g->groups[at = g->count++].name = name;
            else if (g->count < MOST_GROUPS)
                at = g->count++; /* the rest */
            else
                at = MOST_GROUPS - 1;
        }
        g->groups[at].count++;
    }
}

static bool belongs(const key_groups *g, size_t group, gufo_str key)
{
    return find_group(g, group_of(key)) == group;
}

static void put_entry(page *p, const gufo_entry *entry)
{
    html_row(p);
    html_cell_name(p, entry->key);
    html_cell(p, "nw");
    html_value_type(p, &entry->value);
    html_cell_end(p);
    html_cell(p, "v");
    html_value(p, &entry->value);
    html_cell_end(p);
    html_row_end(p);
}

static void put_group(const report *r, const key_groups *g, size_t group)
{
    static const html_column columns[] = {
        {"Key", false}, {"Type", false}, {"Value", false}, {NULL, false}};
    const key_group *k = &g->groups[group];
    page *p = r->page;
    gufo_entry entry;
    uint64_t listed = 0;

    html(p, group == 0 ? "<details open><summary>" : "<details><summary>");
    if (k->name.len > 0)
        html_text(p, k->name, HTML_LABEL);
    else
        html(p, "others");
    html(p, " <small>%s</small></summary>", as_counted(k->count, "key", "keys").text);
    html_table(p, "Metadata", columns);
    for (uint64_t i = 0; listed < MOST_KEYS && gufo_model_entry_at(r->facts->model, i, &entry); i++)
        if (belongs(g, group, entry.key)) {
            put_entry(p, &entry);
            listed++;
        }
    html_table_end(p);
    if (listed < k->count)
        html(p, "<p class=\"note\">%s more are not listed.</p>",
             as_counted(k->count - listed, "key", "keys").text);
    html(p, "</details>\n");
}

void section_metadata(const report *r)
{
    key_groups groups;

    count_groups(&groups, r->facts->model);
    html(r->page, "<div data-filter=\"keys\">");
    for (size_t i = 0; i < groups.count; i++)
        put_group(r, &groups, i);
    html(r->page, "</div>");
}

void section_metadata_count(const report *r)
{
    html(r->page, " <small>%s</small>",
         as_counted(gufo_model_entry_count(r->facts->model), "key", "keys").text);
}

bool section_metadata_is_there(const report *r)
{
    return r->facts->model != NULL && gufo_model_entry_count(r->facts->model) > 0;
}
