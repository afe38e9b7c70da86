#!/usr/bin/env python3
"""Measures Tengen and its peers side by side, and writes a table and a picture.

    make peers                          # the short form: a trial
    PEERS=full make peers               # the full form, half a day
    PEERS=full MINUTES=110 make peers   # as much of it as fits

Each unit of work is kept when it is complete: its result as `KEEP/UNIT.json`, and the networks that matches need as
`KEEP/UNIT/`. Run again, the command resumes after the last complete unit, in another checkout and on another day, too.
Units write in `target/peers/FORM`, which also gets `table.md` and `strength.svg`. table.py makes them of the results.
TENGEN_PROGRAMS is the folder of Tengen's programs, target/release without it.
"""

import argparse
import contextlib
import datetime
import fcntl
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
from pathlib import Path

sys.dont_write_bytecode = True  # keep the checkout clean

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(1, str(ROOT / "scripts"))

import cache
import kept
import measure
import wheels
from units import FORMS, peer, units

PYTHONS = (3, 11), (3, 13)  # for which all packages have wheels
SITE_STAMP = f"{sys.implementation.cache_tag}\n{(HERE / 'requirements.txt').read_text()}"


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
    cpu = measure.processor()
    known = ("avx512_bf16", "avx512_vnni", "avx512f", "avx2")
    # Processors of one name differ in speed: "AMD EPYC" may be a Zen 4 (family 25) or a Zen 5 (family 26).
    return {"processor": cpu.get("model name", platform.machine()), "family": cpu.get("cpu family"),
            "model": cpu.get("model"), "cores": len(os.sched_getaffinity(0)),
            "instructions": next((name for name in known if name in cpu.get("flags", "").split()), "none"),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)}


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
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        first, last = (".".join(map(str, version)) for version in PYTHONS)
        sys.exit(f"peers: the packages are for Python {first} to {last}, and this is {platform.python_version()}; put "
                 "another python3 first in PATH")
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
    if "folder" in arguments:  # an interrupted unit begins anew, as its clock cannot resume
        shutil.rmtree(arguments["folder"], ignore_errors=True)
        Path(arguments["folder"]).mkdir(parents=True)
    if unit.module == "matches":  # training includes the time to compile; players of many matches need not repeat it
        environment = {**environment, "JAX_COMPILATION_CACHE_DIR": str(results.folder / "jax")}
    output, log = (results.scratch(unit.name).with_suffix(suffix) for suffix in (".json", ".log"))
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
    return {"unit": unit.name, "arguments": arguments, "result": json.loads(output.read_text()),
            "seconds": time.monotonic() - began, "peak_bytes": usage.peak, "share_of_others": usage.of_others()}


def networks_of(unit, results, document):
    """What matches need of a training, relative to its folder. A network without an update plays none."""
    if unit.function != "train":
        return []
    saved = zip(document["arguments"]["minutes"], document["result"]["checkpoints"])
    found = (importlib.import_module(unit.module).networks(results.scratch(unit.name), minute)
             for minute, checkpoint in saved if checkpoint["updates"])
    return list(dict.fromkeys(path for paths in found for path in paths))


def run_all(todo, results, execute, about, minutes=math.inf):
    """Runs the units without a result, in order, but for those that would take longer than is left of the minutes.
    Returns those that failed or lack something, with the reason."""
    todo, problems, deadline = list(todo), {}, time.monotonic() + minutes * 60
    for unit in todo:
        reason = next((f"needs {need}" for need in unit.needs if not results.has(need)), None)
        if not reason and results.has(unit.name):
            keys = kept.changed(results, unit)
            if not keys:
                continue
            print(f"{unit.name}: measured with other {', '.join(keys)}", flush=True)
        if not reason and unit.minutes * 60 > deadline - time.monotonic():
            reason = f"takes about {unit.minutes} minutes, more than were left"
        if not reason and (reason := missing(unit)):
            print(f"{unit.name}: skipped: {reason}", flush=True)
        if reason:
            problems[unit.name] = reason
            continue
        print(f"{unit.name} …", flush=True)
        results.forget(unit.name)
        # Matches of another training of the same networks are none of this one.
        for later in todo:
            if unit.name in later.needs:
                results.forget(later.name)
        try:
            document = execute(unit)
        except RuntimeError as error:
            problems[unit.name] = str(error)
            print(f"{unit.name}: failed: {error}", flush=True)
            continue
        results.write(unit.name, {**document, **about}, networks_of(unit, results, document))
        print(f"{unit.name}: {document['seconds']:.0f} s", flush=True)
    return problems


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", nargs="?", choices=FORMS, default="short")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="results of complete units [default: full beside this file, or target/peers/short/kept]")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N",
                        help="begin no unit that would take longer than is left of them [default: no limit]")
    return parser.parse_args()


def main():
    asked, began = options(), time.monotonic()
    packages, form = prepare_site(), FORMS[asked.form]
    sys.path.append(str(packages))
    import pages
    import table
    keep = asked.keep or (HERE / "full" if form.name == "full" else None)
    results = kept.Results(ROOT / "target" / "peers" / form.name, keep and keep.absolute())
    lock = open(results.folder / "lock", "w")  # until the command ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"peers: another command measures in {results.folder}, and two at a time would disturb each other")
    path = os.pathsep.join(filter(None, [str(HERE), str(packages), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1"}
    about = {"machine": machine(), "versions": versions(packages), "form": form.name,
             "date": datetime.date.today().isoformat()}
    todo = list(units(form, results))
    if reason := kept.refusal(todo, results, about["machine"]):
        sys.exit(f"peers: {reason}")
    left = asked.minutes - (time.monotonic() - began) / 60
    problems = run_all(todo, results, lambda unit: run_unit(unit, results, environment), about, left)
    print(table.publish(results.kept, results.folder, problems))
    print(f"peers: {len(todo) - len(problems)} of {len(todo)} units are complete; {results.kept} has "
          f"{results.size() / 1e6:.1f} MB")
    if len(problems) < len(todo) and results.kept == pages.FULL:
        pages.publish(ROOT)
        print(f"peers: {pages.PAGE} has the table; {pages.README} has it between its marks, if it has them")
    failed = [unit for unit, reason in problems.items() if reason.startswith("exit code")]
    if failed:
        sys.exit(f"peers: failed: {', '.join(failed)}; run the command again to retry")


if __name__ == "__main__":
    # A terminated command must stop its unit as an interrupted one does, and so must one in the background of a shell,
    # which ignores interrupts otherwise.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("peers: interrupted; run the command again to resume")
