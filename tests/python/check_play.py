#!/usr/bin/env python3
"""Plays games in Chromium, by clicks, touch and keys: check_play.py PROGRAM ARGUMENT..., which serve at --listen.

The pages are as visitors have them, and the server is restarted under them. With TENGEN_SCREENS, a folder, it keeps screenshots.
"""

import contextlib
import http.server
import json
import re
import socketserver
import sys
import threading
import urllib.parse

from browser import OUTAGE, PATIENCE, Server, accessible, chromium, fits, screen, stopped, visitor
from connections import MOVES, SENT, DeadLine, FailingServer, SlowServer, sent
from games import cell, moves_are, saved_game, shared, start_game, stones, stones_are, wait_for_turn
from playwright.sync_api import expect, sync_playwright

MOST_MOVES = 200
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
MODEL_TO_MOVE = [("B", "C3"), ("W", "G7"), ("B", "C7")]


def plays_a_game(page, act):
    """Plays the first allowed points of a fixed order and then passes, until the game is over; returns the moves."""
    wanted = ["E5", "C3", "G7", "C7", "G3", "E3", "E7", "C5", "G5"]
    for turn in range(MOST_MOVES):
        if wait_for_turn(page):
            return turn
        labels = {vertex: cell(page, vertex).get_attribute("aria-label") for vertex in wanted}
        free = [vertex for vertex, label in labels.items() if label.split(", ")[1:2] == ["empty"] and "not allowed" not in label]
        played = int(page.locator("#graph input").input_value())
        if free and turn < 6:
            act(cell(page, free[0]))
        else:
            act(page.locator("#pass"))
        page.wait_for_function("played => Number(document.querySelector('#graph input').value) > played", arg=played)
    raise AssertionError(f"the game is not over after {MOST_MOVES} moves")


def game_by_clicks(browser, server):
    with visitor(browser, server, "/play", viewport={"width": 1440, "height": 900}) as page:
        start_game(page, visits="16")
        moves = plays_a_game(page, lambda place: place.click())
        assert moves > 6
        screen(page, "score")
        if page.locator("#scoring").is_visible():
            # A dead stone is alive after a click, and dead after another.
            first = page.locator("#status").text_content()
            one = page.locator('#board [aria-label*=" stone"]').first
            label = one.get_attribute("aria-label")
            one.click()
            # Within its own colour's area a stone changes no score.
            expect(one).not_to_have_attribute("aria-label", label)
            assert (", dead" in label) != (", dead" in one.get_attribute("aria-label"))
            one.click()
            expect(one).to_have_attribute("aria-label", label)
            expect(page.locator("#status")).to_have_text(first)
            page.locator("#accept").click()
        expect(page.locator("#status")).to_have_text(re.compile("wins|draw"))
        accessible(page)
        sgf = saved_game(page)
        assert "RE[" in sgf and "SZ[9]" in sgf, sgf
        page.locator("#review").click()
        page.wait_for_url("**/play/review")
        # The field has its number then. With few visits the analysis ends soon on a busy machine, too.
        expect(page.locator("#players")).to_contain_text("komi")
        page.locator("#visits").fill("8")
        page.keyboard.press("Tab")
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        return moves


def game_by_touch_survives_a_restart(browser, server):
    with visitor(browser, server, "/play", OUTAGE, **PHONE) as page:
        start_game(page, visits="16", you="W", handicap="2")
        assert not wait_for_turn(page)
        assert stones(page) == 2
        cell(page, "E5").tap()
        page.wait_for_function("() => document.querySelectorAll('#board [aria-label*=\" stone\"]').length === 4")
        wait_for_turn(page)
        server.restart()
        expect(page.locator("#connection")).to_be_empty()
        page.locator("#undo").tap()
        page.wait_for_function("() => document.querySelectorAll('#board [aria-label*=\" stone\"]').length === 2")
        page.reload()
        assert not wait_for_turn(page)
        assert stones(page) == 2
        moves = plays_a_game(page, lambda place: place.tap())
        screen(page, "play-touch")
        fits(page)
        return moves


