/* A separate program that writes a page about nothing. */
#include <gufo/report.h>
#include <stdio.h>

int main(void)
{
    const gufo_report_model model = {.name = {"model.gguf", 10}};
    const gufo_report_content content = {.models = &model, .model_count = 1};
    gufo_error error;
    gufo_text page = {0};

    if (gufo_report_write(&content, &page, &error) != GUFO_OK)
        return 1;
    printf("%.*s\n", (int)page.len, page.data);
    gufo_text_free(&page);
    return 0;
}
