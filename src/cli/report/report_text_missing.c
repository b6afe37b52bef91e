/* A build without vocabularies and templates: pages have neither. */
#include "cli/report/report_facts.h"

int report_add_text(report_store *store, gufo_report_model *shown)
{
    (void)store;
    (void)shown;
    return CODE_OK;
}

void report_free_text(report_store *store)
{
    (void)store;
}
