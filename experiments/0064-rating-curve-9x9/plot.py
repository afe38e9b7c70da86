#!/usr/bin/env python3
"""Draw ratings.csv as rating-curve-light.svg and rating-curve-dark.svg. Needs Python only.

    python3 experiments/0064-rating-curve-9x9/plot.py

Columns: run, model, minutes of training, elo, error (half of the 95 % interval). The horizontal axis is logarithmic. Dashed lines
are the anchors of configs/engines/gnugo.toml. Runs of the removed configuration 9x9-hour are in the table alone.
"""

import csv
import math
from collections import defaultdict
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 64, 52
REMOVED = "9x9-hour"
MINUTES = (0.18, 720.0)
ELO = (-1620.0, 1180.0)
TICKS = [(0.25, "15 s"), (1, "1 min"), (4, "4 min"), (15, "15 min"), (60, "1 h"), (180, "3 h"), (600, "10 h")]
ANCHORS = [("GNU Go level 10", 0), ("GNU Go level 0", -109), ("level 0, 15 % random moves", -356), ("30 % random moves", -608),
           ("50 % random moves", -873), ("75 % random moves", -1250), ("random play", -1534)]
THEMES = {
    "light": {"ground": "#ffffff", "text": "#1f2328", "faint": "#59636e", "grid": "#d1d9e0",
              "lines": ["#b45309", "#7c3aed", "#0f766e", "#be185d", "#1d4ed8"]},
    "dark": {"ground": "#0d1117", "text": "#f0f6fc", "faint": "#9198a1", "grid": "#3d444d",
             "lines": ["#e3963e", "#b392f0", "#3fb6a8", "#f778ba", "#6cb6ff"]},
}
MARKS = ["circle", "square", "diamond", "triangle", "circle"]


def x(minutes):
    low, high = (math.log(edge) for edge in MINUTES)
    return LEFT + (math.log(minutes) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def y(elo):
    return HEIGHT - BOTTOM - (elo - ELO[0]) / (ELO[1] - ELO[0]) * (HEIGHT - TOP - BOTTOM)


def mark(kind, px, py, colour, ground):
    style = f'fill="{colour}" stroke="{ground}" stroke-width="1.5"'
    if kind == "circle":
        return f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" {style}/>'
    corners = {
        "square": [(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)],
        "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
        "triangle": [(0, -6), (5.5, 4.5), (-5.5, 4.5)],
    }[kind]
    return f'<polygon points="{" ".join(f"{px + dx:.1f},{py + dy:.1f}" for dx, dy in corners)}" {style}/>'


def text(px, py, words, colour, anchor="start", size=13, extra=""):
    return f'<text x="{px:.1f}" y="{py:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def curve(points, colour, kind, theme, width):
    """The line of one run, its intervals and its points."""
    path = " ".join(f"{x(minutes):.1f},{y(elo):.1f}" for minutes, elo, _ in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>'
    for minutes, elo, error in points:
        ends = (y(min(elo + error, ELO[1])), y(max(elo - error, ELO[0])))
        bar = f'<line x1="{x(minutes):.1f}" x2="{x(minutes):.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"'
        yield f'{bar} stroke="{colour}" stroke-width="1" stroke-opacity="0.45"/>'
    yield from (mark(kind, x(minutes), y(elo), colour, theme["ground"]) for minutes, elo, _ in points)


def axes(theme):
    for name, elo in ANCHORS:
        line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(elo):.1f}" y2="{y(elo):.1f}"'
        yield f'{line} stroke="{theme["grid"]}" stroke-dasharray="4 4"/>'
        yield text(WIDTH - RIGHT, y(elo) - 3, name, theme["faint"], "end", 11)
    for elo in range(-1500, 1001, 500):
        yield text(LEFT - 8, y(elo) + 4, f"{elo:+d}".replace("-", "−") if elo else "0", theme["faint"], "end", 12)
    bottom = HEIGHT - BOTTOM
    yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}" stroke="{theme["faint"]}"/>'
    for minutes, name in TICKS:
        yield f'<line x1="{x(minutes):.1f}" x2="{x(minutes):.1f}" y1="{bottom}" y2="{bottom + 5}" stroke="{theme["faint"]}"/>'
        yield text(x(minutes), bottom + 19, name, theme["faint"], "middle", 12)
    centre = LEFT + (WIDTH - LEFT - RIGHT) / 2
    yield text(centre, HEIGHT - 10, "training from random weights (logarithmic)", theme["text"], "middle")
    middle = (TOP + bottom) / 2
    turned = f' transform="rotate(-90 16 {middle:.1f})"'
    yield text(16, middle, "Elo at 100 visits, GNU Go level 10 = 0", theme["text"], "middle", 13, turned)


def draw(runs, theme):
    title = "Tengen on 9x9: Elo against minutes of training, with 95 % intervals"
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
           f'role="img" font-family="system-ui, sans-serif">')
    yield f"<title>{title}</title>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{theme["ground"]}"/>'
    yield text(LEFT, 24, title, theme["text"], size=15, extra=' font-weight="600"')
    yield from axes(theme)
    # The longest run is drawn last and thickest.
    for number, (name, points) in enumerate(runs):
        last = number == len(runs) - 1
        colour = theme["lines"][number % len(theme["lines"])]
        kind = MARKS[number % len(MARKS)]
        yield from curve(points, colour, kind, theme, 2.5 if last else 1.5)
        px, py = LEFT + 8 + 262 * (number % 3), 46 + 20 * (number // 3)
        yield mark(kind, px, py - 4, colour, theme["ground"])
        yield text(px + 12, py, name, theme["text"], size=12)
    yield "</svg>"


def main():
    table = defaultdict(list)
    with open(HERE / "ratings.csv", newline="") as file:
        for row in csv.DictReader(file):
            table[row["run"]].append((float(row["minutes"]), float(row["elo"]), float(row["error"])))
    runs = [(name, sorted(points)) for name, points in table.items() if not name.startswith(REMOVED)]
    runs.sort(key=lambda run: run[1][-1][0])
    for name, theme in THEMES.items():
        (HERE / f"rating-curve-{name}.svg").write_text("\n".join(draw(runs, theme)) + "\n")


if __name__ == "__main__":
    main()