def small_points_take_two_taps_where_clicks_have_no_pointer(browser, server):
    """Of Safari before iOS 18.4 and Firefox before 129, where a click is no PointerEvent."""
    tap = """cell => {
        cell.dispatchEvent(new PointerEvent('pointerdown', { pointerType: 'touch', bubbles: true }));
        cell.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    }"""
    with visitor(browser, server, shared(size=19, white=None), **PHONE) as page:
        expect(page.locator("#status")).to_have_text("New game. Black to play.")
        cell(page, "Q16").evaluate(tap)
        expect(page.locator(".confirm")).to_have_text("Play Q16")
        expect(page.locator(".confirm")).to_be_visible()
        assert stones(page) == 0
        cell(page, "Q16").evaluate(tap)
        stones_are(page, 1)
        assert "black stone" in cell(page, "Q16").get_attribute("aria-label")


def game_by_keys(browser, server):
    with visitor(browser, server, "/play") as page:
        assert not wait_for_turn(page)
        cell(page, "E5").focus()
        for key, vertex in (("End", "J5"), ("Home", "A5")):
            page.keyboard.press(key)
            expect(cell(page, vertex)).to_be_focused()
        # Back to E5, and on.
        for key in (*["ArrowRight"] * 4, "ArrowUp", "ArrowLeft", "Enter"):
            page.keyboard.press(key)
        page.wait_for_function("() => document.querySelectorAll('#board [aria-label*=\" stone\"]').length === 2")
        assert "black stone" in cell(page, "D6").get_attribute("aria-label")
        assert not wait_for_turn(page)
        cell(page, "D6").click()
        expect(page.locator("#status")).to_have_text("D6: the point is occupied.")
        page.locator("#hint").click()
        expect(page.locator("#status")).to_have_text(re.compile("The model would play"))
        page.locator("#owner").click()
        expect(page.locator("#lead")).to_have_text(re.compile("Expected score"))
        expect(page.locator("#board .owner").first).to_be_attached()
        screen(page, "play")
        accessible(page)
        # A pass disables its button, and the focus goes to the board.
        page.locator("#pass").focus()
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.activeElement.closest('#board')")


def file_stays_until_the_browser_has_read_it(browser, server):
    """Chromium reads it at the click; Safari does later."""
    watch = "URL.revokeObjectURL = () => { window.revoked = true; };"
    with visitor(browser, server, "/play", prepare=lambda page: page.add_init_script(watch)) as page:
        assert not wait_for_turn(page)
        assert "SZ[9]" in saved_game(page)
        assert not page.evaluate("window.revoked === true"), "the file is gone when its download begins"


def models_are_watched(browser, server):
    with visitor(browser, server, "/play", prepare=lambda page: page.add_init_script(SENT)) as page:
        page.locator("#you").select_option("none")
        page.locator("#second select").select_option("uniform")
        start_game(page, visits="4")
        expect(page.locator("#player-B .name")).to_have_text("9x9-demo-1")
        expect(page.locator("#player-W .name")).to_have_text("uniform")
        moves_are(page, 3)
        # No other move is requested. The click is in one call with both looks, since a game goes on between calls.
        at_once = page.evaluate(
            "() => { const before = sent.length; document.getElementById('pause').click(); return sent.slice(before); }"
        )
        assert not any("genmove" in text for text in at_once), at_once
        expect(page.locator("#pause")).to_have_text("Resume")
        paused = int(page.locator("#graph input").input_value())
        page.locator("#pause").click()
        moves_are(page, paused + 2)
        # The game is not over before it is scored.
        page.locator("#pause").click()
        # People wait for none of these moves, and no clock runs.
        requests = sent(page, "genmove")
        assert requests and not any(request["awaited"] for request in requests), requests
        expect(page.locator("#undo")).to_be_disabled()
        expect(page.locator("#resign")).to_be_disabled()
        # The score ends a game that is watched.
        page.locator("#score").click()
        expect(page.locator("#status")).to_have_text(re.compile("wins|draw"))
        expect(page.locator("#pause")).to_be_hidden()


def models_with_clocks_pay_for_their_searches_alone(browser, server):
    """The clocks of the page stand still, and are set forward."""
    scripts = lambda page: page.add_init_script(SENT + MOVES)
    with visitor(browser, server, "/play", prepare=scripts) as page:
        assert not wait_for_turn(page)
        stopped(page)
        page.locator("#you").select_option("none")
        # So many that the search reports before its move, which starts the clock.
        start_game(page, visits="2000", clock="0,5,1")
        expect(page.locator("html")).to_have_attribute("data-moves", "1")
        # No other search interrupts one with a clock.
        requests = sent(page, "genmove")
        assert requests and all(request["awaited"] for request in requests), requests
        # The move is shown after a pause, and in a hidden tab a minute later.
        page.clock.fast_forward(60_000)
        expect(page.locator("#status")).to_have_text(re.compile("^Black (plays|passes)"))


