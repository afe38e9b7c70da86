#!/usr/bin/env python3
"""Makes the pictures of docs/images: make_pictures.py RUN PROGRAM ARGUMENT..., the command line up to the sub-command.

RUN is a run with at least ten models in the store of the command line. It needs the libraries of the checks:

    PYTHONPATH=.venv/site tests/python/make_pictures.py 9x9 target/release/tengen --store store
"""

import contextlib
import io
import re
import sys
from pathlib import Path

from browser import PATIENCE, Server, chromium, visitor
from PIL import Image
from playwright.sync_api import expect, sync_playwright

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
WINDOW = {"width": 1280, "height": 860}
LARGEST = 150_000  # bytes
# A made-up game on 9x9 with mistakes to find.
GAME = (
    "(;GM[1]FF[4]SZ[9]KM[7]PB[Black]PW[White];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge];B[hc];W[dd];B[ed];W[ec]"
    ";B[eb];W[cc];B[db];W[fe];B[hd];W[he];B[gb];W[cb])"
)


def keep(page, name):
    picture = Image.open(io.BytesIO(page.screenshot()))
    for quality in (90, 80, 70, 60):
        picture.save(FOLDER / f"{name}.webp", quality=quality, method=6)
        if (FOLDER / f"{name}.webp").stat().st_size <= LARGEST:
            return
    raise SystemExit(f"{name}.webp has more than {LARGEST} bytes")


def run_page(browser, server, run):
    with visitor(browser, server, f"/runs/{run}", viewport=WINDOW) as page:
        expect(page.locator("#summary")).not_to_contain_text("Reading the run")
        expect(page.locator("#elo .curves path").first).to_be_attached()
        keep(page, "run")


def review_page(browser, server):
    with visitor(browser, server, "/play/review", viewport=WINDOW) as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        page.locator("#visits").fill("100")
        page.locator("#paste").fill(GAME)
        expect(page.locator("#status")).to_have_text(re.compile("20 moves"))
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        page.locator("#graph input").fill("10")
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        page.evaluate("scrollTo(0, 0)")
        keep(page, "review")


def networks_page(browser, server, run):
    with visitor(browser, server, f"/runs/{run}/networks", viewport=WINDOW, color_scheme="dark") as page:
        expect(page.locator("#maps svg").first).to_be_visible()
        page.locator("#histograms").scroll_into_view_if_needed()
        page.evaluate("document.querySelector('#histograms').scrollIntoView({ behavior: 'instant' })")
        keep(page, "networks")


def main():
    run, *command = sys.argv[1:]
    FOLDER.mkdir(exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    server = Server([*command, "serve"])
    try:
        with sync_playwright() as playwright, contextlib.closing(chromium(playwright)) as browser:
            run_page(browser, server, run)
            review_page(browser, server)
            networks_page(browser, server, run)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
