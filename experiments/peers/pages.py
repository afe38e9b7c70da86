"""The page of the book with table and picture, its line in the summary, and a short table in README.md.

    python3 pages.py    # of experiments/peers/full; the page says which units are not measured yet

README.md has the short table between the lines `<!-- peers -->` and `<!-- /peers -->`, if it has these lines.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # keep the checkout clean

from kept import described
from picture import ANCHOR, picture
from rates import known_shares, named, number, read, speed_results
from table import dates, markdown, render, wrapped
from units import FORMS, SIMULATIONS, peer, units

HERE = Path(__file__).resolve().parent
FULL = HERE / "full"
PAGE, PICTURE, SUMMARY, README = "docs/guide/peers.md", "docs/images/peers.svg", "docs/SUMMARY.md", "README.md"
LINE, BEHIND = "- [Side by side](guide/peers.md)\n", "- [Evaluation and rating](guide/evaluation.md)\n"
BEGIN, END = "<!-- peers -->\n", "<!-- /peers -->\n"


@dataclass
class Part:
    """The units of a row and seed, or of the benchmarks."""

    units: int = 0
    missing: int = 0


def parts(documents):
    """The parts of the full form in their order, by name."""
    found = {}
    for unit in units(FORMS["full"], None):
        kind, *words = unit.name.split()
        part = found.setdefault(" ".join(words[:3]) if kind in ("train", "match") else "benchmarks", Part())
        part.units += 1
        part.missing += unit.name not in documents
    return found


def share(value):
    return "–" if value is None else f"{100 * value:.3g}%"


def so_far(documents):
    """What a reader must know of results that are not complete."""
    found = parts(documents).values()
    total, missing = sum(part.units for part in found), sum(part.missing for part in found)
    return f"; {total - missing} of {total} measurements so far" if missing else ""


def short_table(documents, is_drawn):
    """A line for each row: speed of self-play at equal networks, strength by minute, and the last match with Tengen at
    equal time."""
    minutes, network = FORMS["full"].minutes, "{}x{}".format(*FORMS["full"].networks[0])
    home, *_ = minutes
    known = {(minute, row): points for opponent, minute, rows in known_shares(documents) if opponent == ANCHOR
             for row, points in rows.items()}
    rates, rows = speed_results(documents).get(network, {}), []
    for row in minutes:
        name, key = row.split()
        # The benchmark is of the settings `cpu`; those of an example have no rate at this network.
        rate = None if key == "example" else rates.get(peer(name).NAME, {}).get("evaluations_per_s")
        duels = [each["result"] for each in named(documents, f"match {row} ").values()
                 if "seconds" in each["arguments"] and each["arguments"]["second"]["minute"] == minutes[row][-1]]
        games = sum(each["games"] for each in duels)
        lost = 1 - sum(each["points"] for each in duels if each["games"]) / games if games else None
        rows.append([row, number(rate), *(share(known.get((minute, row))) for minute in minutes[home]), share(lost)])
    head = ["program", "evaluations/s", *(f"{minute} min" for minute in minutes[home]), "against Tengen"]
    machine = next(iter(documents.values()))["machine"]
    return "\n".join([
        markdown(head, rows), "",
        *([f"![Elo against minutes of training]({PICTURE})", ""] if is_drawn else []),
        wrapped(f"Self-play with {network} and {SIMULATIONS} simulations; points against GNU Go level 10 with "
                f"{SIMULATIONS} visits after minutes of training from random weights, and against Tengen at equal time "
                "after the last (–: no network yet). pgx is made for accelerators. "
                f"{described(machine)}; {dates(documents)}{so_far(documents)}. "
                "[All rows](docs/guide/peers.md)."), ""])


def outputs(documents, root):
    """The contents of each file, by path."""
    summary, readme = ((root / path).read_text() for path in (SUMMARY, README))
    if LINE not in summary:
        summary = summary.replace(BEHIND, BEHIND + LINE)
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    drawn = picture(documents)
    if begin and end:
        readme = before + begin + short_table(documents, bool(drawn)) + end + after
    pending = {name: f"{part.missing} of {part.units}" for name, part in parts(documents).items() if part.missing}
    found = {PAGE: render(documents, {}, drawn and "../images/peers.svg", pending), PICTURE: drawn, SUMMARY: summary,
             README: readme}
    return {path: text for path, text in found.items() if text}


def publish(root):
    for path, text in outputs(read(FULL), root).items():
        (root / path).write_text(text)


if __name__ == "__main__":
    publish(HERE.parent.parent)
