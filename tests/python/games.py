"""Games on the pages for players: addresses, boards, and what visitors do."""

import json
import re
import time
import urllib.parse
from pathlib import Path

from browser import PATIENCE
from playwright.sync_api import expect


def cell(page, vertex):
    return page.locator(f'#board [role="gridcell"][aria-label^="{vertex},"]')


def stones(page):
    return page.locator('#board [aria-label*=" stone"]').count()


def stones_are(page, count):
    page.wait_for_function(
        "count => document.querySelectorAll('#board [aria-label*=\" stone\"]').length === count", arg=count
    )


def shared(size=9, moves=(), white="9x9-demo-1", **more):
    """The path of a game that another visitor shared: Black is the visitor."""
    game = {"size": size, "komi": 7, "moves": list(moves)}
    saved = {"game": game, "models": {"B": None, "W": white}, "values": [], "visits": 16, **more}
    return f"/play#game={urllib.parse.quote(json.dumps(saved))}"


def start_game(page, **fields):
    """Begins a game by the form, and waits for it: the first game of a page, which begins by itself, says the same."""
    # The form has the numbers of the model then.
    expect(page.get_by_role("button", name="Start")).to_be_enabled()
    page.locator("summary", has_text="Board, komi").click()
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        if field.evaluate("field => field instanceof HTMLSelectElement"):
            field.select_option(value)
        else:
            field.fill(value)
    # A page keeps the games of the form in its storage as soon as they begin. Its own clocks may be stopped.
    page.evaluate("() => sessionStorage.removeItem('tengen-play')")
    page.get_by_role("button", name="Start").click()
    deadline = time.monotonic() + PATIENCE / 1000
    while page.evaluate("() => sessionStorage.getItem('tengen-play')") is None:
        assert time.monotonic() < deadline, "no game began"
        page.wait_for_timeout(20)
    page.locator("summary", has_text="Board, komi").click()


def wait_for_turn(page):
    """Waits until the visitor is to play, or the game is over; whether it is over."""
    over = re.compile("wins|draw")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.turn')].some(turn => turn.textContent === 'to play')"
        " || /wins|draw/.test(document.getElementById('status').textContent)"
    )
    return over.search(page.locator("#status").text_content()) is not None


def moves_are(page, least):
    page.wait_for_function("least => Number(document.querySelector('#graph input').value) >= least", arg=least)


def saved_game(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    return Path(download.value.path()).read_text()
