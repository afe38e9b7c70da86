"""GNU Go 3.8, the opponent of known strength: it plays and does not train."""

import shutil
import subprocess

NAME = "GNU Go"
OPPONENTS = {"GNU Go level 1": {"level": 1}, "GNU Go level 10": {"level": 10}}
# It must capture dead stones and must not resign: the referee counts the board as it stands.
RULES = ["--chinese-rules", "--positional-superko", "--play-out-aftermath", "--capture-all-dead", "--never-resign"]
SETUP = ["set_random_seed {seed}"]


def path():
    return shutil.which("gnugo") or shutil.which("/usr/games/gnugo")


def missing():
    return None if path() else "apt-get install gnugo"


def version():
    return subprocess.run([path(), "--version"], text=True, capture_output=True).stdout.split()[2]


def engine(settings, folder, minute, visits):
    """The command of a GTP program; the level stands for the visits."""
    return [path(), "--mode", "gtp", "--level", str(settings["level"]), *RULES]
