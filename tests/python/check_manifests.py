"""Renders kustomizations as a cluster would get them, checks every object as the API server would, and prints one JSON object: by
folder, the objects, and the same after each `kubectl patch` of docs/operations/kubernetes.md. Exit code 1 and what is wrong, if anything is.

    PYTHONPATH=.venv/site python3 tests/python/check_manifests.py k8s/overlays/cpu k8s/overlays/gpu

Checked are the strict schemas of the last three minor versions of Kubernetes, and the rules for the numbers of a Job, which no schema
contains (job_rules.py). `--document FILE` takes the patches from another file.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path

import documented_patches
import job_rules
import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parents[2]
# The kubectl that scripts/setup-python installs takes precedence over the machine's own.
SITE = Path(kubernetes_validate.__file__).resolve().parent.parent
KUBECTL = shutil.which("kubectl", path=f"{SITE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")


def main():
    if KUBECTL is None:
        sys.exit("check_manifests: there is no kubectl")
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--document", type=Path, default=ROOT / "docs" / "operations" / "kubernetes.md")
    options = parser.parse_args()
    known = dict.fromkeys(kubernetes_validate.utils.all_versions())  # each is there twice, for the strict schemas
    versions = list(known)[-3:]
    patches, problems = documented_patches.read(options.document)
    objects, patched = {}, {}
    for folder in options.folders:
        objects[folder] = render(folder)
        for found in objects[folder]:
            problems += [f"{folder}: {name_of(found)}: {problem}" for problem in problems_of(found, versions)]
        patched[folder] = []
        for patch, before, after in documented_patches.apply(patches, objects[folder]):
            wrong = [*problems_of(after, versions[-1:]), *job_rules.of_update(before, after)]
            problems += [f"{folder}: {name_of(after)} after {patch}: {problem}" for problem in wrong]
            patched[folder].append({"patch": str(patch), "object": after})
    if problems:
        sys.exit("\n".join(problems))
    json.dump({"versions": versions, "objects": objects, "patched": patched}, sys.stdout)


def render(folder):
    """The objects of a kustomization."""
    response = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True)
    if response.returncode:
        sys.exit(f"{folder} cannot be rendered: {response.stderr.strip()}")
    return [found for found in yaml.safe_load_all(response.stdout) if found]


def name_of(found):
    return f"{found['kind']} {found['metadata']['name']}"


def problems_of(found, versions):
    """What versions of Kubernetes do not like about an object; unknown keys too."""
    for version in versions:
        try:
            kubernetes_validate.validate(found, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"Kubernetes {version}: {'.'.join(map(str, error.path))}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError as error:
            yield f"Kubernetes {version}: {error.message}"
    yield from job_rules.of(found)


if __name__ == "__main__":
    main()
