#!/usr/bin/env python3
"""Reads the pages of runs in Chromium: check_pages.py CONFIG PROGRAM ARGUMENT..., the command line up to the sub-command.

It trains two runs of the configuration, watches the first meanwhile, and opens every kind of page at three widths, in light and dark.
With TENGEN_SCREENS, a folder, it keeps screenshots.
"""

import contextlib
import itertools
import re
import subprocess
import sys
import tempfile
import time

import duckdb
import run_pages
from browser import PATIENCE, SOCKET, Server, accessible, chromium, screen, visitor
from playwright.sync_api import expect, sync_playwright

# With so many visits a page can be seen to follow a run. It is stopped, so it has more models than a slow browser waits for.
SLOW = ["--set", "loop.models=1000", "--set", "search.visits=256"]
# The pages are followed until another one is there, and the checks of run_pages.py need four.
MODELS = 3
PAGES = {
    "runs": "/",
    "run": "/runs/one",
    "models": "/runs/one/models",
    "model": "/runs/one/models/2",
    "network": "/runs/one/models/2/network?against=1",
    "networks": "/runs/one/networks",
    "games": "/runs/one/games",
    "live": "/runs/one/live",
    "matches": "/runs/one/matches",
    "openings": "/runs/one/openings",
    "config": "/runs/one/config",
    "compare": "/compare?run=one&run=two",
    "missing": "/runs/none",
    "watch": "/play/watch?run=one",
    "book": "/book",
}
# No page of a run, or one with a board that scripts draw.
NEED_MORE = ("missing", "watch")


