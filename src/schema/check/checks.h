/* The checks: each looks at one thing and is a function in a file of its own. */
#ifndef GUFO_SCHEMA_CHECKS_H
#define GUFO_SCHEMA_CHECKS_H

#include "schema/check/frame.h"

void schema_check_general(check_context *c);   /* general.c: values of general.* */
void schema_check_weights(check_context *c);   /* weights.c: what general.* says of the tensors */
void schema_check_keys(check_context *c);      /* keys.c: types, spelling, prefixes of all keys */
void schema_check_templates(check_context *c); /* chat_template.c: chat templates */
void schema_check_documents(check_context *c); /* documents.c: layouts, included tokenizers */
void schema_check_additions(check_context *c); /* additions.c: values beyond the specification */
void schema_check_tokenizer(check_context *c); /* tokenizer.c: the vocabulary */
void schema_check_name(check_context *c);      /* file_name.c: file name and metadata */
void schema_check_architecture(check_context *c); /* architecture.c: keys of the architecture */
void schema_check_tensors(check_context *c);      /* tensors.c: names, blocks, shapes, types */
void schema_check_adapter(check_context *c);      /* adapter.c */
void schema_check_base(check_context *c);         /* adapter_base.c: an adapter and its base */
void schema_check_imatrix(check_context *c);      /* imatrix.c */
void schema_check_projector(check_context *c);    /* projector.c */
void schema_check_shards(check_context *c);       /* shards.c: metadata of later shards */

#endif
