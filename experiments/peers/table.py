"""Makes `table.md` and `strength.svg` of the results of complete units.

    python3 table.py RESULTS OUTPUT    # folders
"""

import sys
from pathlib import Path

from kept import described
from peer_pgx import DUEL_GAMES
from picture import picture
from rates import (best_seeds, inference_rates, interval, is_possible, leelaz_rates, match_rows, named, number, read,
                   speed_rates, speed_results, training_rates, trial, winner, with_best_of_tengen)
from wins import won


def markdown(head, rows):
    rows = list(rows)
    if not rows:
        return "Not measured."
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def inference_table(documents):
    found = list(inference_rates(documents))
    names = list(dict.fromkeys(name for _, _, rates in found for name in rates))
    return markdown(["network", "batch", *names, "faster"], (
        [network, str(batch), *(number(rates.get(name)) for name in names), winner(with_best_of_tengen(rates))]
        for network, batch, rates in found))


def speed_table(documents):
    rows, found = [], speed_results(documents)
    for network, results in found.items():
        for other, label, rates, lowest in speed_rates(documents):
            if other == network:
                best = winner(rates, lowest) if is_possible(label, rates) else "not decided"
                rows.append([network, label, *map(number, rates.values()), best])
        batches = (str(result.get("batch", "–")) for result in results.values())
        rows.append([network, "positions in a batch", *batches, ""])
    return markdown(["network", "on all cores", *next(iter(found.values()), ()), "best"], rows)


def leelaz_table(documents):
    return markdown(["network, 19x19", "Tengen, visits/s", "Leela Zero, visits/s", "faster"], (
        [network, *map(number, rates.values()), winner(rates)] for network, rates in leelaz_rates(documents)))


def updates(result):
    """The updates of a training, or when the first would have been made."""
    first = result.get("minutes_to_first_update")
    return f"0; the first after {number(first)} minutes" if first else number(result["updates"])


def rates_by_part(checkpoints):
    """Positions/s from each checkpoint to the next one."""
    before = [{"minutes": 0, "positions": 0}, *checkpoints]
    return "; ".join(number((now["positions"] - then["positions"]) / 60 / (now["minutes"] - then["minutes"]))
                     for then, now in zip(before, checkpoints))


def training_table(documents):
    rows = []
    for name, document in named(documents, "train ").items():
        result, share = document["result"], document["share_of_others"]
        rows.append([name.removeprefix("train "), number(result["checkpoints"][-1]["minutes"]),
                     number(result["positions"]), rates_by_part(result["checkpoints"]),
                     number(result["evaluations_per_s"]), number(result["examples_per_s"]), updates(result),
                     f"{document['peak_bytes'] / 2**30:.2f}", "–" if share is None else f"{share:.1%}"])
    table = markdown(["row, seed", "minutes", "positions", "positions/s", "evaluations/s", "examples/s", "updates",
                      "GiB", "others"], rows)
    best = (f"Best of {label}: {winner(best_seeds(rates, lowest), lowest)}."
            for label, rates, lowest in training_rates(documents))
    text = ("Positions/s are those between the minutes at which a network was saved. Others: the share of the cores "
            "that other processes took. What the host of a virtual machine took is not known, and two seeds of a row "
            "may differ by it.")
    return f"{table}\n\n{wrapped(' '.join([*best, text]))}" if rows else table


def tune_table(documents):
    """The changes of settings that were tried, and the points of their networks."""
    rows = []
    for name, document in named(documents, "tune ").items():
        for duel in document["result"].get("duels", ()):
            reward = duel.get("mean_reward_against_the_best_before")
            games = duel.get("games", DUEL_GAMES)  # those of pgx tell only their mean reward
            points = duel.get("points_against_the_best_before") if reward is None else (1 + reward) / 2 * games
            change = ", ".join(f"{key} {value}" for key, value in duel["settings"].items())
            result = "–" if points is None else "{:g} of {} ({:.0%}–{:.0%})".format(
                points, games, *interval(points, games))
            kept = "yes" if points is not None and points > games / 2 else "no"
            rows.append([f"{name.split()[1]} cpu", change, result, kept])
        rates = document["result"].get("positions_per_s", {})
        fastest = max(rates, key=rates.get, default=None)
        rows += [[f"{name.split()[1]} cpu", f"games {games}", f"{number(rate)} positions/s",
                  "yes" if games == fastest else "no"] for games, rate in rates.items()]
    return markdown(["row", "instead of the row's own", "points against the best before, or rate", "better"], rows)


MATCH_HEAD = ["min", "player", "opponent", "visits", "points of the player", "by seed", "s/move", "ahead"]


def wins_table(documents):
    wins = won(documents)
    if not wins:
        return "None."
    lacking = dict.fromkeys(f"- `{win.reason}`" for win in wins if not win.explained)
    parts = [markdown(["won by", "row", "by"], ([win.winner, f"{win.kind}, {win.row}", win.lead] for win in wins)),
             f"`experiments/peers/README.md` has what it would take{', but for:' if lacking else '.'}", *lacking]
    return "\n\n".join(parts[:2] + ["\n".join(parts[2:])]).rstrip()


