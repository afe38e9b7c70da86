"""Results of complete units, in a folder that can be kept in the repository and read on another day."""

import json
import shutil
from pathlib import Path

MACHINE = ("processor", "family", "model", "cores", "instructions")  # what must be the same within one table


class Results:
    """`folder` is where units write; `kept` has what outlives it. That is a file for each complete unit, and a folder
    with the networks of each training that matches need."""

    def __init__(self, folder, kept=None):
        self.folder, self.kept = Path(folder), Path(kept or Path(folder, "kept"))
        for each in (self.folder, self.kept):
            each.mkdir(parents=True, exist_ok=True)

    def scratch(self, name):
        """Where a unit writes, without a suffix."""
        return self.folder / name.replace(" ", "-")

    def networks(self, name):
        return self.kept / name.replace(" ", "-")

    def path(self, name):
        return self.networks(name).with_suffix(".json")

    def has(self, name):
        return self.path(name).exists()

    def document(self, name):
        return json.loads(self.path(name).read_text())

    def read(self, name):
        return self.document(name)["result"]

    def documents(self):
        return [json.loads(path.read_text()) for path in sorted(self.kept.glob("*.json"))]

    def forget(self, name):
        self.path(name).unlink(missing_ok=True)

    def write(self, name, document, networks=()):
        """Publishes a result whole and last: an interrupted unit has none. `networks` are paths in its folder."""
        target, partial = self.networks(name), self.networks(name).with_suffix(".copy")
        for folder in (target, partial):
            shutil.rmtree(folder, ignore_errors=True)
        for path in networks:
            source, copy = self.scratch(name) / path, partial / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, copy, dirs_exist_ok=True)
            else:
                shutil.copy2(source, copy)
        if networks:
            partial.rename(target)
        partial = self.path(name).with_suffix(".partial")
        partial.write_text(json.dumps(plain(document), indent=1) + "\n")
        partial.replace(self.path(name))

    def size(self):
        """Bytes of all that is kept."""
        return sum(path.stat().st_size for path in self.kept.rglob("*") if path.is_file())


def plain(value):
    """A document without records of games, which are bulky, and without folders, which differ between checkouts."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in ("records", "folder")}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def changed(results, unit):
    """The names of a unit's arguments that are not those of its result."""
    before, now = plain(results.document(unit.name)["arguments"]), plain(unit.arguments())
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def described(machine):
    """A machine in a line."""
    numbers = [f"{key} {machine[key]}" for key in ("family", "model") if machine.get(key)]
    return ", ".join([machine["processor"], *numbers, f"{machine['cores']} cores", machine["instructions"]])


def refusal(todo, results, here):
    """Why the results cannot be resumed, or None: one table is of one machine and of one form."""
    others = [document["machine"] for document in results.documents()]
    other = next((each for each in others if any(each.get(key) != here[key] for key in MACHINE)), None)
    if other:
        return (f"{results.kept} has results of another machine ({described(other)}; this is {described(here)}); "
                "name another folder with --keep")
    names, problems = {unit.name for unit in todo}, []
    for unit in todo:
        # What a unit needs and is missing is measured first; `run_all` compares the unit afterwards.
        if all(map(results.has, (unit.name, *unit.needs))) and (keys := changed(results, unit)):
            problems.append(f"{results.path(unit.name)}: measured with other {', '.join(keys)}")
    problems += [f"{results.path(document['unit'])}: no unit of this form" for document in results.documents()
                 if document["unit"] not in names]
    return "\n".join(["delete these results to measure anew:", *problems]) if problems else None
