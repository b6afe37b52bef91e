/* A separate program that renders a template. */
#include <gufo/template.h>
#include <stdio.h>

int main(void)
{
    gufo_error error;
    gufo_text text = {0};
    gufo_str source = gufo_str_of("Hello, {{ name }}");
    gufo_template *parsed = gufo_template_parse(source, NULL, NULL, &error);
    gufo_template_values *values = gufo_template_values_new(NULL, &error);

    if (parsed == NULL || values == NULL)
        return 1;
    if (gufo_template_values_set(values, "name", gufo_str_of("\"gufo\""), &error) != GUFO_OK ||
        gufo_template_render(parsed, values, NULL, &text, NULL, &error) != GUFO_OK)
        return 1;
    printf("%.*s\n", (int)text.len, text.data);
    gufo_text_free(&text);
    gufo_template_values_free(values);
    gufo_template_free(parsed);
    return 0;
}
