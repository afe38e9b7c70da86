"""The rows of the tables that a peer won, and whether README.md says what it would take to win them."""

import re
from dataclasses import dataclass
from pathlib import Path

from rates import (are_equal, best_seeds, inference_rates, is_possible, known_shares, leelaz_rates, match_rows, number,
                   ranked, speed_rates, training_rates)

README = Path(__file__).with_name("README.md")
HEADING = "## Rows that a peer won"


@dataclass(frozen=True)
class Win:
    """A row: its kind, its name in the table, who won it, and by how much."""

    kind: str
    row: str
    winner: str
    lead: str
    explained: bool = False

    @property
    def reason(self):
        """The beginning of the paragraph in README.md."""
        return f"**{self.kind}, {self.winner}.**"


def reasons(text):
    """The beginnings of the paragraphs of that section of README.md."""
    section = text.partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\*\*.+?\.\*\*", section, re.MULTILINE))


def is_ours(name):
    return name.lower().startswith("tengen")


def contests(documents):
    """Rows with a number for each program: kind, name, numbers, and whether the lowest is best."""
    for network, batch, rates in inference_rates(documents):
        yield "inference", f"{network}, batches of {batch}", rates, False
    for network, label, rates, lowest in speed_rates(documents):
        if is_possible(label, rates):
            yield label, network, rates, lowest
    for network, rates in leelaz_rates(documents):
        yield "search on 19x19", network, rates, False
    for label, rates, lowest in training_rates(documents):
        yield f"training, {label}", "all rows", best_seeds(rates, lowest), lowest
    for opponent, minute, shares in known_shares(documents):
        yield f"points against {opponent}", f"{minute} min", shares, False


def rate_wins(documents):
    for kind, row, rates, lowest in contests(documents):
        best = min if lowest else max
        ours, theirs = ({name: rate for name, rate in rates.items() if rate and is_ours(name) == own}
                        for own in (True, False))
        if theirs:
            mine = best(ours.values(), default=None)
            for rate, winner in ranked(theirs, lowest):
                # Points are of a hundred games, and no rates of one measurement.
                is_equal = mine and not kind.startswith("points against") and are_equal(mine, rate)
                if mine is None or best(mine, rate) != mine and not is_equal:
                    lead = f"{number(rate / mine)} times Tengen's" if mine else "Tengen has none"
                    yield Win(kind, row, winner, lead)


def match_wins(documents):
    for kind, limit in (("head to head at equal visits", "visits"), ("head to head at equal time", "seconds")):
        def wanted(arguments, limit=limit):
            return limit in arguments and arguments["second"]["module"] != "peer_gnugo"

        for minute, _, second, _, points, _, _, ahead in match_rows(documents, wanted):
            if ahead == "opponent":
                yield Win(kind, f"{minute} min", second, f"Tengen has {points}")


def won(documents, readme=None):
    """The rows that a peer won. `readme` is the text of README.md."""
    known = reasons(README.read_text() if readme is None else readme)
    wins = [*rate_wins(documents), *match_wins(documents)]
    return [Win(win.kind, win.row, win.winner, win.lead, win.reason in known) for win in wins]
