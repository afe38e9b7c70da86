#!/usr/bin/env python3
"""Plays and reviews games in Chromium on inference servers and an evaluation cache: check_served.py TENGEN INFERENCE STORE FOLDER.

STORE has a run of 5x5. The only evaluator of a visitor's game is killed and restarted, and the game goes on. A game that is analysed again after a restart
of the web server is read from the cache in FOLDER.
"""

import contextlib
import re
import subprocess
import sys
import time
import urllib.request

from browser import OUTAGE, PATIENCE, Server, chromium, free_address, visitor
from games import cell, start_game, stones_are, wait_for_turn
from playwright.sync_api import expect, sync_playwright

GAME = "(;GM[1]FF[4]SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd];B[fc];W[ge];B[hc];W[dd])"


class Inference:
    """An inference server, which can be started again where it was."""

    def __init__(self, command):
        self.address, self.health = free_address(), free_address()
        self.command = [*command, "--listen", self.address, "--metrics-addr", self.health, "--device", "cpu", "--threads", "1"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command)
        deadline = time.monotonic() + PATIENCE / 1000
        while not answers(f"http://{self.health}/readyz"):
            assert self.process.poll() is None, "the inference server has ended"
            assert time.monotonic() < deadline, "the inference server is not ready"
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def evaluations(self):
        return metric(self.health, "tengen_inference_positions_total")


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=10) as reply:
            return reply.status == 200
    except OSError:
        return False


def metric(address, name):
    """The sum of a metric over its labels."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as reply:
        lines = reply.read().decode().splitlines()
    values = [line.rsplit(" ", 1)[1] for line in lines if re.match(rf"{name}(\{{.*\}})? ", line)]
    return sum(map(float, values))


def addresses_name_models_of_any_board(browser, tengen):
    """A game on the board of the model that an address names, whatever the first run of the store and the last game were."""
    server = Server([*tengen, "serve", "--device", "cpu", "--threads", "1"])
    try:
        with visitor(browser, server, "/play") as page:
            cells_are(page, 25)
            assert not wait_for_turn(page)
            cell(page, "C3").click()
            stones_are(page, 2)
            page.goto(server.url + "play?model=9x9-demo-1")
            cells_are(page, 81)
            assert not wait_for_turn(page)
            cell(page, "E5").click()
            stones_are(page, 2)
            page.reload()
            cells_are(page, 81)
            stones_are(page, 2)
            # Without a name the game goes on, and the next one is against the same model.
            page.goto(server.url + "play")
            stones_are(page, 2)
            expect(page.locator("#size")).to_have_value("9")
            page.get_by_role("button", name="Start").click()
            stones_are(page, 0)
            cells_are(page, 81)
            assert not wait_for_turn(page)
            page.goto(server.url + "play?model=nothing-7")
            expect(page.locator("#status")).to_have_text(re.compile("There is no model nothing-7"))
    finally:
        server.stop()


def cells_are(page, count):
    page.wait_for_function("count => document.querySelectorAll('#board [role=\"gridcell\"]').length === count", arg=count)


def game_survives_its_inference_server(browser, tengen, inference):
    server = Server([*tengen, "serve", "--inference", f"http://{inference.address}"])
    try:
        with visitor(browser, server, "/play?model=9x9-demo-1") as page:
            start_game(page, visits="16")
            assert not wait_for_turn(page)
            cell(page, "E5").click()
            stones_are(page, 2)
            assert inference.evaluations() > 0
            inference.kill()
            assert not wait_for_turn(page)
            free = next(vertex for vertex in ("C3", "G7") if "empty" in cell(page, vertex).get_attribute("aria-label"))
            cell(page, free).click()
            stones_are(page, 3)
            # The model's move waits for the server.
            expect(page.locator("#player-W .turn")).to_have_text(re.compile("thinking"))
            inference.start()
            stones_are(page, 4)
            assert not wait_for_turn(page)
            assert inference.evaluations() > 0
    finally:
        server.stop()


def second_analysis_is_read_from_the_cache(browser, tengen, folder):
    health = free_address()
    options = ["--device", "cpu", "--threads", "1", "--evalcache", folder, "--metrics-addr", health]
    server = Server([*tengen, "serve", *options])

    def lookups():
        return [metric(health, f"tengen_evalcache_{name}_total") for name in ("hits", "misses")]

    try:
        with visitor(browser, server, "/play/review", OUTAGE) as page:
            expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
            page.locator("#visits").fill("32")
            page.locator("#paste").fill(GAME)
            expect(page.locator("#status")).to_have_text(re.compile("10 moves"))
            page.locator("#analyse").click()
            expect(page.locator("#status")).to_have_text(re.compile("The game is analysed: 11 positions"))
            first = lookups()
            # The server publishes its evaluations when it stops.
            server.restart()
            expect(page.locator("#connection")).to_be_empty()
            assert lookups() == [0, 0], "a server counts from its start"
            page.reload()
            expect(page.locator("#status")).to_have_text(re.compile("The game is analysed: 11 positions"))
            again = lookups()
    finally:
        server.stop()
    assert first[1] > 11 * 16, f"hits and misses of the first analysis: {first}"
    assert again[0] > 11 * 16 and again[1] <= again[0] / 20, f"hits and misses of the second analysis: {again}"
    return first, again


def main():
    expect.set_options(timeout=PATIENCE)
    program, inference, store, folder = sys.argv[1:]
    tengen = [program, "--store", store]
    with sync_playwright() as playwright, contextlib.closing(chromium(playwright)) as browser:
        first, again = second_analysis_is_read_from_the_cache(browser, tengen, folder)
        addresses_name_models_of_any_board(browser, tengen)
        evaluator = Inference([inference, "--store", store])
        try:
            game_survives_its_inference_server(browser, tengen, evaluator)
        finally:
            evaluator.kill()
    print("hits and misses of the evaluation cache:", *map(int, [*first, *again]))
    print("games go on, and analyses are found")


if __name__ == "__main__":
    main()