def visits_have_a_maximum(browser, server):
    with visitor(browser, server, "/play") as page:
        visits = page.locator("#visits")
        expect(visits).to_have_attribute("max", "10000")
        expect(visits).not_to_have_value("")
        assert visits.evaluate("field => field.checkValidity()")
        visits.fill("10001")
        assert not visits.evaluate("field => field.checkValidity()")
        page.goto(server.url + "play/review")
        expect(page.locator("#visits")).to_have_attribute("max", "10000")


def numbers_that_are_typed_before_the_list_of_models_stay(browser, server):
    """The list is empty at first. The clocks of the page stand still, and are set forward."""
    def prepare(page):
        stopped(page)
        page.route("**/play/models", lambda route: route.fulfill(json=[]), times=1)

    with visitor(browser, server, "/play", prepare=prepare) as page:
        expect(page.locator("#status")).to_have_text("The store has no models yet.")
        page.locator("summary", has_text="Board, komi").click()
        expect(page.locator("#size")).not_to_be_editable()
        typed = {"komi": "0.5", "visits": "16"}
        for name, value in typed.items():
            page.locator(f"#{name}").fill(value)
        page.clock.fast_forward(10_000)
        expect(page.get_by_role("button", name="Start")).to_be_enabled()
        for name, value in typed.items():
            expect(page.locator(f"#{name}")).to_have_value(value)


def model_plays_on_against_a_handicap(browser, server):
    """It is as good as lost from the first move on."""
    with visitor(browser, server, "/play") as page:
        start_game(page, visits="16", handicap="9", komi="0.5")
        page.wait_for_function("() => document.querySelectorAll('#board [aria-label*=\" stone\"]').length === 10")
        assert not wait_for_turn(page)
        page.locator("#pass").click()
        moves_are(page, 3)
        expect(page.locator("#status")).to_have_text(re.compile("White plays"))


def komi_counts(browser, server):
    """A single stone has the board; White has komi."""
    with visitor(browser, server, "/play") as page:
        for komi, margin in (("0.5", "80.5"), ("12.5", "68.5")):
            start_game(page, you="both", komi=komi)
            expect(page.locator("#status")).to_have_text("New game. Black to play.")
            cell(page, "E5").click()
            for moves in (1, 2):
                moves_are(page, moves)
                page.locator("#pass").click()
            expect(page.locator("#status")).to_have_text(re.compile(f"^Black wins by {margin} points"))
            page.locator("#accept").click()
            expect(page.locator("#status")).to_have_text(f"Black wins by {margin} points.")
            sgf = saved_game(page)
            assert f"KM[{komi}]" in sgf and f"RE[B+{margin}]" in sgf, sgf


def game_of_both_colours_is_scored_and_opened_again(browser, server):
    with visitor(browser, server, "/play") as page:
        start_game(page, you="both")
        expect(page.locator("#player-W .name")).to_have_text("You")
        moves, captures = page.locator("#graph input"), page.locator("#player-B .captures")
        for turn, vertex in enumerate(("A8", "A9", "B9", "E5"), 1):
            cell(page, vertex).click()
            moves_are(page, turn)
        page.locator("#pass").click()
        moves_are(page, 5)
        # After one pass the game is not over, and all of its moves stay.
        page.locator("#score").click()
        page.locator("#resume").click()
        expect(page.locator("#scoring")).to_be_hidden()
        expect(moves).to_have_value("5")
        page.reload()
        expect(captures).to_have_text("1 captured")
        page.locator("#undo").click()
        expect(moves).to_have_value("4")
        expect(captures).to_have_text("1 captured")
        expect(page.locator("#model select")).to_have_value("9x9-demo")
        # The first model of the store plays on another board.
        page.route("**/play/models", with_a_model_of_19x19)
        page.reload()
        expect(captures).to_have_text("1 captured")
        expect(page.locator("#model option").first).to_have_text("a19 (19×19)")
        expect(page.locator("#model select")).to_have_value("9x9-demo")
        for turn in (5, 6):
            page.locator("#pass").click()
            moves_are(page, turn)
        expect(page.locator("#scoring")).to_be_visible()


