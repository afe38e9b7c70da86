"""Tengen, as its release build runs it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = Path(os.environ.get("TENGEN_PROGRAMS") or ROOT / "target" / "release")
NAME = "Tengen"

# Configurations that run one after the other; each begins with the last model of the one before it.
ROWS = {"9x9": {"configs": ["9x9.toml", "9x9-larger.toml"]}}

# Tengen passes where pass-alive regions decide, but the referee counts dead stones as they stand.
ON_PASS = "kgs-genmove_cleanup"
COUNTERS = {"positions": "tengen_positions_total", "evaluations": "tengen_evaluations_total",
            "updates": "tengen_train_steps_total", "examples": "tengen_train_examples_total"}


def program(name):
    return str(PROGRAMS / name)


def version():
    """The commit that the program was built from, or its version where that is not known."""
    if not Path(program("tengen")).exists():
        sys.exit(f"peers: {program('tengen')} is missing; `make peers` builds it")
    # Problems of the machine are an error of the report, and no reason to have no version.
    output = subprocess.run([program("tengen"), "doctor", "--json"], text=True, stdout=subprocess.PIPE).stdout
    report = json.loads(output)
    commit, _, dirty = (report["commit"] or "").partition("-")
    return "-".join(filter(None, [commit[:10], dirty])) or report["version"]


def bench(*arguments):
    """The cases that `tengen bench` prints."""
    output = subprocess.run([program("tengen"), "bench", *map(str, arguments), "--json"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def speed(blocks, filters, simulations, seconds, form):
    """Self-play on all cores; evaluations are without the evaluation cache's hits. Trees are not kept from move to
    move, so that each position gets as many new simulations as those of the peers."""
    network = ["--blocks", blocks, "--filters", filters, "--seconds", seconds]
    search = [f"search.visits={simulations}", "search.phases=[]", "search.reuse=false"]
    played_as = [argument for setting in search for argument in ("--set", setting)]
    with measure.PeakMemory(own=False) as memory:
        [played] = bench("selfplay", *network, *played_as)
    [without] = bench("selfplay", "--null-network", *network, *played_as)
    [trained] = bench("train", *network)
    return {"batch": played["batch"], "positions_per_s": played["positions_per_s"],
            "evaluations_per_s": played["evaluations_per_s"],
            "network_evaluations_per_s": played["network_evaluations_per_s"], "share_of_network": played["share"],
            "examples_per_s": trained["examples_per_s"],
            "search_alone_per_s": without["evaluations_per_s"],
            "selfplay_bytes": memory.bytes}


class Runs:
    """The runs of the configurations in one store, one after the other."""

    def __init__(self, settings, folder, seed):
        self.store, self.waiting = Path(folder, "store"), list(settings["configs"])
        self.seed = ["--set", f"seed={seed}"]
        self.log = open(Path(folder, "log"), "ab")
        self.process = self.name = self.metrics = None
        self.finished, self.running = dict.fromkeys(COUNTERS, 0.0), {}

    def advance(self):
        """Starts the next run when the last has finished; False when all have."""
        if self.process and self.process.poll() is None:
            return True
        if self.process and self.process.returncode:
            raise RuntimeError(f"tengen run exited with code {self.process.returncode}; see {self.log.name}")
        if not self.waiting:
            return False
        self.finished, self.running = self.counts(), {}
        config, previous = ROOT / "configs" / self.waiting.pop(0), self.newest()
        self.name = config.stem
        common = ["--store", self.store, "--run", self.name, *self.seed]
        if previous:
            arguments = ["bootstrap", *common, "--config", config, "--from", previous, "--grow"]
            subprocess.run([program("trainer"), *arguments], check=True, stdout=self.log, stderr=self.log)
        self.metrics = free_address()
        command = [program("tengen"), "run", config, *common, "--metrics-addr", self.metrics]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        return True

    def counts(self):
        """The counters of all runs so far."""
        # A run that ends meanwhile closes the connection, before its response or within it.
        with contextlib.suppress(OSError, http.client.HTTPException):
            with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=5) as response:
                text = response.read().decode()
            self.running = {name: counter(text, metric) for name, metric in COUNTERS.items()}
        return {name: self.finished[name] + self.running.get(name, 0.0) for name in COUNTERS}

    def newest(self):
        """The newest model, such as 9x9-12; None before the first."""
        numbers = [int(path.parent.name) for path in self.store.glob(f"{self.name}/models/*/model.toml")]
        return f"{self.name}-{max(numbers)}" if numbers else None

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            finally:  # it would slow down what is measured next
                self.process.kill()
        self.log.close()


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


def counter(text, name):
    """The sum of the samples of a metric."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return sum(float(value) for metric, _, value in lines if metric.partition("{")[0] == name)


def train(settings, folder, minutes, seed):
    """Runs until the last of `minutes` and notes the newest model at each. The time includes Tengen's own matches."""
    began, runs, saved, finished = time.monotonic(), Runs(settings, folder, seed), [], None
    try:
        for minute in minutes:
            while (elapsed := time.monotonic() - began) < minute * 60:
                if not runs.advance() and finished is None:
                    finished = elapsed
                counts = runs.counts()
                time.sleep(0.5)
            model = runs.newest()
            Path(folder, f"{minute}.json").write_text(json.dumps({"model": model}))
            saved.append({"minutes": elapsed / 60, "model": model, "positions": counts["positions"],
                          "updates": counts["updates"] if model else 0})
    finally:
        runs.stop()
    rates = {f"{name}_per_s": counts[name] / elapsed for name in ("positions", "evaluations", "examples")}
    return {**counts, **rates, "seconds": elapsed, "seconds_to_end": finished, "checkpoints": saved}


def networks(folder, minute):
    """What `engine` reads, relative to the folder of the training: its model and the configuration of the run."""
    run, _, number = json.loads(Path(folder, f"{minute}.json").read_text())["model"].rpartition("-")
    return [f"{minute}.json", f"store/{run}/run.toml", f"store/{run}/models/{int(number):06}"]


def engine(settings, folder, minute, visits):
    """The command of a GTP program."""
    model = json.loads(Path(folder, f"{minute}.json").read_text())["model"]
    return [program("tengen"), "gtp", "--store", str(Path(folder, "store")), "--model", model, "--visits", str(visits)]
