#!/usr/bin/env python3
"""Draws ratings against the time that learning took, on a logarithmic scale, as an SVG. Needs matplotlib.

    python3 python/plot_ladder.py docs/ladder-9x9.csv docs/ladder-9x9.svg

The table has the columns run, model, minutes, elo and error, the latter being half of the 95 % interval. Lines with the same run are
one line of the picture. The rungs are players whose ratings are given with --rung NAME=ELO; those of configs/engines/gnugo.toml
unless others are named.
"""

import argparse
import csv
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# The same file for the same table.
matplotlib.rcParams["svg.hashsalt"] = "tengen"
RUNGS = ["GNU Go 10=0", "GNU Go 0=-109", "6 of 7 moves GNU Go's=-356", "7 of 10=-608", "1 of 2=-873", "1 of 4=-1250", "Random=-1534"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("picture")
    parser.add_argument("--rung", action="append", metavar="NAME=ELO", help="a player whose rating is known")
    args = parser.parse_args()
    runs = defaultdict(list)
    with open(args.table, newline="") as file:
        for row in csv.DictReader(file):
            runs[row["run"]].append((float(row["minutes"]), float(row["elo"]), float(row["error"])))
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    for name, points in runs.items():
        minutes, elo, error = zip(*sorted(points))
        axes.errorbar(minutes, elo, yerr=error, label=name, marker="o", markersize=4, capsize=2, linewidth=1.5, elinewidth=0.8)
    for rung in args.rung or RUNGS:
        name, elo = rung.rsplit("=", 1)
        axes.axhline(float(elo), color="0.75", linestyle="--", linewidth=0.8, zorder=0)
        axes.annotate(name, (1.0, float(elo)), xycoords=("axes fraction", "data"), xytext=(-4, 2),
                      textcoords="offset points", ha="right", fontsize=8, color="0.4")
    axes.set_xlabel("minutes of learning from random weights")
    axes.set_ylabel("Elo at 100 visits; bars are 95 %")
    # Most of what is learned in hours is learned in their first minutes.
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(loc="lower center", fontsize=9)
    figure.savefig(args.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
