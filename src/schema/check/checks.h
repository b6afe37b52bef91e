/* The checks: each looks at one thing and is a function in a file of its own. */
#ifndef GUFO_SCHEMA_CHECKS_H
#define GUFO_SCHEMA_CHECKS_H

#include "schema/check/frame.h"

void schema_check_general(checker *c);      /* general.c: values of general.* */
void schema_check_weights(checker *c);      /* weights.c: what general.* says of the tensors */
void schema_check_keys(checker *c);         /* keys.c: types, spelling, prefixes of all keys */
void schema_check_templates(checker *c);    /* chat_template.c: chat templates */
void schema_check_tokenizer(checker *c);    /* tokenizer.c: the vocabulary */
void schema_check_name(checker *c);         /* file_name.c: file name and metadata */
void schema_check_architecture(checker *c); /* architecture.c: keys of the architecture */
void schema_check_tensors(checker *c);      /* tensors.c: names, blocks, shapes, types */
void schema_check_adapter(checker *c);      /* adapter.c */
void schema_check_imatrix(checker *c);      /* imatrix.c */
void schema_check_projector(checker *c);    /* projector.c */
void schema_check_shards(checker *c);       /* shards.c: metadata of later shards */

#endif
