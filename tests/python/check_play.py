#!/usr/bin/env python3
"""Plays and reviews games in Chromium, by clicks, touch and keys: check_play.py PROGRAM ARGUMENT..., which serve at --listen.

The pages are as visitors have them, and the server is restarted under them. With TENGEN_SCREENS, a folder, it keeps screenshots.
"""

import contextlib
import http.server
import re
import sys
import threading
import time
from pathlib import Path

from browser import PATIENCE, Server, accessible, chromium, fits, screen, visitor
from check_katrain import KaTrainSGF
from playwright.sync_api import expect, sync_playwright

MOST_MOVES = 200
GAME = (
    "(;GM[1]FF[4]SZ[9]KM[7]PB[<b>Kuro</b>]PW[Shiro]RE[W+R];B[ee];W[ce]C[quiet & <i>solid</i>];B[dc];W[gc];B[gd];W[fd]"
    "(;B[fc];W[ge];B[hc];W[dd])(;B[hd];W[fe]))"
)


def cell(page, vertex):
    return page.locator(f'#board [role="gridcell"][aria-label^="{vertex},"]')


def stones(page):
    return page.locator('#board [aria-label*=" stone"]').count()


def start_game(page, **fields):
    page.locator("summary", has_text="Board, komi").click()
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        if field.evaluate("field => field instanceof HTMLSelectElement"):
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Start").click()
    page.locator("summary", has_text="Board, komi").click()


def wait_for_turn(page):
    """Waits until the visitor is to play, or the game is over; whether it is over."""
    over = re.compile("wins|draw")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.turn')].some(turn => turn.textContent === 'to play')"
        " || /wins|draw/.test(document.getElementById('status').textContent)"
    )
    return over.search(page.locator("#status").text_content()) is not None


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
        with page.expect_download() as download:
            page.locator("#save").click()
        sgf = Path(download.value.path()).read_text()
        assert "RE[" in sgf and "SZ[9]" in sgf, sgf
        page.locator("#review").click()
        page.wait_for_url("**/play/review")
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        return moves


def game_by_touch_survives_a_restart(browser, server):
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    with visitor(browser, server, "/play", **phone) as page:
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


def game_by_keys(browser, server):
    with visitor(browser, server, "/play") as page:
        assert not wait_for_turn(page)
        cell(page, "E5").focus()
        for key in ("ArrowUp", "ArrowLeft", "Enter"):
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


def models_are_watched(browser, server):
    with visitor(browser, server, "/play") as page:
        start_game(page, visits="4", you="none")
        page.wait_for_function("() => document.querySelectorAll('#board [aria-label*=\" stone\"]').length >= 3")
        page.locator("#pause").click()
        expect(page.locator("#pause")).to_have_text("Resume")


def game_is_reviewed_and_reopened(browser, server):
    with visitor(browser, server, "/play/review", viewport={"width": 1440, "height": 900}) as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        page.locator("#visits").fill("32")
        page.locator("#paste").fill(GAME)
        expect(page.locator("#status")).to_have_text(re.compile("12 moves"))
        assert "<b>Kuro</b>" in page.locator("#players").text_content()
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed: 11 positions"))
        page.locator("#graph input").fill("2")
        expect(page.locator("#comment")).to_have_text("quiet & <i>solid</i>")
        rows = page.locator("#candidates tbody tr")
        expect(rows.first).to_be_visible()
        rows.first.hover()
        expect(page.locator("#board .number").first).to_be_visible()
        page.mouse.move(5, 5)
        losses = page.locator("#losses button")
        if losses.count():
            losses.first.click()
        page.locator("#second select").select_option("uniform")
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        expect(page.locator("#graph .curve-1").first).to_be_attached()
        page.locator("#planes-card summary").click()
        expect(page.locator("#planes canvas").first).to_be_visible()
        screen(page, "review")
        accessible(page)
        page.locator("#show").select_option("policy")
        expect(page.locator("#board .heat").first).to_be_attached()
        page.locator("#show").select_option("ownership")
        expect(page.locator("#board .owner").first).to_be_attached()
        expect(cell(page, "A1")).to_have_attribute("aria-label", re.compile("owner open|owns it with"))
        expect(page.locator("#value")).to_contain_text("Expected score")
        screen(page, "ownership")
        accessible(page)
        # A move beside the game is a variation, and the tree leads back.
        nodes = page.locator("#tree .node").count()
        page.locator("#last").click()
        page.keyboard.press("ArrowLeft")
        page.locator("#candidates .move").last.click()
        page.wait_for_function("nodes => document.querySelectorAll('#tree .node').length > nodes", arg=nodes)
        with page.expect_download() as download:
            page.locator("#save").click()
        saved = Path(download.value.path()).read_bytes()
        tree_is_whole(saved.decode(), nodes + 1)
        page.locator("#empty").click()
        page.wait_for_function("() => document.querySelectorAll('#tree .node').length === 1")
        page.locator("#file").set_input_files({"name": "again.sgf", "mimeType": "text/plain", "buffer": saved})
        page.wait_for_function("nodes => document.querySelectorAll('#tree .node').length === nodes", arg=nodes + 1)
        page.locator("#last").click()
        page.locator("#tree .node").first.click()
        expect(page.locator("#status")).to_have_text("The beginning of the game.")
        again = time.monotonic()
        page.reload()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        return time.monotonic() - again


