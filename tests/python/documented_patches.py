"""The `kubectl patch` commands of a document, applied to rendered objects, so that the document and the manifests cannot drift apart."""

import json
import re
import shlex
from dataclasses import dataclass

# Numbers of workers that are put into a documented command for those that it names, one after the other.
SCALES = (4, 8, 2, 64, 1000)


@dataclass(frozen=True)
class Patch:
    namespace: str
    kind: str
    name: str
    change: dict

    def __str__(self):
        return f"kubectl -n {self.namespace} patch {self.kind} {self.name} --type=merge -p '{json.dumps(self.change)}'"

    def with_workers(self, number):
        spec = self.change["spec"]
        return Patch(self.namespace, self.kind, self.name, {"spec": {**spec, "completions": number, "parallelism": number}})

    def concerns(self, found):
        metadata = found["metadata"]
        where = found["kind"].lower(), metadata.get("namespace"), metadata["name"]
        return where == (self.kind, self.namespace, self.name)


def read(document):
    """The patches of a document, and what cannot be read in it."""
    patches, problems = [], []
    for line in document.read_text().replace("\\\n", " ").splitlines():
        if not re.search(r"\bkubectl\b.*\bpatch\b", line):
            continue
        try:
            match shlex.split(line):
                case ["kubectl", "-n", namespace, "patch", kind, name, "--type=merge", "-p", change]:
                    patches.append(Patch(namespace, kind, name, json.loads(change)))
                    continue
        except ValueError:  # no closing quotation, or no JSON
            pass
        problems.append(
            f"{document}: cannot read {line.strip()!r}; write kubectl -n NAMESPACE patch KIND NAME --type=merge -p 'JSON' on a line of its own"
        )
    return patches, problems


def apply(patches, objects):
    """Each patch with the object before and after it, one patch upon the other; a command that sets the number of workers also with others."""
    now = {id(found): found for found in objects}
    for documented in patches:
        scales = SCALES if "completions" in documented.change.get("spec", {}) else ()
        for patch in (documented, *map(documented.with_workers, scales)):
            for key, before in now.items():
                if patch.concerns(before):
                    now[key] = merged(before, patch.change)
                    yield patch, before, now[key]


def merged(value, change):
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    value = dict(value) if isinstance(value, dict) else {}
    for key, part in change.items():
        if part is None:
            value.pop(key, None)
        else:
            value[key] = merged(value.get(key), part)
    return value