def with_a_model_of_19x19(route):
    demo, *others = route.fetch().json()
    route.fulfill(json=[{**demo, "run": "a19", "models": [1, 50], "size": 19}, demo, *others])


def all_stones_that_are_chosen_change(browser, server):
    """However long the server takes for the first."""
    servers = []
    with visitor(browser, server, "/play", prepare=lambda page: servers.append(SlowServer(page))) as page:
        start_game(page, you="both")
        expect(page.locator("#player-W .name")).to_have_text("You")
        for turn, vertex in enumerate(("E5", "C3", "G7"), 1):
            cell(page, vertex).click()
            moves_are(page, turn)
        page.locator("#score").click()
        expect(page.locator("#scoring")).to_be_visible()
        chosen = [cell(page, vertex) for vertex in ("C3", "G7")]
        labels = [stone.get_attribute("aria-label") for stone in chosen]
        servers[0].is_slow = True
        for stone in chosen:
            stone.click()
        servers[0].release()
        for stone, label in zip(chosen, labels):
            expect(stone).not_to_have_attribute("aria-label", label)


def game_that_is_over_without_a_pass_is_played_on(browser, server):
    """Black's two walls are alive, and so is all beside them."""
    walls = [f"{column}{row}" for column in "BD" for row in range(1, 6)]
    moves = [move for vertex in walls[:-1] for move in (("B", vertex), ("W", "pass"))]
    with visitor(browser, server, shared(size=5, white=None, moves=moves)) as page:
        stones_are(page, 9)
        cell(page, walls[-1]).click()
        stones_are(page, 10)
        page.locator("#resume").click()
        expect(page.locator("#scoring")).to_be_hidden()
        expect(page.locator("#status")).to_have_text("The move was taken back.")
        stones_are(page, 9)


def moves_that_failed_are_requested_again(browser, server):
    """The clocks of the page are set forward: no second is waited for."""
    with visitor(browser, server, "/play", prepare=lambda page: FailingServer(page, "genmove")) as page:
        assert not wait_for_turn(page)
        page.clock.install()
        cell(page, "E5").click()
        expect(page.locator("#status")).to_have_text("Request failed: too many requests")
        page.clock.fast_forward(10_000)
        stones_are(page, 2)


def dead_connections_are_replaced(browser, server):
    """The clocks of the page are set forward: no second is waited for."""
    lines = []
    with visitor(browser, server, "/play", prepare=lambda page: lines.append(DeadLine(page))) as page:
        assert not wait_for_turn(page)
        page.clock.install()
        lines[0].is_dead = True
        cell(page, "E5").click()
        # As when a phone wakes up.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.clock.fast_forward(10_000)
        moves_are(page, 1)
        assert "black stone" in cell(page, "E5").get_attribute("aria-label")
        assert lines[0].connections == 2, f"{lines[0].connections} connections"


def line_of_a_hint_ends_when_it_is_played(browser, server):
    """The pointer stays where it was, and the moves of the model would have the other colour."""
    with visitor(browser, server, "/play") as page:
        assert not wait_for_turn(page)
        page.locator("#hint").click()
        expect(page.locator("#status")).to_have_text(re.compile("The model would play"))
        vertex = re.search(r"would play ([A-J][1-9]),", page.locator("#status").text_content()).group(1)
        cell(page, vertex).hover()
        expect(page.locator("#board .number").first).to_be_attached()
        cell(page, vertex).click()
        expect(page.locator("#board .number")).to_have_count(0)
        assert "black stone" in cell(page, vertex).get_attribute("aria-label")


def visitor_resigns(browser, server):
    with visitor(browser, server, "/play") as page:
        start_game(page, visits="4", you="B")
        assert not wait_for_turn(page)
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.locator("#resign").click()
        expect(page.locator("#resign")).to_be_enabled()
        page.once("dialog", lambda dialog: dialog.accept())
        page.locator("#resign").click()
        expect(page.locator("#status")).to_have_text("White wins by resignation.")
        for button in ("#resign", "#pass", "#score"):
            expect(page.locator(button)).to_be_disabled()
        assert "RE[W+R]" in saved_game(page)
        page.locator("#review").click()
        expect(page.locator("#players")).to_have_text(re.compile(r"● visitor\s+○ 9x9-demo-1\s+9×9, komi [\d.]+, W\+R"))


