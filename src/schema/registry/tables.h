/* The numbers of rows of the tables in the registry, for who searches all of one. */
#ifndef GUFO_SCHEMA_TABLES_H
#define GUFO_SCHEMA_TABLES_H

#include <stddef.h>

size_t schema_key_count(void);
size_t schema_arch_count(void);
size_t schema_tensor_info_count(void);
size_t schema_tokenizer_model_count(void);
size_t schema_pretokenizer_count(void);
size_t schema_special_token_count(void);
size_t schema_file_type_count(void);

#endif
