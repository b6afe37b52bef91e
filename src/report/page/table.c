/* Tables. */
#include "report/page/table.h"

#include "report/page/numbers.h"

static void begin(page *p, const char *label, const char *attribute, const html_column *columns)
{
    html(p,
         "<div class=\"tw\" role=\"group\" tabindex=\"0\" aria-label=\"%s\"><table%s><thead><tr>",
         label, attribute);
    for (const html_column *c = columns; c->head != NULL; c++)
        html(p, "<th scope=\"col\"%s>%s</th>", c->is_number ? " class=\"n\"" : "", c->head);
    html(p, "</tr></thead><tbody>\n");
}

void html_table(page *p, const char *label, const html_column *columns)
{
    begin(p, label, "", columns);
}

void html_table_numbers(page *p, const char *label, const html_column *columns)
{
    begin(p, label, " class=\"ns\"", columns);
}

void html_row(page *p)
{
    html(p, "<tr>");
}

void html_cell_name(page *p, gufo_str name)
{
    html(p, "<th scope=\"row\"><code>");
    html_text(p, name, HTML_NAME);
    html(p, "</code></th>");
}

void html_cell_text(page *p, gufo_str text)
{
    html(p, "<td>");
    html_text(p, text, HTML_NAME);
    html(p, "</td>");
}

void html_cell_word(page *p, const char *text)
{
    html(p, "<td>%s</td>", text);
}

void html_cell_number(page *p, const char *number)
{
    html(p, "<td class=\"n\">%s</td>", number);
}

void html_cell_quantity(page *p, const char *text, double value)
{
    char key[GUFO_NUMBER_SIZE];

    (void)gufo_number_f64(key, value);
    html(p, "<td class=\"n\" data-v=\"%s\">%s</td>", key, text);
}

void html_cell_measured(page *p, const char *text, double value)
{
    html(p, "<td class=\"n\" data-v=\"%s\">%s</td>", as_measured(value).text, text);
}

void html_cell(page *p, const char *classes)
{
    if (classes[0] != '\0')
        html(p, "<td class=\"%s\">", classes);
    else
        html(p, "<td>");
}

void html_cell_end(page *p)
{
    html(p, "</td>");
}

void html_row_end(page *p)
{
    html(p, "</tr>\n");
}

void html_table_end(page *p)
{
    html(p, "</tbody></table></div>");
}