PROGRAMS = ("tengen", "pgx", "mctx", "jax", "open-spiel", "onnxruntime", "openvino", "GNU Go", "Leela Zero")


def versions_table(documents):
    """Units may be of several versions of a program, as they are measured on several days."""
    found = {}
    for unit, document in documents.items():
        for name, version in document["versions"].items():
            found.setdefault(name, {}).setdefault(version, {})[unit.split()[0]] = None

    rows = ([name, version, ", ".join(sorted(kinds)) if len(found[name]) > 1 else "all"]
            for name in PROGRAMS if name in found for version, kinds in found[name].items())
    return markdown(["program", "version", "units"], rows)


def dates(documents):
    days = sorted({document["date"] for document in documents.values()})
    return " to ".join(dict.fromkeys((days[0], days[-1])))


def render(documents, problems, image=None, pending=None):
    """The tables as Markdown, with the picture at the address `image`. `pending` is how many units are not measured
    yet, by part."""
    machine = next(iter(documents.values()))["machine"]
    known = lambda match: match["second"]["module"] == "peer_gnugo"
    parts = [
        f"# Side by side{trial(documents)}",
        wrapped("`make peers` runs Tengen beside other programs, on one machine. pgx is made for accelerators, and "
                "OpenSpiel for research on many games; `experiments/peers/README.md` has settings, fairness, and the "
                "rules of the matches."),
        f"{described(machine)}, {machine['memory_gib']} GiB; {dates(documents)}.\n{busy(documents)}",
        versions_table(documents),
        *([f"![Elo against minutes of training]({image})"] if image else []),
        wrapped("Rates are of one measurement each. Those that differ by less than 5 % count as equal; on a virtual "
                "machine the same program may vary by more."),
        "## Inference, one thread, evaluations/s", inference_table(documents),
        "## Speed at equal networks and simulations", speed_table(documents),
        "## Search on 19x19, one thread", leelaz_table(documents),
        "## Settings of the rows of peers, chosen here", tune_table(documents),
        wrapped("The settings of a row are its own with the last change that was better, and with the number of games "
                "at a time that was fastest. Trainings of candidates were of minutes, so intervals (95 %) are wide. "
                "`experiments/peers/README.md` has what was not tried."),
        "## Training", training_table(documents),
        "## Against GNU Go, with 32 visits",
        wrapped("Intervals are of the games between these networks (95 %, Wilson); a draw is half a point. They take "
                "games as independent, though two share an opening. Networks of other seeds would add to them."),
        markdown(MATCH_HEAD, match_rows(documents, known)),
        "## Head to head, with 32 visits each",
        markdown(MATCH_HEAD, match_rows(documents, lambda match: not known(match) and "visits" in match)),
        "## Head to head, at equal time",
        markdown(MATCH_HEAD, match_rows(documents, lambda match: "seconds" in match)),
    ]
    parts += ["## Rows that a peer won", wins_table(documents)]
    if pending:
        parts += ["## Not measured yet", markdown(["row, seed", "units"], map(list, pending.items()))]
    if problems:
        parts += ["## Not measured", markdown(["unit", "reason"], map(list, problems.items()))]
    return "\n\n".join(parts) + "\n"


def busy(documents):
    """How far the machine was from idle."""
    # A match with a network that does not exist is over at once.
    known = {name: document for name, document in documents.items()
             if document.get("share_of_others") is not None and document["result"].get("games") != 0}
    if not known:
        return "Other load on the machine was not recorded."
    share = lambda name: known[name]["share_of_others"]
    worst = max(known, key=share)
    if share(worst) < 0.05:
        return "The machine was idle otherwise."
    # An hour counts for more than a minute.
    seconds = sum(document["seconds"] for document in known.values())
    mean = sum(share(name) * known[name]["seconds"] for name in known) / seconds
    text = (f"Other processes took {100 * mean:.1f} % of the cores on average, "
            f"and {100 * share(worst):.0f} % in `{worst}`")
    timed = [name for name, document in known.items() if "visits" not in document["arguments"]]
    if worst not in timed:
        text += ", where visits are equal and time does not count"
    text += "."
    if timed and worst not in timed:
        most = max(timed, key=share)
        text += f" Where it counts, they took {100 * share(most):.0f} % at most, in `{most}`."
    return wrapped(text)


def wrapped(text, columns=118):
    import textwrap
    return textwrap.fill(text, columns, break_on_hyphens=False, break_long_words=False)


def publish(folder, output, problems=()):
    """Writes table and picture of the results in `folder` to `output`; the table."""
    documents = read(folder)
    if not documents:
        return "peers: no unit is complete"
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    drawn = picture(documents)
    text = render(documents, dict(problems), drawn and "strength.svg")
    (output / "table.md").write_text(text)
    if drawn:
        (output / "strength.svg").write_text(drawn)
    return text


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(publish(*sys.argv[1:]))
