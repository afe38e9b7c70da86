"""Elo of all networks, and the picture of it against minutes of training."""

import math
from dataclasses import dataclass
from html import escape

from rates import named, trial
from units import SIMULATIONS

ANCHOR = "GNU Go level 10"
COLOURS = ["#b45309", "#7c3aed", "#0f766e", "#be185d", "#1d4ed8", "#4d7c0f"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 20, 76, 50


@dataclass(frozen=True)
class Rating:
    """Elo, with its 95 % interval to either side. That of a player without a point, or with all of them, is a bound:
    with it, such results have a chance of 2.5 %."""

    elo: float
    interval: float
    is_bound: bool


def ratings(documents):
    """The rating of each player by Bradley-Terry, with the results of both sides of matches at equal visits. The prior
    of each is one drawn game with the anchor, which has 0; a prior of each pair would lift whoever meets the strong."""
    matches, anchor = [], (ANCHOR, 0, 0)
    for document in named(documents, "match ").values():
        arguments, result = document["arguments"], document["result"]
        if result["games"] and "seconds" not in arguments:
            first, second = (identity(arguments[key], arguments["seed"]) for key in ("first", "second"))
            matches.append((first, second, result["points"], result["games"]))
    if not matches:
        return {}
    strength = {name: 1.0 for match in matches for name in match[:2]}
    played = {name: [sum(part) for part in zip(*(
        (points if name == first else games - points, games) for first, second, points, games in matches
        if name in (first, second)))] for name in strength}
    pairs = [*matches, *((name, anchor, 0.5, 1) for name in strength if name != anchor)]
    strength.setdefault(anchor, 1.0)
    for _ in range(2000):
        for name in strength:
            won = sum(points if name == first else games - points
                      for first, second, points, games in pairs if name in (first, second))
            weight = sum(games / (strength[first] + strength[second])
                         for first, second, _, games in pairs if name in (first, second))
            strength[name] = won / weight
    found = {}
    for name, (points, games) in played.items():
        is_bound = points in (0, games)
        own = bound(strength, matches, name, points) if is_bound else strength[name]
        found[name] = Rating(400 * math.log10(own / strength[anchor]), interval(strength, pairs, name), is_bound)
    return found


def bound(strength, matches, name, points):
    """The strength with which all games end as they did, lost or won, with a chance of 2.5 %."""
    opponents = [(strength[second if name == first else first], games)
                 for first, second, _, games in matches if name in (first, second)]
    low, high = -60.0, 60.0  # logarithms
    for _ in range(100):
        middle = (low + high) / 2
        own = math.exp(middle)
        chance = sum(games * math.log((own if points else other) / (own + other)) for other, games in opponents)
        if (chance > math.log(0.025)) == bool(points):
            high = middle
        else:
            low = middle
    return math.exp(middle)


def interval(strength, pairs, name):
    """Half of the 95 % interval, by the curvature of the likelihood, with the ratings of the others as they are."""
    weight = sum(games * strength[first] * strength[second] / (strength[first] + strength[second]) ** 2
                 for first, second, _, games in pairs if name in (first, second))
    return 1.96 / math.sqrt(weight) * 400 / math.log(10)


def identity(argument, seed):
    return argument["name"], argument["minute"], seed if argument["minute"] else 0


def picture(documents):
    """Strength against minutes: a point for each checkpoint, a line for each row and seed. None without a match."""
    rated = ratings(documents)
    curves = {}
    for name, minute, seed in sorted(rated):
        if minute:
            curves.setdefault((name, seed), []).append((minute, rated[name, minute, seed]))
    levels = {name: rating.elo for (name, minute, _), rating in rated.items() if not minute}
    every = [rating.elo + side * rating.interval * (not rating.is_bound)
             for points in curves.values() for _, rating in points for side in (-1, 1)] + list(levels.values())
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
             text(LEFT, 22, f"Elo with {SIMULATIONS} visits against minutes of training{trial(documents)}", size=15)]
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
        aside = 7 * (names.index(name) - (len(names) - 1) / 2)  # points of two rows may be at one place
        path = [f"{x(minute) + aside:.1f},{y(rating.elo):.1f}" for minute, rating in points if not rating.is_bound]
        if path:
            lines.append(f'<polyline points="{" ".join(path)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for minute, rating in points:
            px, py, fill = x(minute) + aside, y(rating.elo), "#ffffff" if rating.is_bound else colour
            if not rating.is_bound:
                ends = (y(rating.elo + side * rating.interval) for side in (1, -1))
                lines.append('<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}"/>'.format(
                    px, *ends, colour))
            lines.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{fill}" stroke="{colour}"/>')
    for index, name in enumerate(names):
        px, py = LEFT + 170 * (index % 4), 44 + 18 * (index // 4)
        lines.append(f'<circle cx="{px}" cy="{py - 4}" r="4" fill="{COLOURS[index % len(COLOURS)]}"/>')
        lines.append(text(px + 10, py, name))
    words = "minutes (logarithmic); GNU Go level 10 has 0; bars are 95 %; hollow: no point, an upper bound (97.5 %)"
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, words, "middle"))
    return "\n".join([*lines, "</svg>"]) + "\n"
