/* libgguf and a libggml-base in one process: `both FILE`, which is written. */
#include "both.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (ours(argv[1]) != 0 || theirs(argv[1]) != 0)
        return 1;
#ifdef HAS_CPP
    if (ours_in_cpp(argv[1]) != 0)
        return 1;
#endif
    return ours(argv[1]) != 0 || theirs(argv[1]) != 0;
}
