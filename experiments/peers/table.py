"""Makes `table.md` and `strength.svg` of the results of complete units.

    python3 table.py RESULTS OUTPUT    # folders
"""

import importlib
import json
import math
import re
import sys
from html import escape
from pathlib import Path

from kept import described

ANCHOR = "GNU Go level 10"
COLOURS = ["#b45309", "#7c3aed", "#0f766e", "#be185d", "#1d4ed8", "#4d7c0f"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 20, 76, 50


def read(folder):
    """The documents of all units, by name; numbers in names are in the order of their values."""
    def order(path):
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]

    documents = (json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"), key=order))
    return {document["unit"]: document for document in documents}


def number(value):
    """Three significant digits, with separators."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def gibibytes(count):
    return count and count / 2**30


def markdown(head, rows):
    rows = list(rows)
    if not rows:
        return "Not measured."
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ranked(rates, lowest=False):
    """The values with their names, the best first, without those that were not measured."""
    return sorted(((value, name) for name, value in rates.items() if value), reverse=not lowest)


def winner(rates, lowest=False):
    """The name with the highest rate, or with the lowest, and by how much it leads."""
    best, *others = ranked(rates, lowest) or [(0, "–")]
    return f"{best[1]}, {number(best[0] / others[0][0])} times {others[0][1]}" if others else best[1]


def interval(points, games):
    """The 95 % interval of a share of points (Wilson)."""
    z, share = 1.96, points / games
    middle, half = share + z * z / (2 * games), z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return (middle - half) / (1 + z * z / games), (middle + half) / (1 + z * z / games)


def named(documents, prefix):
    return {name: document for name, document in documents.items() if name.startswith(prefix)}


LIBRARIES = {"onnxruntime": "ONNX Runtime f32", "openvino": "OpenVINO f32", "openvino-bf16": "OpenVINO bf16"}


def inference_rates(documents):
    """The evaluations/s of each library, by network and batch; Tengen's are in the precision of play."""
    for name, document in named(documents, "inference ").items():
        cases = document["result"]["cases"]
        for batch in sorted({case["batch"] for case in cases}):
            play, *others = [case for case in cases if case["batch"] == batch]
            rates = {f"Tengen {play['engine'].split()[0]}": play["evaluations_per_s"]}
            for case in others:
                library = LIBRARIES.get(case["engine"].split()[0])
                rates.update({library: case["evaluations_per_s"]} if library else {})
            yield name.split()[1], batch, rates


def inference_table(documents):
    found = list(inference_rates(documents))
    names = list(dict.fromkeys(name for _, _, rates in found for name in rates))
    return markdown(["network", "batch", *names, "fastest"], (
        [network, str(batch), *(number(rates.get(name)) for name in names), winner(rates)]
        for network, batch, rates in found))


SPEEDS = {"positions_per_s": "self-play, positions/s", "evaluations_per_s": "self-play, evaluations/s",
          "share_of_network": "share of its own bare network", "examples_per_s": "training, examples/s",
          "search_alone_per_s": "search alone, evaluations/s"}


def speed_table(documents):
    found = {tuple(name.split()[1:]): document["result"] for name, document in named(documents, "speed ").items()
             if "share_of_network" in document["result"]}
    names = {peer: importlib.import_module(f"peer_{peer}").NAME for peer, _ in found}
    rows = []
    for network in sorted({network for _, network in found}):
        results = {peer: found.get((peer, network), {}) for peer in names}
        for key, label in SPEEDS.items():
            rates = {names[peer]: result.get(key) for peer, result in results.items()}
            rows.append([network, label, *map(number, rates.values()), winner(rates)])
        sizes = {names[peer]: gibibytes(result.get("selfplay_bytes")) for peer, result in results.items()}
        rows.append([network, "memory of self-play, GiB", *map(number, sizes.values()), winner(sizes, lowest=True)])
        batches = (str(result.get("batch", "–")) for result in results.values())
        rows.append([network, "positions in a batch", *batches, ""])
    return markdown(["network", "on all cores", *names.values(), "best"], rows)


def leelaz_table(documents):
    rows = []
    for name, document in named(documents, "speed leelaz ").items():
        rates = {"Tengen": document["result"]["tengen_visits_per_s"], "Leela Zero": document["result"]["visits_per_s"]}
        rows.append([name.split()[2], *(number(rate) for rate in rates.values()), winner(rates)])
    return markdown(["network, 19x19", "Tengen, visits/s", "Leela Zero, visits/s", "faster"], rows)


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
    rates = {row[0]: named(documents, "train ")[f"train {row[0]}"]["result"]["positions_per_s"] for row in rows}
    table = markdown(["row, seed", "minutes", "positions", "positions/s", "evaluations/s", "examples/s", "updates",
                      "GiB"], rows)
    return f"{table}\n\nMost positions/s: {winner(rates)}." if rows else table


def player(argument):
    return f"{argument['name']}, {argument['minute']} min" if argument["minute"] else argument["name"]


def match_rows(documents, wanted):
    """A row for each pair of players; the games of all seeds count together."""
    pairs = {}
    for document in named(documents, "match ").values():
        arguments = document["arguments"]
        if wanted(arguments):
            pairs.setdefault((player(arguments["first"]), player(arguments["second"])), []).append(document)
    for (first, second), matches in pairs.items():
        played = [match for match in matches if match["result"]["games"]]
        if not played:
            yield [first, second, "–", matches[0]["result"].get("reason", "all games void"), "–", "–", "–"]
            continue
        points, games = (sum(match["result"][key] for match in played) for key in ("points", "games"))
        # Those of a seed without a counted game, too; a match that was not played has none.
        void = sum(match["result"].get("void", 0) for match in matches)
        low, high = interval(points, games)
        names = [played[0]["arguments"][key]["name"] for key in ("first", "second")]
        ahead = names[0] if low > 0.5 else names[1] if high < 0.5 else "not decided"
        of_gnugo = played[0]["arguments"]["second"]["module"] == "peer_gnugo"
        visits = dict.fromkeys(" : ".join(map(str, match["result"]["visits"][:1 if of_gnugo else 2])) for match in played)
        seconds = (sum(match["result"]["seconds_per_move"][k] for match in played) / len(played) for k in (0, 1))
        text = f"{points:g} of {games} ({low:.0%}–{high:.0%})" + (f", {void} void" if void else "")
        by_seed = "; ".join(f"{match['result']['points']:g}" if match in played else "–" for match in matches)
        yield [first, second, "; ".join(visits), text, by_seed, " : ".join(f"{each:.2f}" for each in seconds), ahead]


MATCH_HEAD = ["player", "opponent", "visits", "points of the player", "by seed", "s/move", "ahead"]


def ratings(documents):
    """Elo of each player by Bradley-Terry, with a drawn game of each pair as prior; the anchor has 0."""
    pairs = []
    for document in named(documents, "match ").values():
        arguments, result = document["arguments"], document["result"]
        if result["games"] and "seconds" not in arguments:
            first, second = (identity(arguments[key], arguments["seed"]) for key in ("first", "second"))
            pairs.append((first, second, result["points"] + 0.5, result["games"] + 1))
    strength = {name: 1.0 for pair in pairs for name in pair[:2]}
    for _ in range(2000):
        for name in strength:
            won = sum(points if name == first else games - points
                      for first, second, points, games in pairs if name in (first, second))
            weight = sum(games / (strength[first] + strength[second])
                         for first, second, _, games in pairs if name in (first, second))
            strength[name] = won / weight
    zero = strength.get((ANCHOR, 0, 0), 1.0)
    return {name: 400 * math.log10(value / zero) for name, value in strength.items()}


def identity(argument, seed):
    return argument["name"], argument["minute"], seed if argument["minute"] else 0


def picture(documents):
    """Strength against minutes: a point for each checkpoint, a line for each row and seed."""
    rated = ratings(documents)
    curves = {}
    for (name, minute, seed), elo in sorted(rated.items()):
        if minute:
            curves.setdefault((name, seed), []).append((minute, elo))
    levels = {name: elo for (name, minute, _), elo in rated.items() if not minute}
    every = [elo for points in curves.values() for _, elo in points] + list(levels.values())
    minutes = [minute for points in curves.values() for minute, _ in points]
    if not every or not minutes:
        return None
    low, high = math.floor(min(every) / 200) * 200 - 100, math.ceil(max(every) / 200) * 200 + 100
    first, last = math.log(min(minutes) / 1.3), math.log(max(minutes) * 1.3)

    def x(minute):
        return LEFT + (math.log(minute) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(elo):
        return TOP + (high - elo) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def text(px, py, words, anchor="start", colour="#1f2328", size=12):
        return (f'<text x="{px:.1f}" y="{py:.1f}" font-size="{size}" text-anchor="{anchor}" '
                f'fill="{colour}">{escape(words)}</text>')

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             'font-family="system-ui, sans-serif">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             text(LEFT, 22, f"Elo against minutes of training{trial(documents)}", size=15)]
    for elo in range(math.ceil(low / 200) * 200, high + 1, 200):
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(elo):.1f}" y2="{y(elo):.1f}" stroke="#e5e7eb"/>')
        lines.append(text(LEFT - 8, y(elo) + 4, f"{elo:+d}" if elo else "0", "end", "#59636e"))
    for name, elo in levels.items():
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(elo):.1f}" y2="{y(elo):.1f}" stroke="#59636e" '
                     'stroke-dasharray="4 4"/>')
        lines.append(text(WIDTH - RIGHT, y(elo) - 4, name, "end", "#59636e", 11))
    for minute in sorted(set(minutes)):
        lines.append(text(x(minute), HEIGHT - BOTTOM + 20, f"{minute} min", "middle", "#59636e"))
    names = sorted({name for name, _ in curves})
    for (name, _), points in sorted(curves.items()):
        colour = COLOURS[names.index(name) % len(COLOURS)]
        path = " ".join(f"{x(minute):.1f},{y(elo):.1f}" for minute, elo in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x(minute):.1f}" cy="{y(elo):.1f}" r="4" fill="{colour}"/>' for minute, elo in points]
    for index, name in enumerate(names):
        px, py = LEFT + 170 * (index % 4), 44 + 18 * (index // 4)
        lines.append(f'<circle cx="{px}" cy="{py - 4}" r="4" fill="{COLOURS[index % len(COLOURS)]}"/>')
        lines.append(text(px + 10, py, name))
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "minutes (logarithmic); GNU Go level 10 has 0", "middle"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def trial(documents):
    """What a title must say of the short form."""
    return ": a trial, not a result" if any(each["form"] == "short" for each in documents.values()) else ""


def render(documents, problems):
    """The tables as Markdown."""
    some = next(iter(documents.values()))
    machine, dates = some["machine"], sorted({document["date"] for document in documents.values()})
    named_here = ("tengen", "pgx", "mctx", "jax", "open-spiel", "onnxruntime", "openvino", "GNU Go", "Leela Zero")
    found = dict.fromkeys((name, version) for document in documents.values()
                          for name, version in document["versions"].items() if name in named_here)
    versions = ", ".join(f"{name} {version}" for name, version in found)
    known = lambda match: match["second"]["module"] == "peer_gnugo"
    parts = [
        f"# Side by side{trial(documents)}",
        f"{described(machine)}, {machine['memory_gib']} GiB; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}.\n"
        f"{wrapped('Versions: ' + versions + '.')}",
        busy(documents),
        "## Inference, one thread, evaluations/s", inference_table(documents),
        "## Speed at equal networks and simulations", speed_table(documents),
        "## Search on 19x19, one thread", leelaz_table(documents),
        "## Training", training_table(documents),
        "## Against GNU Go, at equal visits",
        markdown(MATCH_HEAD, match_rows(documents, known)),
        "## Head to head, at equal visits",
        markdown(MATCH_HEAD, match_rows(documents, lambda match: not known(match) and "visits" in match)),
        "## Head to head, at equal time",
        markdown(MATCH_HEAD, match_rows(documents, lambda match: "seconds" in match)),
    ]
    if problems:
        parts += ["## Not measured", markdown(["unit", "reason"], map(list, problems.items()))]
    return "\n\n".join(parts) + "\n"


def busy(documents):
    """How far the machine was from idle."""
    shares = {name: document.get("share_of_others") for name, document in documents.items()}
    known = {name: share for name, share in shares.items() if share is not None}
    if not known:
        return "Other load on the machine was not recorded."
    if max(known.values()) < 0.05:
        return "The machine was idle otherwise."
    worst = max(known, key=known.get)
    mean = sum(known.values()) / len(known)
    return wrapped(f"The machine was not idle: other processes took {mean:.0%} of its cores on average and "
                   f"{known[worst]:.0%} during `{worst}`. Rates are too low.")


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
    text, drawn = render(documents, dict(problems)), picture(documents)
    (output / "table.md").write_text(text)
    if drawn:
        (output / "strength.svg").write_text(drawn)
    return text


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(publish(*sys.argv[1:]))
