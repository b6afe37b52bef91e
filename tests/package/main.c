/* A separate program: opens an empty model that it holds in memory. */
#include <gufo.h>
#include <stdio.h>

int main(void)
{
    static const unsigned char model[24] = "GGUF\3";
    gufo_error error;
    gufo_model *file = gufo_model_open_memory(model, sizeof model, NULL, &error);

    if (!file) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("gufo %s read GGUF version %u\n", gufo_version(),
           (unsigned)gufo_model_facts(file).version);
    gufo_model_free(file);
    return 0;
}
