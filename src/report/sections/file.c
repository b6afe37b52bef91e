/* The file itself: what its bytes are, and where something is wrong. */
#include "report/sections/sections.h"

#include "report/page/figure.h"
#include "report/page/numbers.h"
#include "report/page/table.h"
#include "report/pictures/file_map.h"

#include "base/memory.h"

enum { MOST_FILES = 16, MOST_SEGMENTS = 200 };

/* ---- what the picture shows ------------------------------------------------------------------------ */

static void put_tensors(page *p, const segment_list *l)
{
    html(p, "%s of %s", as_grouped(l->complete).text,
         as_counted(l->announced, "tensor is complete", "tensors are complete").text);
}

/* "219 of 399 tensors are complete, 1.8 GiB missing." */
static void put_truncated(page *p, const segment_list *l)
{
    if (l->size <= l->head_end)
        html(p, "The file ends before the data of its tensors: ");
    else {
        html(p, "The file ends inside ");
        html_text(p, l->cut, HTML_NAME);
        html(p, ": ");
    }
    put_tensors(p, l);
    html(p, ", %s missing", as_memory(l->end - l->size).text);
}

static void put_spaces(page *p, const segment_list *l)
{
    if (l->gaps > 0)
        html(p, ", %s with %s", as_counted(l->gaps, "gap", "gaps").text,
             as_memory(l->gap_bytes).text);
    if (l->overlaps > 0)
        html(p, ", %s with %s", as_counted(l->overlaps, "overlap", "overlaps").text,
             as_memory(l->overlap_bytes).text);
    if (l->gaps + l->overlaps == 0)
        html(p, ", no gap, no overlap");
}

static void put_finding(page *p, const segment_list *l)
{
    if (!l->is_read) {
        html(p, "The file can be read up to byte %s of %s; what follows is not known.",
             as_grouped(l->head_end).text, as_grouped(l->size).text);
        return;
    }
    if (l->end > l->size) {
        put_truncated(p, l);
    } else if (l->announced == 0) {
        html(p, "The file has no tensors");
    } else {
        html(p, "The file is whole: ");
        put_tensors(p, l);
    }
    if (l->announced > 0)
        put_spaces(p, l);
    html(p, "; %s of it is before the data.", as_share((double)l->head_end, (double)l->size).text);
}

static void put_reading(page *p, const segment_list *l, const map_marks *marks)
{
    html(p, "Bytes from the first to the last; layers alternate between two greys.");
    if (l->end > l->size || l->gaps > 0 || !l->is_read)
        html(p, " Hatched is what is missing, unused or not read.");
    if (marks->count > 0)
        html(p, " ▲ marks findings.");
    if (file_map_end(l) < l->end)
        html(p, " The header announces bytes up to %s, which the bar leaves out.",
             as_grouped(l->end).text);
}

/* ---- a file ------------------------------------------------------------------------------------------ */

static map_marks marks_of(const report *r, size_t shard)
{
    map_marks marks = {.count = 0};

    for (size_t i = 0; i < r->model->finding_count && marks.count < 32; i++) {
        const gufo_report_finding *f = &r->model->findings[i];

        if (f->severity > GUFO_INFO && f->offset != GUFO_NO_OFFSET &&
            (f->shard == 0 || f->shard == shard + 1))
            marks.offsets[marks.count++] = f->offset;
    }
    return marks;
}

static void put_data(page *p, const segment_list *l)
{
    static const html_column columns[] = {
        {"Part", false}, {"From byte", true}, {"Bytes", true}, {NULL, false}};

    figure_data(p, "Data as a table");
    html_table(p, "Parts of the file", columns);
    for (uint64_t i = 0; i < l->count && i < MOST_SEGMENTS; i++) {
        const segment *s = &l->items[i];

        html_row(p);
        html(p, "<th scope=\"row\">");
        file_map_name(p, s);
        html(p, "%s</th>", s->end > l->size ? " (not complete)" : "");
        html_cell_quantity(p, as_grouped(s->begin).text, (double)s->begin);
        html_cell_quantity(p, as_grouped(s->end - s->begin).text, (double)(s->end - s->begin));
        html_row_end(p);
    }
    html_table_end(p);
    if (l->count > MOST_SEGMENTS)
        html(p, "<p class=\"note\">%s more are not listed.</p>",
             as_counted(l->count - MOST_SEGMENTS, "part", "parts").text);
}

static void put_file(const report *r, size_t shard)
{
    const gufo_allocator *allocator = mem_allocator(r->content->allocator);
    const map_marks marks = marks_of(r, shard);
    page *p = r->page;
    segment_list list;

    if (!segments_gather(&list, gufo_model_shard(r->facts->model, shard), allocator))
        p->failed = true;
    html(p, "<figure><figcaption><b>");
    if (gufo_model_shard_count(r->facts->model) > 1)
        html(p, "Shard %s: ", as_grouped(shard + 1).text);
    put_finding(p, &list);
    figure_reading(p);
    put_reading(p, &list, &marks);
    figure_picture(p);
    picture_file_map(p, &list, &marks, put_finding);
    put_data(p, &list);
    figure_end(p, true);
    segments_free(&list);
}

void section_file(const report *r)
{
    const size_t count = gufo_model_shard_count(r->facts->model);

    for (size_t i = 0; i < count && i < MOST_FILES && !r->page->failed; i++)
        put_file(r, i);
    if (count > MOST_FILES)
        html(r->page, "<p class=\"note\">%s more are not drawn.</p>",
             as_counted(count - MOST_FILES, "shard", "shards").text);
}

bool section_file_is_there(const report *r)
{
    return r->facts->model != NULL && !r->facts->summary.facts.is_made;
}
