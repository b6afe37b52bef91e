"""indexed_job.py MANIFEST [FOLDER]: checks a file of Kubernetes Jobs, and runs them as the controller of Jobs does.

The file is compared with job.schema.json: the part of batch/v1 that the page uses, without other fields, and what the API
server demands of fields together.  With FOLDER every pod of every Job is then a process here: its command, in FOLDER in
place of the volume, with the environment of an index.  All Jobs of the file run at once.  Prints for every Job how its
indexes ended; without FOLDER the Jobs as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import yaml

SCHEMA = json.loads(Path(__file__).with_name("job.schema.json").read_text(encoding="utf-8"))


def action_of(spec: dict[str, Any], container: str, status: int) -> str:
    """What the first matching rule of podFailurePolicy says of an exit status; Count without one."""
    for rule in spec.get("podFailurePolicy", {}).get("rules", []):
        exits = rule.get("onExitCodes")
        if exits is None or exits.get("containerName", container) != container:
            continue
        if (status in exits["values"]) == (exits["operator"] == "In"):
            return str(rule["action"])
    return "Count"


def run_index(spec: dict[str, Any], folder: Path, index: int) -> str:
    """How an index ends: complete, FailIndex, or out of tries."""
    container = spec["template"]["spec"]["containers"][0]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert container["workingDir"] in mounts, "the command does not run in the volume"
    environment = {"PATH": os.environ["PATH"], "HOME": "/"}
    if spec.get("completionMode") == "Indexed":
        environment["JOB_COMPLETION_INDEX"] = str(index)
    failures = 0
    while failures <= spec.get("backoffLimitPerIndex", spec.get("backoffLimit", 6)):
        command = subprocess.run(container["command"], cwd=folder, env=environment, stdout=sys.stderr, check=False)
        status = command.returncode
        if status < 0:
            status = 128 - status
        if status == 0:
            return "complete"
        action = action_of(spec, container["name"], status)
        if action == "FailIndex":
            return action
        failures += action == "Count"
    return "out of tries"


def run_job(job: dict[str, Any], folder: Path) -> None:
    spec = job["spec"]
    with ThreadPoolExecutor(min(spec.get("parallelism", 1), os.cpu_count() or 1)) as pods:
        ends = pods.map(lambda index: run_index(spec, folder, index), range(spec.get("completions", 1)))
        for end, count in sorted(Counter(ends).items()):
            print(f"{job['metadata']['name']}: {count} {end}")


def main() -> None:
    jobs = list(yaml.safe_load_all(Path(sys.argv[1]).read_text(encoding="utf-8")))
    for job in jobs:
        jsonschema.validate(job, SCHEMA, jsonschema.Draft202012Validator)
    if len(sys.argv) == 2:
        print(json.dumps(jobs))
        return
    running = [threading.Thread(target=run_job, args=(job, Path(sys.argv[2]))) for job in jobs]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


if __name__ == "__main__":
    main()
