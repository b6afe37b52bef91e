/* Gives a model a name and a chat template, and removes its description, in place where that is
 * safe.
 *
 *     patch_metadata FILE.gguf NAME TEMPLATE */
#include <gufo.h>
#include <stdio.h>

static gufo_status change(gufo_document *document, const char *name, const char *template,
                          gufo_error *error)
{
    gufo_status status = gufo_document_set_text(document, "general.name", name, error);

    if (status == GUFO_OK)
        status = gufo_document_set_text(document, "tokenizer.chat_template", template, error);
    if (status == GUFO_OK)
        (void)gufo_document_remove_key(document, "general.description");
    return status;
}

int main(int argc, char **argv)
{
    gufo_edit_plan done;
    gufo_status status;
    gufo_error error;
    gufo_edit *edit;

    if (argc != 4)
        return fprintf(stderr, "usage: patch_metadata FILE.gguf NAME TEMPLATE\n"), 2;
    edit = gufo_edit_open(argv[1], NULL, &error);
    if (edit == NULL)
        return fprintf(stderr, "%s: %s\n", error.file, error.message), 1;
    status = change(gufo_edit_document(edit), argv[2], argv[3], &error);
    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, NULL, NULL, &done, NULL, &error);
    if (status == GUFO_OK)
        printf("%s: %s\n", argv[1], gufo_edit_way_name(done.way));
    else
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    gufo_edit_free(edit);
    return status != GUFO_OK;
}