def tree_is_whole(text, nodes):
    """KaTrain reads all moves with their variations and comments, and the analysis of those that were analysed."""
    found = KaTrainSGF.parse_sgf(text).nodes_in_tree
    assert len(found) == nodes, f"{len(found)} nodes, not {nodes}: {text}"
    analysed = [node for node in found if "SBKV" in node.properties]
    assert len(analysed) > 11 and all(node.load_analysis() and node.analysis_complete for node in analysed)
    assert "quiet & <i>solid</i>" in text


def files_that_are_too_large_are_refused(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        for name, text, reason in (
            ("large.sgf", "(;SZ[9]C[" + "x" * 10_000_000 + "])", "larger than 1 MiB"),
            ("long.sgf", "(;SZ[9]" + ";" * 100_000 + ")", "100001 nodes"),
            ("broken.sgf", "hello", "there is no game"),
        ):
            page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
            expect(page.locator("#status")).to_have_text(re.compile(reason))


def foreign_sockets_are_refused(browser, server):
    """A page of another server on this machine, which shares nothing with ours but the host."""
    elsewhere = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        opens = """address => new Promise(done => {
            const socket = new WebSocket(address);
            socket.onopen = () => done(true);
            socket.onerror = () => done(false);
        })"""
        address = server.url.replace("http", "ws") + "play/socket"
        page.goto(f"http://127.0.0.1:{elsewhere.server_port}/nothing")
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


def first_update(browser, server):
    """Milliseconds from a click to the first update of the analysis."""
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        page.evaluate(
            """() => {
                const body = document.querySelector('#candidates tbody');
                let cleared = false;
                new MutationObserver(() => {
                    if (body.rows.length === 0) cleared = true;
                    else if (cleared) window.updated ??= performance.now();
                }).observe(body, { childList: true });
                document.querySelector('#board').addEventListener('click', () => {
                    cleared = false;
                    window.updated = undefined;
                    window.clicked = performance.now();
                }, { capture: true });
            }"""
        )
        times = []
        for vertex in ("E5", "C3", "G7", "C7", "G3", "E3", "E7", "C5", "G5"):
            cell(page, vertex).click()
            page.wait_for_function("() => window.updated !== undefined")
            times.append(page.evaluate("window.updated - window.clicked"))
        return sorted(times)


def main():
    expect.set_options(timeout=PATIENCE)
    server = Server(sys.argv[1:])
    try:
        with sync_playwright() as playwright, contextlib.closing(chromium(playwright)) as browser:
            foreign_sockets_are_refused(browser, server)
            files_that_are_too_large_are_refused(browser, server)
            game_by_keys(browser, server)
            models_are_watched(browser, server)
            clicks = game_by_clicks(browser, server)
            touch = game_by_touch_survives_a_restart(browser, server)
            reopened = game_is_reviewed_and_reopened(browser, server)
            updates = first_update(browser, server)
    finally:
        server.stop()
    print(f"games of {clicks} and {touch} moves; a review is open again after {reopened:.2f} s")
    print("first updates of analyses after", ", ".join(f"{update:.0f}" for update in updates), "ms")
    print("all pages for players work")


if __name__ == "__main__":
    main()
