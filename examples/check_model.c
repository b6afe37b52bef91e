/* Prints the faults of a model, and the meaning of its keys. */
#include <gufo.h>
#include <stdio.h>

static void print_finding(void *context, const gufo_finding *finding)
{
    (void)context;
    printf("%-7s %s: %s\n", gufo_severity_name(finding->rule->severity), finding->rule->id,
           finding->message);
    if (finding->hint != NULL)
        printf("        %s\n", finding->hint);
}

static void print_keys(const gufo_model *file)
{
    gufo_str architecture = {"", 0};
    gufo_entry entry;

    (void)gufo_model_get_str(file, "general.architecture", &architecture, NULL);
    for (uint64_t i = 0; gufo_model_entry_at(file, i, &entry); i++) {
        const gufo_key_info *info = gufo_key_find_str(entry.key, architecture);

        printf("%-44.*s %s\n", (int)entry.key.len, entry.key.data,
               info != NULL ? info->summary : "(not known)");
    }
}

int main(int argc, char **argv)
{
    const gufo_check_options options = {.level = GUFO_LEVEL_MODEL};
    gufo_error error;
    gufo_model *file = gufo_model_open(argc > 1 ? argv[1] : "", NULL, &error);

    if (file == NULL)
        return fprintf(stderr, "%s\n", error.message), 1;
    print_keys(file);
    if (gufo_model_check(file, print_finding, NULL, &error) != GUFO_OK ||
        gufo_model_check_content(file, &options, print_finding, NULL, &error) != GUFO_OK)
        fprintf(stderr, "%s\n", error.message);
    gufo_model_free(file);
    return 0;
}