def clock_runs_out(browser, server):
    """The clocks of the page stand still, and are set forward."""
    with visitor(browser, server, "/play") as page:
        stopped(page)
        start_game(page, you="both", clock="600,30,5")
        expect(page.locator("#player-B .clock")).to_have_text("10:00")
        page.clock.fast_forward(550_000)
        expect(page.locator("#player-B .clock")).to_have_text("0:50")
        cell(page, "E5").click()
        expect(page.locator("#graph input")).to_have_value("1")
        # Black has spent its own time alone. White loses all periods.
        expect(page.locator("#player-W .clock")).to_have_text("10:00")
        page.clock.fast_forward(675_000)
        expect(page.locator("#player-W .clock")).to_have_text("15 s, 3×")
        page.clock.fast_forward(100_000)
        expect(page.locator("#status")).to_have_text("Black wins on time.")
        expect(page.locator("#pass")).to_be_disabled()
        assert "RE[B+T]" in saved_game(page)


def games_of_addresses_that_cannot_be_opened_say_why(browser, server):
    game = {"game": {"size": 99999, "komi": 7, "moves": []}, "models": {"B": None, "W": None}, "values": []}
    sized = json.dumps(game)
    for text, why in [
        (sized, "The board size 99999 is not a whole number from 2 to 19."),
        (sized.replace("99999", "1"), "The board size 1 is not a whole number from 2 to 19."),
        ("{}", "Parts of it are missing."),
        ("{", "It is not readable as JSON."),
    ]:
        with visitor(browser, server, f"/play#game={urllib.parse.quote(text)}") as page:
            expect(page.locator("#status")).to_have_text(f"The game of the address cannot be opened. {why}")
            expect(page.locator('#board [role="gridcell"]').first).to_be_visible()


def addresses_of_games_are_opened_in_a_tab_with_the_page(browser, server):
    with visitor(browser, server, "/play") as page:
        expect(page.locator('#board [role="gridcell"]')).to_have_count(81)
        page.goto(f"{server.url}play#game={urllib.parse.quote('{}')}")
        expect(page.locator("#status")).to_have_text("The game of the address cannot be opened. Parts of it are missing.")
        expect(page).to_have_url(f"{server.url}play")


def shared_game_replaces_the_kept_one_when_the_visitor_moves(browser, server):
    address = server.url.rstrip("/") + shared(moves=MODEL_TO_MOVE)
    with visitor(browser, server, "/play") as page:
        assert not wait_for_turn(page)
        cell(page, "E5").click()
        stones_are(page, 2)
        # The model moves by itself.
        page.goto(address)
        stones_are(page, 4)
        page.reload()
        stones_are(page, 4)
        page.goto(server.url + "play")
        stones_are(page, 2)
        assert "black stone" in cell(page, "E5").get_attribute("aria-label")
        page.goto(address)
        stones_are(page, 4)
        page.locator("#undo").click()
        stones_are(page, 2)
        expect(page).to_have_url(f"{server.url}play")
        page.reload()
        stones_are(page, 2)
        assert "black stone" in cell(page, "C3").get_attribute("aria-label")


def shared_game_with_too_many_visits_goes_on(browser, server):
    """The clock limits the search, which would take long with the maximum."""
    with visitor(browser, server, shared(moves=MODEL_TO_MOVE, visits=20_000, clock="20,1,3")) as page:
        stones_are(page, 4)


def tabs_resume_their_own_games(browser, server):
    with visitor(browser, server, "/play") as page:
        assert not wait_for_turn(page)
        cell(page, "E5").click()
        stones_are(page, 2)
        other = page.context.new_page()
        other.goto(server.url + "play")
        stones_are(other, 2)
        start_game(other, you="both")
        expect(other.locator("#player-W .name")).to_have_text("You")
        cell(other, "C3").click()
        stones_are(other, 1)
        for tab, vertex, count in ((page, "E5", 2), (other, "C3", 1)):
            tab.reload()
            stones_are(tab, count)
            assert "black stone" in cell(tab, vertex).get_attribute("aria-label")


