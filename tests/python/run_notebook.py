#!/usr/bin/env python3
"""Runs the code cells of a notebook in their order, without Jupyter. Plots are drawn and thrown away.

    run_notebook.py FILE.ipynb
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt


def main() -> None:
    notebook = json.loads(Path(sys.argv[1]).read_text())
    shown = 0

    def show() -> None:
        nonlocal shown
        for number in plt.get_fignums():
            axes = plt.figure(number).axes
            assert axes and all(axis.has_data() for axis in axes), "a plot is empty"
            plt.figure(number).canvas.draw()
        shown += 1
        plt.close("all")

    plt.show = show
    names: dict[str, object] = {"__name__": "__main__"}
    for index, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert not cell["outputs"] and cell["execution_count"] is None, f"cell {index} has output; clear it"
            exec(compile("".join(cell["source"]), f"cell {index}", "exec"), names)
    print(f"{shown} plots")


if __name__ == "__main__":
    main()