class Training:
    """A run that serves its pages while it trains."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = next(line for line in self.process.stdout if "pages of the run: " in line)
        self.url, _, self.path = line.split("pages of the run: ")[1].strip().partition("/runs/")

    def stop(self):
        self.process.terminate()
        self.process.communicate()


def run_is_watched_from_its_first_model(browser, training):
    """The page shows one model after the other, and is never loaded again; returns what it showed."""
    with visitor(browser, training, f"/runs/{training.path}") as page:
        page.evaluate("window.loadedOnce = true")
        # A part with the focus is not replaced while it is read, but when the focus leaves it.
        expect(page.locator("#elo summary").first).to_be_attached()
        page.locator("#elo summary").first.click()
        seen = []
        # A slow browser may see the first model late.
        while len(seen) < 2 or seen[-1] < MODELS:
            newest = "() => Number([...document.querySelectorAll('#summary dt')].find(of => of.textContent.startsWith('models'))?.nextSibling.textContent ?? 0)"
            page.wait_for_function(f"last => ({newest})() > last", arg=seen[-1] if seen else 0)
            seen.append(page.evaluate(newest))
        assert page.evaluate("window.loadedOnce"), "the page was loaded again"
        rows = page.locator("#elo table tbody tr")
        before = rows.count()
        page.evaluate("document.activeElement.blur()")
        page.wait_for_function("before => document.querySelectorAll('#elo table tbody tr').length > before", arg=before)
        expect(page.locator("#elo .curves path").first).to_be_attached()
        return seen


def boards_stay_without_a_network(page):
    """A reading that fails removes nothing. What came just before may have no boards, and then it is tried again."""
    boards = page.locator("#live section")
    while True:
        expect(boards.first).to_be_visible()
        with page.expect_event("requestfailed"):
            page.context.set_offline(True)
        if boards.count():
            return
        page.context.set_offline(False)


def game_is_watched_as_it_is_played(browser, training):
    """A board shows the next moves, and the page is never loaded again."""
    with visitor(browser, training, f"/runs/{training.path}/live", ("ERR_INTERNET_DISCONNECTED",)) as page:
        page.evaluate("window.loadedOnce = true")
        game = "() => /game (\\d+), move (\\d+)/.exec(document.querySelector('#live section')?.textContent ?? '')?.slice(1).map(Number)"
        # What was found is compared: a page that is read again while a model is trained has no board.
        before = page.wait_for_function(game).json_value()
        page.wait_for_function(f"before => {{ const now = ({game})(); return now && (now[0] !== before[0] || now[1] > before[1]) }}", arg=before)
        assert page.evaluate("window.loadedOnce"), "the page was loaded again"
        boards_stay_without_a_network(page)
        accessible(page)
        screen(page, "live-game")


# Pages of a run that trains, with what changes on them when there is another model.
FOLLOWED = {
    "/": "#runs tbody td:nth-of-type(4)",
    "/runs/one/models": "#models tbody th",
    "/runs/one/games": "#found tbody td",
    "/runs/one/openings": "#tree .choices a:last-of-type",
    "/runs/one/networks": "#networks tbody tr:last-of-type td",
}


def pages_follow_the_run(browser, training):
    """All pages of what grows show the next model, and none of them is loaded again."""
    with contextlib.ExitStack() as open_pages:
        pages = {path: open_pages.enter_context(visitor(browser, training, path, ("503",))) for path in FOLLOWED}
        before = {}
        for path, page in pages.items():
            page.evaluate("window.loadedOnce = true")
            before[path] = page.locator(FOLLOWED[path]).first.text_content()
        # What a reader has done stays, and a page that could not be read once is read again.
        pages["/"].get_by_label("compare one").check()
        models = pages["/runs/one/models"]
        models.set_viewport_size({"width": 360, "height": 740})
        models.evaluate("() => { const table = document.querySelector('#models .scroll'); table.scrollLeft = 60; table.focus() }")
        networks = pages["/runs/one/networks"]
        with networks.expect_response(lambda response: response.status == 503):
            networks.route("**/runs/one/networks", lambda route: route.fulfill(status=503), times=1)
        # It may have changed before the reading that failed.
        before["/runs/one/networks"] = networks.locator(FOLLOWED["/runs/one/networks"]).first.text_content()
        for path, page in pages.items():
            changed = "([at, before]) => { const now = document.querySelector(at); return now && now.textContent !== before }"
            page.wait_for_function(changed, arg=[FOLLOWED[path], before[path]])
            assert page.evaluate("window.loadedOnce"), f"{path} was loaded again"
        expect(pages["/"].get_by_label("compare one")).to_be_checked()
        kept = "() => { const table = document.querySelector('#models .scroll'); return [table.scrollLeft, document.activeElement === table] }"
        assert models.evaluate(kept) == [60, True]


def outage_on(page):
    """What a page says while it cannot be brought up to date."""
    return page.get_by_text("the server cannot be reached")


def page_follows_another_server(browser, server, train):
    """A page says that its server is away, and learns what came meanwhile. The clocks of the page are set forward."""
    with visitor(browser, server, "/", ("ERR_",), lambda page: page.clock.install()) as page:
        page.evaluate("window.loadedOnce = true")
        address = server.url.removeprefix("http://").rstrip("/")
        server.stop()
        train("three", 1)
        page.clock.fast_forward(16_000)
        expect(outage_on(page)).to_be_visible()
        accessible(page)
        server.start(address)
        page.clock.fast_forward(10_000)
        expect(page.get_by_role("link", name="three", exact=True)).to_be_visible()
        expect(outage_on(page)).to_be_hidden()
        assert page.evaluate("window.loadedOnce"), "the page was loaded again"


def age_of(page):
    """The age of the newest file of a worker."""
    return page.locator("#state td", has_text=" ago").first


@contextlib.contextmanager
def silent(browser, server, expected=SOCKET):
    """The page of a run whose stream of events never says anything."""
    with visitor(browser, server, "/runs/one", expected) as page:
        expect(age_of(page)).to_be_visible()
        page.clock.install()
        page.route(re.compile(r"/events\?"), lambda route: None)
        page.reload()
        yield page


def page_has_aged_while_it_was_hidden(browser, server):
    with silent(browser, server) as page:
        def age(route):
            route.fulfill(content_type="text/html", body=re.sub("[^<>]+ ago<", "9 h ago<", route.fetch().text()))

        page.route("**/runs/one", age)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(age_of(page)).to_have_text("9 h ago")


def page_without_news_says_that_it_is_old(browser, server):
    """The clocks of the page are set forward: no second is waited for."""
    with silent(browser, server, ("502",)) as page:
        page.route("**/runs/one", lambda route: route.fulfill(status=502))
        with page.expect_response(lambda response: response.status == 502):
            page.clock.fast_forward(61_000)
        page.clock.fast_forward(16_000)
        expect(outage_on(page)).to_be_visible()
        page.unroute("**/runs/one")
        page.clock.fast_forward(10_000)
        expect(outage_on(page)).to_be_hidden()


def page_whose_stream_is_refused_is_not_old_while_it_is_read(browser, server):
    """The clocks of the page are set forward: the reading takes longer than an outage that is shown."""
    with visitor(browser, server, "/runs/one", ("503",)) as page:
        page.clock.install()
        page.route(re.compile(r"/events\?"), lambda route: route.fulfill(status=503))
        page.reload()
        page.route("**/runs/one", lambda route: None)
        with page.expect_request("**/runs/one"):
            page.clock.fast_forward(11_000)
        page.clock.fast_forward(20_000)
        expect(outage_on(page)).to_be_hidden()


def page_that_was_slow_once_follows_as_often_as_others(browser, server):
    paces = itertools.chain((60_000,), itertools.repeat(1000))

    def made(route):
        route.fulfill(content_type="text/html", body=re.sub(r"pause=\d+", f"pause={next(paces)}", route.fetch().text()))

    def changed(route):
        route.fulfill(content_type="text/event-stream", body="event: changed\ndata: 1\n\n")

    with visitor(browser, server, "/runs/one/config") as page:
        page.route("**/runs/one/openings", made)
        page.route(re.compile(r"/events\?.*pause=60000$"), changed, times=1)
        with page.expect_request(re.compile(r"/events\?.*pause=1000$")):
            page.goto(f"{server.url}runs/one/openings")


def game_pages(browser, server):
    """Addresses of a game of self-play and of a match game."""
    with visitor(browser, server, "/runs/one/games") as page:
        selfplay = page.locator("tbody th a").first.get_attribute("href")
        page.locator("[name=kind]").select_option("match")
        page.get_by_role("button", name="Search").click()
        expect(page.locator("tbody th a").first).to_have_attribute("href", re.compile("/matches/"))
        return {"game": selfplay, "match-game": page.locator("tbody th a").first.get_attribute("href")}


def pages_fit_and_are_accessible(browser, server, pages):
    for name, path in pages.items():
        expected = ("404 (Not Found)",) if name == "missing" else SOCKET
        with visitor(browser, server, path, expected) as page:
            expect(page.locator("h1")).to_be_visible()
            accessible(page)
            screen(page, name)


def runs_are_compared(browser, server):
    with visitor(browser, server, "/") as page:
        for run in ("one", "two"):
            page.get_by_label(f"compare {run}").check()
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**/compare?*")
        row = page.locator("#configuration tr", has_text="search.visits")
        expect(row).to_contain_text("256")
        expect(row).to_contain_text("16")
        # Plots are offered by their titles.
        expect(page.get_by_role("checkbox", name="Top-1 accuracy")).to_be_checked()
        expect(page.get_by_role("checkbox", name="False positives in force")).not_to_be_checked()
        legend = page.locator("#plots #elo .legend")
        expect(legend).to_contain_text("one")
        expect(legend).to_contain_text("two")


def saved(file):
    """A download under its own name; DuckDB goes by the ending."""
    path = file.path().with_name(file.suggested_filename)
    file.save_as(path)
    return path


def tables_are_opened_with_duckdb(browser, server):
    with visitor(browser, server, "/runs/one/games") as page:
        page.locator("[name=model]").fill("1")
        page.get_by_role("button", name="Search").click()
        page.wait_for_url("**model=1*")
        with page.expect_download() as download:
            page.get_by_role("link", name="Parquet").click()
        table = saved(download.value)
        [(games, models)] = duckdb.sql(f"SELECT count(*), list(DISTINCT black) FROM '{table}'").fetchall()
        assert games == 40 and models == ["one-1"], (games, models)
        page.goto(server.url.rstrip("/") + "/runs/one/matches")
        with page.expect_download() as download:
            page.locator("#players").get_by_role("link", name="Parquet").click()
        [(players,)] = duckdb.sql(f"SELECT count(*) FROM '{saved(download.value)}' WHERE elo IS NOT NULL").fetchall()
        page.goto(server.url.rstrip("/") + "/runs/one")
        with page.expect_download() as download:
            page.locator("#elo").get_by_role("link", name="Parquet").click()
        [(points, low)] = duckdb.sql(f"SELECT count(*), min(y - low) FROM '{saved(download.value)}'").fetchall()
        assert players > 1 and points > 1 and low >= 0, (players, points, low)
        return games


def main():
    config, *command = sys.argv[1:]
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright, contextlib.closing(chromium(playwright)) as browser:
        begin = time.monotonic()
        training = Training([*command, "run", config, "--run", "one", *SLOW, "--serve", "127.0.0.1:0"])
        try:
            seen = run_is_watched_from_its_first_model(browser, training)
            game_is_watched_as_it_is_played(browser, training)
            pages_follow_the_run(browser, training)
        finally:
            training.stop()
        print(f"models {seen} were seen in {time.monotonic() - begin:.0f} s")
        def train(name, models=2):
            settings = ["--set", f"loop.models={models}"]
            subprocess.run([*command, "run", config, "--run", name, *settings], check=True, stdout=subprocess.DEVNULL)

        train("two")
        folder = tempfile.TemporaryDirectory()
        book = f"{folder.name}/book.jsonl"
        subprocess.run([*command, "book", book, "--model", "uniform", "--budget", "30", "--visits", "20"], check=True)
        server = Server([*command, "serve", "--book", book])
        try:
            runs_are_compared(browser, server)
            page_has_aged_while_it_was_hidden(browser, server)
            page_without_news_says_that_it_is_old(browser, server)
            page_whose_stream_is_refused_is_not_old_while_it_is_read(browser, server)
            page_that_was_slow_once_follows_as_often_as_others(browser, server)
            page_follows_another_server(browser, server, train)
            games = tables_are_opened_with_duckdb(browser, server)
            begin = time.monotonic()
            pages = PAGES | game_pages(browser, server)
            pages_fit_and_are_accessible(browser, server, pages)
            print(f"{len(pages)} pages were checked in {time.monotonic() - begin:.0f} s")
            there = {name: path for name, path in pages.items() if name not in NEED_MORE}
            run_pages.pages_are_whole_without_scripts(browser, server, there)
            plots = run_pages.plots_have_their_data(browser, server, there)
            run_pages.values_of_games_are_opened_with_duckdb(browser, server, pages["game"])
            run_pages.models_are_sorted_and_filtered(browser, server)
            run_pages.matches_and_games_are_filtered(browser, server)
            run_pages.plots_are_zoomed(browser, server)
            run_pages.other_games_are_watched_while_the_page_is_paused(browser, server)
            run_pages.run_without_a_model_is_watched(browser, command)
            run_pages.visitors_sign_in_with_the_token(browser, command)
        finally:
            server.stop()
    print(f"{plots} plots and tables have their data; {games} games were opened with DuckDB")
    print("all pages of runs work")


if __name__ == "__main__":
    main()
