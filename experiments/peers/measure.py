"""What a unit of work takes: its processes, their memory, and how busy other programs kept the machine."""

import contextlib
import os
import resource
import threading
import time
from pathlib import Path

SAMPLE_SECONDS = 0.5


def calls_per_second(function, seconds):
    """The rate of at least two calls after a first one, which may compile."""
    function()
    calls, began = 0, time.monotonic()
    while calls < 2 or time.monotonic() - began < seconds:
        function()
        calls += 1
    return calls / (time.monotonic() - began)


def processor():
    """What Linux says of the first core."""
    core = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    fields = (line.partition(":") for line in core.splitlines())
    return {key.strip(): value.strip() for key, _, value in fields}


def tree(root):
    """The numbers of a process and of its descendants."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def proportional_size(process):
    """Bytes of a process in memory, those it shares by its share; 0 for one that has exited."""
    with contextlib.suppress(OSError, IndexError):
        rollup = Path("/proc", str(process), "smaps_rollup").read_text()
        return int(rollup.partition("\nPss:")[2].split()[0]) * 1024
    return 0


class PeakMemory:
    """The peak proportional set size of this process and its descendants, or of these only, while a block runs."""

    def __init__(self, own=True):
        self.bytes, self.own, self.ended = 0, own, threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.ended.set()
        self.thread.join()

    def _sample(self):
        while True:
            processes = tree(os.getpid())[0 if self.own else 1:]
            self.bytes = max(self.bytes, sum(map(proportional_size, processes)))
            if self.ended.wait(SAMPLE_SECONDS):
                return


class Usage:
    """Peak memory of a process and its descendants, and the share of the cores that other processes took."""

    def __init__(self):
        self.peak, self.ticks, self.busy, self.began = 0, {}, busy_ticks(), time.monotonic()
        self.reaped = reaped_seconds()

    def sample(self, root):
        processes = tree(root)
        self.peak = max(self.peak, sum(map(proportional_size, processes)))
        for process in processes:
            with contextlib.suppress(OSError, IndexError):
                fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
                self.ticks[process] = int(fields[11]) + int(fields[12])

    def of_others(self):
        """Once the process has exited. What it and the descendants that it waited for took is known exactly then;
        samples lack the time after the last one, and have that of descendants that were killed."""
        per_second = os.sysconf("SC_CLK_TCK")
        own = max(sum(self.ticks.values()), (reaped_seconds() - self.reaped) * per_second)
        whole = (time.monotonic() - self.began) * per_second * os.cpu_count()
        return max(0.0, (busy_ticks() - self.busy - own) / whole)


def reaped_seconds():
    """Processor time of descendants that have exited and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def busy_ticks():
    """Ticks in which a core of the machine was busy."""
    user, nice, system, _, _, interrupts, soft = map(int, Path("/proc/stat").read_text().split()[1:8])
    return user + nice + system + interrupts + soft
