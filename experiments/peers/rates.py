"""The numbers of complete units, as the rows of tables compare them."""

import importlib
import json
import math
import re
from pathlib import Path


def read(folder):
    """The documents of all units, by name; numbers in names are in the order of their values."""
    def order(path):
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]

    documents = (json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"), key=order))
    return {document["unit"]: document for document in documents}


def trial(documents):
    """What a title must say of the short form."""
    return ": a trial, not a result" if any(each["form"] == "short" for each in documents.values()) else ""


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


def ranked(rates, lowest=False):
    """The values with their names, the best first, without those that were not measured."""
    return sorted(((value, name) for name, value in rates.items() if value), reverse=not lowest)


EQUAL = 1.05  # rates of one measurement that are closer than this count as equal


def are_equal(first, second):
    return max(first, second) < EQUAL * min(first, second)


def winner(rates, lowest=False):
    """The name with the highest rate, or with the lowest, and by how much it leads."""
    best, *others = ranked(rates, lowest) or [(0, "–")]
    if others and are_equal(best[0], others[0][0]):
        return f"{best[1]} and {others[0][1]}, equal"
    return f"{best[1]}, {number(best[0] / others[0][0])} times {others[0][1]}" if others else best[1]


def best_seeds(rates, lowest=False):
    """The best seed of each row, of rates by row and seed."""
    best = {}
    for name, rate in rates.items():
        row = name.rpartition(" ")[0]
        best[row] = (min if lowest else max)(rate, best.get(row, rate))
    return best


def interval(points, games):
    """The 95 % interval of a share of points (Wilson)."""
    z, share = 1.96, points / games
    middle, half = share + z * z / (2 * games), z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return (middle - half) / (1 + z * z / games), (middle + half) / (1 + z * z / games)


def named(documents, prefix):
    return {name: document for name, document in documents.items() if name.startswith(prefix)}


ENGINES = {"f32": "Tengen f32", "onnxruntime": "ONNX Runtime f32", "openvino": "OpenVINO f32",
           "openvino-bf16": "OpenVINO bf16"}


def inference_rates(documents):
    """The evaluations/s of each library, by network and batch; Tengen's are in the precision of play and in f32."""
    for name, document in named(documents, "inference ").items():
        cases = document["result"]["cases"]
        for batch in sorted({case["batch"] for case in cases}):
            play, *others = [case for case in cases if case["batch"] == batch]
            rates = {f"Tengen {play['engine'].split()[0]}": play["evaluations_per_s"]}
            for case in others:
                library = ENGINES.get(case["engine"].split()[0])
                rates.update({library: case["evaluations_per_s"]} if library else {})
            yield name.split()[1], batch, rates


def with_best_of_tengen(rates):
    """Rates of libraries and the highest of Tengen's: a table compares these."""
    ours = [name for name in rates if name.startswith("Tengen")]
    best = max(ours, key=rates.get)
    return {name: rate for name, rate in rates.items() if name == best or name not in ours}


SPEEDS = {"positions_per_s": "self-play, positions/s", "evaluations_per_s": "self-play, evaluations/s",
          "share_of_network": "share of its own bare network", "examples_per_s": "training, examples/s",
          "search_alone_per_s": "search alone, evaluations/s"}


def speed_results(documents):
    """Results of the peers with a benchmark of self-play, by network and name, Tengen's first."""
    found = {tuple(name.split()[1:]): document["result"] for name, document in named(documents, "speed ").items()
             if "share_of_network" in document["result"]}
    peers = dict.fromkeys(sorted((peer for peer, _ in found), key=lambda peer: (peer != "tengen", peer)))
    names = {peer: importlib.import_module(f"peer_{peer}").NAME for peer in peers}
    return {network: {name: found.get((peer, network), {}) for peer, name in names.items()}
            for network in sorted({network for _, network in found})}


def speed_rates(documents):
    """The network, the label, the rate of each peer, and whether the lowest is best."""
    for network, results in speed_results(documents).items():
        for key, label in SPEEDS.items():
            yield network, label, {name: result.get(key) for name, result in results.items()}, False
        sizes = {name: gibibytes(result.get("selfplay_bytes")) for name, result in results.items()}
        yield network, "memory of self-play, GiB", sizes, True


def is_possible(label, rates):
    """Not where a share is above 1: the machine was faster during self-play than during the network alone."""
    return label != SPEEDS["share_of_network"] or all(rate is None or rate <= 1 for rate in rates.values())


def leelaz_rates(documents):
    """The visits/s on 19x19, by network."""
    for name, document in named(documents, "speed leelaz ").items():
        result = document["result"]
        yield name.split()[2], {"Tengen": result["tengen_visits_per_s"], "Leela Zero": result["visits_per_s"]}


def training_rates(documents):
    """The label, the number of each row and seed that made an update, and whether the lowest is best. Positions/s are
    not compared here: rows differ in the simulations of a position and in what an evaluation costs."""
    found = {name.removeprefix("train "): document for name, document in named(documents, "train ").items()
             if document["result"]["updates"]}
    if found:
        yield "memory, GiB", {name: gibibytes(each["peak_bytes"]) for name, each in found.items()}, True


def known_shares(documents):
    """The share of points of each row against a known opponent after some minutes of training, all seeds together."""
    found = {}
    for document in named(documents, "match ").values():
        arguments, result = document["arguments"], document["result"]
        first, second = arguments["first"], arguments["second"]
        if second["module"] == "peer_gnugo" and result["games"]:
            rows = found.setdefault((second["name"], first["minute"]), {})
            points, games = rows.get(first["name"], (0, 0))
            rows[first["name"]] = points + result["points"], games + result["games"]
    for (opponent, minute), rows in found.items():
        yield opponent, minute, {name: points / games for name, (points, games) in rows.items()}


def match_rows(documents, wanted):
    """A row for each pair of players; the games of all seeds count together, and visits are the mean of theirs."""
    pairs = {}
    for document in named(documents, "match ").values():
        first, second = (document["arguments"][side] for side in ("first", "second"))
        if wanted(document["arguments"]):
            pairs.setdefault((str(first["minute"]), first["name"], second["name"]), []).append(document)
    for (minute, *names), matches in pairs.items():
        played = [match for match in matches if match["result"]["games"]]
        if not played:
            reason = matches[0]["result"].get("reason", "all games void")
            yield [minute, *names, "–", reason, "–", "–", "–"]
            continue
        points, games = (sum(match["result"][key] for match in played) for key in ("points", "games"))
        # Those of a seed without a counted game, too; a match that was not played has none.
        void = sum(match["result"].get("void", 0) for match in matches)
        low, high = interval(points, games)
        ahead = "player" if low > 0.5 else "opponent" if high < 0.5 else "not decided"
        visits, seconds = ([sum(match["result"][key][side] for match in played) / len(played) for side in (0, 1)]
                           for key in ("visits", "seconds_per_move"))
        if played[0]["arguments"]["second"]["module"] == "peer_gnugo":
            visits.pop()  # its level stands for them
        text = f"{points:g} of {games} ({low:.0%}–{high:.0%})" + (f", {void} void" if void else "")
        by_seed = "; ".join(f"{match['result']['points']:g}" if match in played else "–" for match in matches)
        yield [minute, *names, " : ".join(f"{each:.0f}" for each in visits), text, by_seed,
               " : ".join(f"{each:.2g}" for each in seconds), ahead]
