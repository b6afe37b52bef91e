/* One process with libgguf and a libggml-base: what the parts of the program, each compiled against
 * the headers of one of them, have. */
#ifndef STANDIN_BOTH_H
#define STANDIN_BOTH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes, reads and looks at a model at `path`; 0 if all is as it should be. */
int ours(const char *path);
int ours_in_cpp(const char *path);
int theirs(const char *path);

#ifdef __cplusplus
}
#endif

#endif
