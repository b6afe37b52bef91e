/* What the examples at the beginning of public headers take for granted (`headers` compiles them). */
#include "gufo.h"
#include "gufo/digest.h"
#include "gufo/ollama.h"
#include "gufo/remote.h"
#include "gufo/report.h"

#include <stdio.h>

extern const gufo_model *model, *a, *b, *const *models;
extern gufo_document *document;
extern gufo_error error;
extern gufo_finding_fn print_finding;
extern gufo_progress_fn show;

extern const void *blocks;
extern float *values;
extern uint64_t rows, columns, tokens, layers;
extern char text[], name[GUFO_NAME_SIZE];

extern gufo_comparison result;
extern gufo_digests all;
extern gufo_estimate estimate;
extern gufo_summary summary;
extern gufo_tensor tensor;
extern gufo_text page;
extern gufo_job_options files;
extern gufo_job *job;
extern gufo_status status;
extern uint64_t missing;
extern bool done;
