/* The bar of a file, to scale; below it the part before the data, which is thin in most. */
#include "report/pictures/file_map.h"

#include "report/page/numbers.h"
#include "report/page/svg.h"

#include "base/checked.h"

#include <stdio.h>

enum { HEIGHT = 34, TOP = 38, LABELS = 33, MOST_BEYOND = 4, MOST_LABELS = 30, MOST_CROWDED = 4 };
static const double least_width = 0.05; /* percent: thinner neighbours of one kind share a box */

uint64_t file_map_end(const segment_list *list)
{
    const uint64_t most =
        list->size < UINT64_MAX / MOST_BEYOND ? MOST_BEYOND * list->size : UINT64_MAX;

    return larger(smaller(list->end, most), 1);
}

void file_map_name(page *p, const segment *s)
{
    static const char *const names[] = {[SEGMENT_HEADER] = "header",
                                        [SEGMENT_KEY] = "",
                                        [SEGMENT_INFOS] = "tensor infos",
                                        [SEGMENT_PADDING] = "padding",
                                        [SEGMENT_LAYER] = "layer ",
                                        [SEGMENT_DATA] = "",
                                        [SEGMENT_GAP] = "gap",
                                        [SEGMENT_UNREAD] = "not read"};

    html(p, "%s", names[s->kind]);
    if (s->kind == SEGMENT_LAYER)
        html(p, "%s", as_grouped(s->layer).text);
    if (s->kind == SEGMENT_KEY || s->kind == SEGMENT_DATA)
        html_text(p, s->name, HTML_NAME);
    if (s->count > 1 && (s->kind == SEGMENT_KEY || s->kind == SEGMENT_DATA))
        html(p, " and %s", as_counted(s->count - 1, "other", "others").text);
    else if (s->count > 0 && s->kind == SEGMENT_LAYER)
        html(p, ", %s", as_counted(s->count, "tensor", "tensors").text);
}

/* A stretch of bytes as a bar. */
typedef struct map_bar {
    double begin, bytes; /* that fill the width */
    double y;
    uint64_t size; /* of the file: what is behind is missing */
    size_t boxes;  /* so far */
    bool enlarged;
} map_bar;

static double place_of(const map_bar *bar, uint64_t byte)
{
    double at = 100 * ((double)byte - bar->begin) / bar->bytes;

    return at < 0 ? 0 : at > 100 ? 100 : at;
}

/* ---- boxes ---------------------------------------------------------------------------------------- */

static const char *color_of(const map_bar *bar, const segment *s)
{
    static const char *const keys[] = {"s0", "s3", "s1", "s2", "s4", "s5"};

    switch (s->kind) {
    case SEGMENT_HEADER:
        return "s6";
    case SEGMENT_KEY:
        return bar->enlarged ? keys[bar->boxes % 6] : "s0";
    case SEGMENT_INFOS:
        return bar->enlarged ? "s6" : "s1";
    case SEGMENT_PADDING:
        return "pad";
    case SEGMENT_LAYER:
        return s->layer % 2 == 0 ? "d1" : "d2";
    case SEGMENT_DATA:
        return "d0";
    case SEGMENT_GAP:
        return "gone";
    case SEGMENT_UNREAD:
        return "gone";
    }
    return "";
}

/* Letters inside a box that has room for them. */
static void put_inside(page *p, const map_bar *bar, const segment *s, svg_box box)
{
    const gufo_str name = s->kind == SEGMENT_INFOS ? gufo_str_of("tensor infos") : s->name;
    const char *room = svg_room(12 + 7.2 * (double)smaller(name.len, HTML_LABEL), box.width);
    char classes[24];

    if (room == NULL || (s->count > 1 && s->kind != SEGMENT_INFOS) ||
        (s->kind != SEGMENT_KEY && s->kind != SEGMENT_DATA && s->kind != SEGMENT_INFOS))
        return;
    (void)snprintf(classes, sizeof classes, "w b%s", room);
    svg_text_begin(p, box.x, box.y + 21, 6, classes);
    html_text(p, bar->enlarged || s->kind != SEGMENT_INFOS ? name : gufo_str_of("infos"),
              HTML_LABEL);
    svg_text_end(p);
}

static void put_title(page *p, const segment *s)
{
    file_map_name(p, s);
    html(p, ": from byte %s, %s", as_grouped(s->begin).text, as_bytes(s->end - s->begin).text);
}

static void put_box(page *p, map_bar *bar, const segment *s)
{
    const double x = place_of(bar, s->begin), end = place_of(bar, s->end);
    const double file = place_of(bar, bar->size);
    svg_box box = {x, end - x, bar->y, HEIGHT};

    if (end <= x)
        return;
    if (box.width < least_width)
        box.width = least_width;
    if (x < file) {
        svg_box there = box;

        there.width = end > file ? file - x : box.width;
        svg_rect_titled(p, there, color_of(bar, s));
        put_title(p, s);
        svg_titled(p, "rect");
        put_inside(p, bar, s, there);
    }
    if (end > file && s->kind != SEGMENT_GAP) {
        svg_box missing = {x > file ? x : file, 0, bar->y, HEIGHT};

        missing.width = end - missing.x;
        svg_rect_titled(p, missing, "gone");
        html(p, "missing: ");
        put_title(p, s);
        svg_titled(p, "rect");
    }
    bar->boxes++;
}

