"""The page of the book with table and picture, its line in the summary, and a short table in README.md.

    python3 pages.py    # of experiments/peers/full, whose units must be complete

README.md has the short table between the lines `<!-- peers -->` and `<!-- /peers -->`, if it has these lines.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # keep the checkout clean

from kept import described
from picture import ANCHOR, picture
from rates import known_shares, named, number, read, speed_results
from table import dates, markdown, render
from units import FORMS, SIMULATIONS, peer

HERE = Path(__file__).resolve().parent
FULL = HERE / "full"
PAGE, PICTURE, SUMMARY, README = "docs/guide/peers.md", "docs/images/peers.svg", "docs/SUMMARY.md", "README.md"
LINE, BEHIND = "- [Side by side](guide/peers.md)\n", "- [Evaluation and rating](guide/evaluation.md)\n"
BEGIN, END = "<!-- peers -->\n", "<!-- /peers -->\n"


def share(value):
    return "–" if value is None else f"{value:.0%}"


def short_table(documents):
    """A line for each row: speed of self-play at equal networks, strength by minute, and the last match with Tengen at
    equal time."""
    minutes, network = FORMS["full"].minutes, "{}x{}".format(*FORMS["full"].networks[0])
    home, *_ = minutes
    known = {(minute, row): points for opponent, minute, rows in known_shares(documents) if opponent == ANCHOR
             for row, points in rows.items()}
    rates, rows = speed_results(documents)[network], []
    for row in minutes:
        name, key = row.split()
        # The benchmark is of the settings `cpu`; those of an example have no rate at this network.
        rate = None if key == "example" else rates[peer(name).NAME]["evaluations_per_s"]
        duels = [each["result"] for each in named(documents, f"match {row} ").values()
                 if "seconds" in each["arguments"] and each["arguments"]["second"]["minute"] == minutes[row][-1]]
        games = sum(each["games"] for each in duels)
        lost = 1 - sum(each["points"] for each in duels if each["games"]) / games if games else None
        rows.append([row, number(rate), *(share(known.get((minute, row))) for minute in minutes[home]), share(lost)])
    head = ["program", "evaluations/s", *(f"{minute} min" for minute in minutes[home]), "against Tengen"]
    machine = next(iter(documents.values()))["machine"]
    return "\n".join([
        markdown(head, rows), "", f"![Elo against minutes of training]({PICTURE})", "",
        f"Evaluations/s of self-play with {network}, {SIMULATIONS} simulations; points against GNU Go level 10 with "
        f"{SIMULATIONS} visits per",
        "move after these minutes of training from random weights, and against Tengen after the last at equal time.",
        "[All rows, settings and the picture](docs/guide/peers.md).",
        f"{described(machine)}; {dates(documents)}.", ""])


def outputs(documents, root):
    """The contents of each file, by path."""
    summary, readme = ((root / path).read_text() for path in (SUMMARY, README))
    if LINE not in summary:
        summary = summary.replace(BEHIND, BEHIND + LINE)
    readme = readme.replace("(experiments/peers/README.md)", "(docs/guide/peers.md)")
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        readme = before + begin + short_table(documents) + end + after
    return {PAGE: render(documents, {}, "../images/peers.svg"), PICTURE: picture(documents), SUMMARY: summary,
            README: readme}


def publish(root):
    for path, text in outputs(read(FULL), root).items():
        (root / path).write_text(text)


if __name__ == "__main__":
    publish(HERE.parent.parent)
