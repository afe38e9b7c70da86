"""Makes `table.md` and `strength.svg` of the results of complete units.

    python3 table.py RESULTS OUTPUT    # folders
"""

import sys
from pathlib import Path

from kept import described
from picture import picture
from rates import (best_seeds, inference_rates, leelaz_rates, match_rows, named, number, read, speed_rates,
                   speed_results, training_rates, trial, winner)
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
    return markdown(["network", "batch", *names, "fastest"], (
        [network, str(batch), *(number(rates.get(name)) for name in names), winner(rates)]
        for network, batch, rates in found))


def speed_table(documents):
    rows, found = [], speed_results(documents)
    for network, results in found.items():
        for other, label, rates, lowest in speed_rates(documents):
            if other == network:
                rows.append([network, label, *map(number, rates.values()), winner(rates, lowest)])
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


def training_table(documents):
    rows = []
    for name, document in named(documents, "train ").items():
        result, last = document["result"], document["result"]["checkpoints"][-1]
        rows.append([name.removeprefix("train "), number(last["minutes"]), number(result["positions"]),
                     number(result["positions_per_s"]), number(result["evaluations_per_s"]),
                     number(result["examples_per_s"]), updates(result),
                     f"{document['peak_bytes'] / 2**30:.2f}"])
    table = markdown(["row, seed", "minutes", "positions", "positions/s", "evaluations/s", "examples/s", "updates",
                      "GiB"], rows)
    best = (f"Best of {label}: {winner(best_seeds(rates, lowest), lowest)}."
            for label, rates, lowest in training_rates(documents))
    return f"{table}\n\n{wrapped(' '.join(best))}" if rows else table


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
    for document in documents.values():
        for name, version in document["versions"].items():
            found.setdefault(name, {})[version] = None
    return markdown(["program", "version"], ([name, ", ".join(found[name])] for name in PROGRAMS if name in found))


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
        wrapped("`make peers` measures Tengen beside other programs, on one machine. `experiments/peers/README.md` has "
                "settings, fairness, and the rules of the matches."),
        f"{described(machine)}, {machine['memory_gib']} GiB; {dates(documents)}.\n{busy(documents)}",
        versions_table(documents),
        *([f"![Elo against minutes of training]({image})"] if image else []),
        wrapped("Rates are of one measurement each. Those that differ by less than 5 % count as equal."),
        "## Inference, one thread, evaluations/s", inference_table(documents),
        "## Speed at equal networks and simulations", speed_table(documents),
        "## Search on 19x19, one thread", leelaz_table(documents),
        "## Training", training_table(documents),
        "## Against GNU Go, with 32 visits",
        wrapped("Intervals are of the games between these networks (95 %). Networks of other seeds would add to them."),
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
