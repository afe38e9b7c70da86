#!/usr/bin/env python3
"""Measures Tengen and its peers side by side, and writes a table and a picture.

    make peers              # the short form: a trial
    PEERS=full make peers   # the full form, half a day

Each unit of work writes one file, `target/peers/FORM/UNIT.json`, when it is complete. Run again, the command resumes
after the last complete unit. The folder also gets `table.md` and `strength.svg`, which table.py makes of these files.
TENGEN_PROGRAMS is the folder of Tengen's programs, target/release without it.
"""

import contextlib
import datetime
import hashlib
import importlib
import importlib.metadata
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # keep the checkout clean

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(1, str(ROOT / "scripts"))

import cache
import measure
import wheels


@dataclass(frozen=True)
class Form:
    """How much is measured."""

    name: str
    seconds: float  # per number of a benchmark
    networks: list  # blocks and filters
    minutes: dict  # minutes at which each row is saved; it trains until the last
    seeds: list
    games: int  # of a row and minute with an opponent, with all seeds together
    heads: int  # of the last minutes of a row, as many have matches with Tengen
    once: tuple = ()  # rows with the first seed only

    def seeds_of(self, row):
        return self.seeds[:1] if row in self.once else self.seeds

    def games_of(self, row):
        """Games of each seed, in pairs of both colours."""
        return 2 * math.ceil(self.games / (2 * len(self.seeds_of(row))))


FORMS = {
    "short": Form("short", 1.0, [(4, 32)], {
        "tengen 9x9": [1, 2], "pgx cpu": [2], "openspiel cpu": [2]}, [1], 2, 1),
    # The examples of pgx and OpenSpiel are not made for CPUs: their first update takes hours.
    "full": Form("full", 10.0, [(4, 32), (6, 64)], {
        **dict.fromkeys(["tengen 9x9", "pgx cpu", "openspiel cpu"], [5, 25, 60]),
        **dict.fromkeys(["pgx example", "openspiel example"], [5, 25])}, [1, 2], 100, 3,
        once=("pgx example", "openspiel example")),
}
TRAINED = ["tengen", "pgx", "openspiel"]  # peer_NAME.py
SIMULATIONS = 32  # of benchmarks, and of matches at equal visits
SECONDS_PER_MOVE = 0.2  # of matches at equal time
SITE_STAMP = f"{sys.implementation.cache_tag}\n{(HERE / 'requirements.txt').read_text()}"


@dataclass(frozen=True)
class Unit:
    """A piece of work: a function of a module, its arguments from earlier results, and what it needs."""

    name: str
    module: str
    function: str
    arguments: callable
    needs: tuple = ()