/* Segments of several kinds that nobody could see beside each other. */
typedef struct map_crowd {
    double begin;
    unsigned boxes; /* that begin there */
} map_crowd;

/* Whether a segment joins the one before it: too thin for a box of its own, and of the same kind, or one of a crowd. */
static bool joins(const map_bar *bar, const map_crowd *crowd, const segment *before,
                  const segment *s)
{
    const double end = place_of(bar, s->end);

    return (s->kind == before->kind && end - place_of(bar, before->begin) < least_width) ||
           (crowd->boxes >= MOST_CROWDED && end - crowd->begin < least_width);
}

static void count_crowd(map_crowd *crowd, double begin)
{
    if (crowd->boxes == 0 || begin - crowd->begin >= least_width)
        *crowd = (map_crowd){.begin = begin};
    crowd->boxes++;
}

static void put_boxes(page *p, map_bar *bar, const segment *items, uint64_t count)
{
    segment joined = {.count = 0};
    map_crowd crowd = {.boxes = 0};

    for (uint64_t i = 0; i < count && !p->failed; i++) {
        const segment *s = &items[i];

        if (i > 0 && joins(bar, &crowd, &joined, s)) {
            joined.end = s->end;
            joined.count += s->kind == joined.kind ? s->count : 0;
            continue;
        }
        if (i > 0)
            put_box(p, bar, &joined);
        joined = *s;
        count_crowd(&crowd, place_of(bar, s->begin));
    }
    if (count > 0)
        put_box(p, bar, &joined);
}

/* ---- bars ----------------------------------------------------------------------------------------- */

/* Numbers of layers above them, so many that they do not touch. */
static void put_layers(page *p, const map_bar *bar, const segment_list *l)
{
    double last = -100;

    for (uint64_t i = l->head; i < l->count; i++) {
        const segment *s = &l->items[i];
        const double middle = (place_of(bar, s->begin) + place_of(bar, s->end)) / 2;

        if (s->kind != SEGMENT_LAYER || middle < last + 100.0 / MOST_LABELS || middle > 99)
            continue;
        if (s->layer % 5 != 0 && l->count - l->head > MOST_LABELS)
            continue;
        svg_label(p, middle, LABELS, 0, "ax c", as_grouped(s->layer).text);
        last = middle;
    }
}

static void put_marks(page *p, const map_bar *bar, const map_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        svg_label(p, place_of(bar, marks->offsets[i]), TOP + HEIGHT + 13, 0, "bad c b", "▲");
}

/* The line where the file ends before its data does. */
static void put_cut(page *p, const map_bar *bar, const segment_list *l)
{
    const double x = place_of(bar, l->size);

    if (l->end <= l->size)
        return;
    svg_line(p, x, TOP - 6, x, TOP + HEIGHT + 6, "cut");
    svg_text_begin(p, x, TOP + HEIGHT + 20, x > 60 ? -4 : 4, x > 60 ? "bad b e" : "bad b");
    html(p, "the file ends at byte %s", as_grouped(l->size).text);
    svg_text_end(p);
}

static void put_whole(page *p, const segment_list *l, const map_marks *marks)
{
    map_bar bar = {.bytes = (double)file_map_end(l), .y = TOP, .size = l->size};

    svg_label(p, 0, 14, 0, "ink b", "Whole file, to scale");
    svg_label(p, 100, 14, 0, "ax e", as_bytes(file_map_end(l)).text);
    put_boxes(p, &bar, l->items, l->count);
    put_layers(p, &bar, l);
    put_marks(p, &bar, marks);
    put_cut(p, &bar, l);
}

enum { SECOND = 132 };

static void put_beginning(page *p, const segment_list *l)
{
    map_bar bar = {
        .bytes = (double)larger(l->head_end, 1), .y = SECOND, .size = l->size, .enlarged = true};

    svg_label(p, 0, SECOND - 8, 0, "ink b", "What is before the data");
    svg_label(p, 100, SECOND - 8, 0, "ax e", as_bytes(l->head_end).text);
    put_boxes(p, &bar, l->items, l->head);
}

/* Where the beginning is most of the file, it needs no bar of its own. */
static bool is_thin(const segment_list *l)
{
    return l->head_end > 0 && l->head_end < file_map_end(l) / 2;
}

void picture_file_map(page *p, const segment_list *list, const map_marks *marks,
                      void (*describe)(page *p, const segment_list *list))
{
    html(p, "<div class=\"cq\">");
    svg_begin(p, &(svg_frame){.title = "File map",
                              .height = is_thin(list) ? SECOND + HEIGHT : TOP + HEIGHT + 20,
                              .top = 4,
                              .bottom = 10});
    describe(p, list);
    svg_described(p);
    put_whole(p, list, marks);
    if (is_thin(list))
        put_beginning(p, list);
    svg_end(p);
    html(p, "</div>");
}
