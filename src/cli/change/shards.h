/* The files of a model that is split or merged: named by the first shard, or each of them. */
#ifndef CLI_CHANGE_SHARDS_H
#define CLI_CHANGE_SHARDS_H

#include "cli/core/files/copying.h"

/* Opens the model of all arguments: a file, the first shard of a set, or all shards of a set in any
 * order.  With job->deletes, finds files whose data an interrupted run has released under their
 * other name (gufo/produce.h); sets *done after removing them if that run had done everything else.
 * Returns CODE_OK with job->model unless *done, or another code after a report. */
int shards_open(copying *job, bool *done);

/* Plans one file of what shards_open opened. */
copying_planner shards_plan_merge;

#endif