class Results:
    """The results of complete units."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / f"{name.replace(' ', '-')}.json"

    def has(self, name):
        return self.path(name).exists()

    def read(self, name):
        return json.loads(self.path(name).read_text())["result"]

    def write(self, name, document):
        """Publishes a result whole: an interrupted unit leaves no file."""
        partial = self.path(name).with_suffix(".partial")
        partial.write_text(json.dumps(document, indent=1) + "\n")
        partial.replace(self.path(name))


def peer(name):
    return importlib.import_module(f"peer_{name}")


def units(form, results):
    """All units of a form, in their order."""
    for blocks, filters in form.networks:
        yield Unit(f"inference {blocks}x{filters}", "inference", "measure",
                   lambda b=blocks, f=filters: {"blocks": b, "filters": f, "seconds": form.seconds})
    for name in [*TRAINED, "leelaz"]:
        for blocks, filters in form.networks:
            yield Unit(f"speed {name} {blocks}x{filters}", f"peer_{name}", "speed",
                       lambda b=blocks, f=filters: {"blocks": b, "filters": f, "simulations": SIMULATIONS,
                                                    "seconds": form.seconds, "form": form.name})
    yield Unit("tune pgx", "peer_pgx", "tune", lambda: {"form": form.name, "seconds": form.seconds,
                                                        "folder": fresh(results.folder / "tune")})

    def settings(row):
        name, key = row.split()
        return results.read("tune pgx")["settings"] if row == "pgx cpu" else peer(name).ROWS[key]

    for row, minutes in form.minutes.items():
        for seed in form.seeds_of(row):
            folder = results.folder / f"{row} {seed}".replace(" ", "-")
            yield Unit(f"train {row} {seed}", f"peer_{row.split()[0]}", "train",
                       lambda r=row, m=minutes, s=seed, f=folder: {
                           "settings": settings(r), "folder": fresh(f), "minutes": m, "seed": s},
                       ("tune pgx",) if row == "pgx cpu" else ())

    def player(row, seed, minute):
        saved = results.read(f"train {row} {seed}")["checkpoints"][form.minutes[row].index(minute)]
        return {"name": row, "module": f"peer_{row.split()[0]}", "settings": settings(row), "minute": minute,
                "folder": str(results.folder / f"{row} {seed}".replace(" ", "-")), "updates": saved["updates"]}

    def opponent(name):
        return {"name": name, "module": "peer_gnugo", "settings": peer("gnugo").OPPONENTS[name], "folder": "",
                "minute": 0}

    for row, minutes in form.minutes.items():
        for seed in form.seeds_of(row):
            for minute in minutes:
                for other in peer("gnugo").OPPONENTS:
                    yield Unit(f"match {row} {seed} {minute} {other}", "matches", "play",
                               lambda r=row, s=seed, m=minute, o=other: {
                                   "first": player(r, s, m), "second": opponent(o), "games": form.games_of(r),
                                   "seed": s, "visits": SIMULATIONS}, (f"train {row} {seed}",))
    home, *others = form.minutes
    for row in others:
        for seed in form.seeds_of(row):
            for minute in form.minutes[row][-form.heads:]:
                for limit, value in (("visits", SIMULATIONS), ("seconds", SECONDS_PER_MOVE)):
                    yield Unit(f"match {row} {seed} {minute} {home} {limit}", "matches", "play",
                               lambda r=row, s=seed, m=minute, k=limit, v=value: {
                                   "first": player(home, s, m), "second": player(r, s, m),
                                   "games": form.games_of(r), "seed": s, k: v}, (f"train {home} {seed}", f"train {row} {seed}"))


def fresh(folder):
    """A new folder for a training unit: an interrupted one begins anew, as its clock cannot resume."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return str(folder)


def missing(unit):
    """What must be installed before this unit can run, or None."""
    modules = [unit.module] + (["peer_gnugo"] if "GNU Go" in unit.name else [])
    for name in modules:
        check = getattr(importlib.import_module(name), "missing", None)
        if check and check():
            return check()
    return None


def machine():
    """What the numbers depend on."""
    model = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    flags = Path("/proc/cpuinfo").read_text()
    best = next((name for name in ("avx512_bf16", "avx512_vnni", "avx512f", "avx2") if f" {name}" in flags), "none")
    return {"processor": (model or [platform.machine()])[0], "cores": len(os.sched_getaffinity(0)),
            "instructions": best,
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)}


def foreign(results, here):
    """A machine of earlier results that is not this one, or None: one table is of one machine."""
    same = ("processor", "cores", "instructions")
    for path in results.folder.glob("*.json"):
        other = json.loads(path.read_text())["machine"]
        if any(other[key] != here[key] for key in same):
            return ", ".join(str(other[key]) for key in same)
    return None


def versions(packages):
    """Versions of Tengen, of the programs and of the pinned packages."""
    programs = {module.NAME: module.version() for module in map(peer, ("gnugo", "leelaz")) if not module.missing()}
    names = [line.partition("==")[0] for line in (HERE / "requirements.txt").read_text().splitlines() if "==" in line]
    found = {each.metadata["Name"]: each.version for each in importlib.metadata.distributions(path=[str(packages)])}
    return {"tengen": peer("tengen").version(), "python": platform.python_version(), **programs,
            **{name: found[name] for name in names if name in found}}


