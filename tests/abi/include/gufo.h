/* libgufo: read, check and write GGUF model files.
 *
 * This header includes those of libgufo.  Read them from the bottom up: base.h (errors,
 * strings, where bytes come from), files.h (files that a program writes itself), print.h (values as text), codec.h (element
 * types of tensors), format.h (the file itself), document.h (the description of a file to write),
 * findings.h (lists of faults and their fixes), produce.h (writing it), plan.h (writing it on many machines), schema.h (what the values
 * mean), check.h (whether a model is complete and agrees with itself), name.h (names of files),
 * summary.h (a model in a few facts), value.h (values from text), quant.h (making models smaller), target_size.h (files of a given size),
 * edit.h (changing files), compare.h (how two models differ), estimate.h (the memory that a model
 * needs), find.h (models on this machine).  digest.h (hashes and signatures) belongs to a separate
 * library. */
#ifndef GUFO_H
#define GUFO_H

#include "gufo/base.h"
#include "gufo/check.h"
#include "gufo/codec.h"
#include "gufo/compare.h"
#include "gufo/document.h"
#include "gufo/edit.h"
#include "gufo/estimate.h"
#include "gufo/files.h"
#include "gufo/find.h"
#include "gufo/findings.h"
#include "gufo/format.h"
#include "gufo/name.h"
#include "gufo/plan.h"
#include "gufo/print.h"
#include "gufo/produce.h"
#include "gufo/quant.h"
#include "gufo/schema.h"
#include "gufo/summary.h"
#include "gufo/target_size.h"
#include "gufo/value.h"

#endif
