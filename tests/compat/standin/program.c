/* A program that calls no gguf_ function itself: `program FILE`. */
#include "llama.h"

int main(int argc, char **argv)
{
    return argc == 2 ? llama_describe(argv[1]) : 2;
}