def site():
    """The folder of the pinned packages, one per user as that of scripts/setup-python."""
    shared = cache.cache_folder() or ROOT / "target"
    return shared / f"peers-{sys.implementation.cache_tag}-{hashlib.sha256(SITE_STAMP.encode()).hexdigest()[:12]}"


def prepare_site():
    """Installs the packages if they are missing; their folder."""
    folder = site()
    with cache.locked(folder):
        if not cache.is_whole(folder, SITE_STAMP):
            print(f"peers: installing the packages in {folder} (1 GB)", flush=True)
            cache.publish(folder, SITE_STAMP, install)
    return folder


def install(folder):
    if wheels.pip_install(folder, "--requirement", HERE / "requirements.txt"):
        sys.exit("peers: pip could not install the packages; its error is above")


def stop(process):
    """Ends a process and its descendants."""
    found = measure.tree(process.pid)
    process.terminate()
    process.wait()
    for each in found[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def run_unit(unit, results, environment):
    """Runs a unit in a process; its result, seconds, peak memory, and how busy others kept the machine."""
    arguments, began, usage = unit.arguments(), time.monotonic(), measure.Usage()
    if unit.module == "matches":  # training includes the time to compile; players of many matches need not repeat it
        environment = {**environment, "JAX_COMPILATION_CACHE_DIR": str(results.folder / "jax")}
    output, log = results.path(unit.name).with_suffix(".output"), results.path(unit.name).with_suffix(".log")
    command = [sys.executable, "-B", HERE / "worker.py", unit.module, unit.function, json.dumps(arguments), output]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=HERE, env=environment, stdout=stream, stderr=stream)
        try:
            while process.poll() is None:
                usage.sample(process.pid)
                # Samples of a long unit are rare, since reading /proc takes time from it.
                time.sleep(min(4.0, max(0.2, (time.monotonic() - began) / 10)))
        finally:
            if process.poll() is None:
                stop(process)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}; see {log}")
    document = {"unit": unit.name, "arguments": arguments, "result": json.loads(output.read_text()),
                "seconds": time.monotonic() - began, "peak_bytes": usage.peak, "share_of_others": usage.of_others()}
    output.unlink()
    return document


def run_all(todo, results, execute, about):
    """Runs the units without a result, in order. Returns those that failed or lack something, with the reason."""
    problems = {}
    for unit in todo:
        if results.has(unit.name):
            continue
        reason = next((f"needs {need}" for need in unit.needs if not results.has(need)), None) or missing(unit)
        if reason:
            problems[unit.name] = reason
            print(f"{unit.name}: skipped: {reason}", flush=True)
            continue
        print(f"{unit.name} …", flush=True)
        try:
            document = execute(unit)
        except RuntimeError as error:
            problems[unit.name] = str(error)
            print(f"{unit.name}: failed: {error}", flush=True)
            continue
        results.write(unit.name, {**document, **about})
        print(f"{unit.name}: {document['seconds']:.0f} s", flush=True)
    return problems


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "short"
    if len(sys.argv) > 2 or name not in FORMS:
        sys.exit(__doc__)
    packages, form = prepare_site(), FORMS[name]
    sys.path.append(str(packages))
    import table
    results = Results(ROOT / "target" / "peers" / name)
    path = os.pathsep.join(filter(None, [str(HERE), str(packages), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1"}
    about = {"machine": machine(), "versions": versions(packages), "form": name,
             "date": datetime.date.today().isoformat()}
    if other := foreign(results, about["machine"]):
        sys.exit(f"peers: {results.folder} has results of another machine ({other}); move it away to begin anew")
    problems = run_all(units(form, results), results, lambda unit: run_unit(unit, results, environment), about)
    print(table.publish(results.folder, results.folder, problems))
    failed = [unit for unit, reason in problems.items() if reason.startswith("exit code")]
    if failed:
        sys.exit(f"peers: failed: {', '.join(failed)}; run the command again to retry")


if __name__ == "__main__":
    # A terminated command must stop its unit as an interrupted one does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("peers: interrupted; run the command again to resume")