def game_of_the_form_outlives_a_reload_of_a_models_address(browser, server):
    with visitor(browser, server, "/play?model=9x9-demo-1") as page:
        assert not wait_for_turn(page)
        start_game(page, you="both")
        expect(page.locator("#player-W .name")).to_have_text("You")
        cell(page, "C3").click()
        stones_are(page, 1)
        page.reload()
        stones_are(page, 1)
        expect(page.locator("#player-W .name")).to_have_text("You")


def games_are_reviewed_in_new_tabs(browser, server):
    with visitor(browser, server, "/play") as page:
        start_game(page, you="both")
        expect(page.locator("#player-W .name")).to_have_text("You")
        for turn, vertex in enumerate(("E5", "C3", "G7"), 1):
            cell(page, vertex).click()
            moves_are(page, turn)
        review = page.context.new_page()
        review.goto(urllib.parse.urljoin(server.url, page.locator("#review").get_attribute("href")))
        expect(review.locator("#tree .node")).to_have_count(4)
        expect(review).to_have_url(f"{server.url}play/review")


def foreign_sockets_are_refused(browser, server):
    """A page of another server on this machine, which shares nothing with ours but the host."""
    host = urllib.parse.urlsplit(server.url).hostname
    # An HTTPServer asks DNS for the name of its address.
    elsewhere = socketserver.ThreadingTCPServer((host, 0), http.server.SimpleHTTPRequestHandler)
    elsewhere.daemon_threads = True
    threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        opens = """address => new Promise(done => {
            const socket = new WebSocket(address);
            socket.onopen = () => done(true);
            socket.onerror = () => done(false);
        })"""
        address = server.url.replace("http", "ws") + "play/socket"
        page.goto(f"http://{host}:{elsewhere.server_address[1]}/nothing")
        assert not page.evaluate(opens, address), "a page from elsewhere has opened a WebSocket"
        page.goto(server.url + "play")
        assert page.evaluate(opens, address), "a page of the server has no WebSocket"
        sends = """address => new Promise(done => {
            const socket = new WebSocket(address);
            socket.onopen = () => socket.send('x'.repeat(10_000_000));
            socket.onmessage = () => done('replied to');
            socket.onclose = () => done('closed');
        })"""
        assert page.evaluate(sends, address) == "closed", "a message of 10 MB was read"
    elsewhere.shutdown()


def main():
    expect.set_options(timeout=PATIENCE)
    server = Server(sys.argv[1:])
    try:
        with sync_playwright() as playwright, contextlib.closing(chromium(playwright)) as browser:
            foreign_sockets_are_refused(browser, server)
            game_by_keys(browser, server)
            small_points_take_two_taps_where_clicks_have_no_pointer(browser, server)
            file_stays_until_the_browser_has_read_it(browser, server)
            models_are_watched(browser, server)
            models_with_clocks_pay_for_their_searches_alone(browser, server)
            visits_have_a_maximum(browser, server)
            numbers_that_are_typed_before_the_list_of_models_stay(browser, server)
            model_plays_on_against_a_handicap(browser, server)
            komi_counts(browser, server)
            game_of_both_colours_is_scored_and_opened_again(browser, server)
            all_stones_that_are_chosen_change(browser, server)
            game_that_is_over_without_a_pass_is_played_on(browser, server)
            moves_that_failed_are_requested_again(browser, server)
            dead_connections_are_replaced(browser, server)
            line_of_a_hint_ends_when_it_is_played(browser, server)
            games_of_addresses_that_cannot_be_opened_say_why(browser, server)
            addresses_of_games_are_opened_in_a_tab_with_the_page(browser, server)
            shared_game_replaces_the_kept_one_when_the_visitor_moves(browser, server)
            shared_game_with_too_many_visits_goes_on(browser, server)
            tabs_resume_their_own_games(browser, server)
            game_of_the_form_outlives_a_reload_of_a_models_address(browser, server)
            games_are_reviewed_in_new_tabs(browser, server)
            visitor_resigns(browser, server)
            clock_runs_out(browser, server)
            clicks = game_by_clicks(browser, server)
            touch = game_by_touch_survives_a_restart(browser, server)
    finally:
        server.stop()
    print(f"games of {clicks} and {touch} moves")
    print("all pages for players work")


if __name__ == "__main__":
    main()
