// job_types.mjs MODULES <JOBS: compares Jobs, an array of JSON, with Kubernetes' own types, of npm's kubernetes-models.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const { Job } = await import(resolve(process.argv[2], 'kubernetes-models/batch/v1/Job.js'));
for (const job of JSON.parse(readFileSync(0, 'utf8')))
    new Job(job).validate();
