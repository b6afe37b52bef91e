/* Memory that a page points to. */
#include "cli/report/report_facts.h"

#include "cli/core/values/array.h"

#include <stdlib.h>
#include <string.h>

void *report_store_room(report_store *store, size_t count, size_t size)
{
    void **piece = array_add(&store->pieces, &store->count, sizeof *piece);

    if (piece == NULL)
        return NULL;
    *piece = calloc(count > 0 ? count : 1, size);
    if (*piece == NULL)
        (void)report_memory(NULL);
    return *piece;
}

gufo_str report_store_text(report_store *store, gufo_str text)
{
    char *copy = report_store_room(store, text.len + 1, 1);

    if (copy != NULL && text.len > 0)
        memcpy(copy, text.data, text.len);
    return (gufo_str){copy, copy != NULL ? text.len : 0};
}

void report_store_free(report_store *store)
{
    for (size_t i = 0; i < store->count; i++)
        free(store->pieces[i]);
    free(store->pieces);
    gufo_report_curves_free(store->curves);
    gufo_model_numbers_free(store->numbers);
    gufo_loss_table_free(store->losses);
    report_free_text(store);
    *store = (report_store){.pieces = NULL};
}
