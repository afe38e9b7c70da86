"""Renders kustomizations as a cluster would get them, compares every object strictly with the schemas of the last three minor
versions of Kubernetes, and prints one JSON object: by folder, the objects. Exit code 1 and what is wrong, if anything is.

    PYTHONPATH=.venv/site python3 python/check_manifests.py k8s/overlays/cpu k8s/overlays/gpu
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import yaml

# The kubectl that scripts/setup-python installs goes before the machine's own.
SITE = Path(kubernetes_validate.__file__).resolve().parent.parent
KUBECTL = shutil.which("kubectl", path=f"{SITE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")


def main():
    if KUBECTL is None:
        sys.exit("check_manifests: there is no kubectl")
    known = dict.fromkeys(kubernetes_validate.utils.all_versions())  # each is there twice, for the strict schemas
    versions = list(known)[-3:]
    objects, problems = {}, []
    for folder in sys.argv[1:]:
        objects[folder] = render(folder)
        for found in objects[folder]:
            problems += [f"{folder}: {problem}" for version in versions for problem in problem_of(found, version)]
    if problems:
        sys.exit("\n".join(problems))
    json.dump({"versions": versions, "objects": objects}, sys.stdout)


def render(folder):
    """The objects of a kustomization."""
    answer = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"{folder} cannot be rendered: {answer.stderr.strip()}")
    return [found for found in yaml.safe_load_all(answer.stdout) if found]


def problem_of(found, version):
    """What a version of Kubernetes does not like about an object; unknown keys too."""
    name = f"{found['kind']} {found['metadata']['name']}, Kubernetes {version}"
    try:
        kubernetes_validate.validate(found, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{name}: {'.'.join(map(str, error.path))}: {error.message}"
    except kubernetes_validate.SchemaNotFoundError as error:
        yield f"{name}: {error.message}"


if __name__ == "__main__":
    main()
