#!/usr/bin/env python3
"""Reviews games in Chromium: check_review.py PROGRAM ARGUMENT..., which serve at --listen.

With TENGEN_SCREENS, a folder, it keeps screenshots.
"""

import contextlib
import json
import re
import sys
import time
from pathlib import Path

import duckdb
from browser import PATIENCE, SOCKET, Server, accessible, chromium, screen, stopped, visitor
from check_katrain import KaTrainSGF
from connections import SENT, FailingServer, sent
from games import cell
from playwright.sync_api import expect, sync_playwright

GAME = (
    "(;GM[1]FF[4]SZ[9]KM[7]RU[Japanese]PB[<b>Kuro</b>]BR[5d]PW[Shiro]DT[2026-01-31]RE[W+R]"
    ";B[ee];W[ce]C[quiet & <i>solid</i>];B[dc];W[gc];B[gd];W[fd]"
    "(;B[fc];W[ge];B[hc];W[dd])(;B[hd];W[fe]))"
)
SETUP = "(;GM[1]FF[4]SZ[9]KM[7]AB[cc];W[ee](;B[gg];W[gc])(;AB[dd]AE[cc];W[dc]))"
LATE_SETUP = "(;GM[1]FF[4]SZ[9]KM[7]AB[cc];W[ee];B[gg];AB[dd]AE[cc];W[dc])"
# The game of the address below. Its pattern does not match the page, whose address has it in the query.
LINKED = re.compile(r"/play/linked\.sgf$")
BY_LINK = "/play/review?sgf=linked.sgf"
TABS = 80  # stops on the way to the tree of variations, at most


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
        expect(page.locator("#graph > svg .curve-1").first).to_be_attached()
        legend = page.locator("#graph .legend span")
        expect(legend).to_have_text([re.compile("^9x9-demo-1: Black "), re.compile("^uniform: Black 50.0 %")])
        expect(legend.last.locator("path.curve-1")).to_be_attached()
        with page.expect_download() as download:
            page.get_by_role("button", name="Values as Parquet").click()
        values_are_in(download.value, {"9x9-demo-1": 11, "uniform": 11})
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
        # Files have the analyses that are over.
        expect(page.locator("#value")).to_have_text(re.compile("after (3[2-9]|[4-9][0-9]|[1-9][0-9]{2,}) visits"))
        with page.expect_download() as download:
            page.locator("#save").click()
        saved = Path(download.value.path()).read_bytes()
        tree_is_whole(saved.decode(), nodes + 1)
        assert all(said in saved.decode() for said in ("BR[5d]", "DT[2026-01-31]", "RU[Japanese]")), saved.decode()
        page.locator("#empty").click()
        page.wait_for_function("() => document.querySelectorAll('#tree .node').length === 1")
        page.locator("#file").set_input_files({"name": "again.sgf", "mimeType": "text/plain", "buffer": saved})
        page.wait_for_function("nodes => document.querySelectorAll('#tree .node').length === nodes", arg=nodes + 1)
        page.locator("#last").click()
        page.locator("#tree .node").first.click()
        expect(page.locator("#status")).to_have_text("The beginning of the game.")
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        again = time.monotonic()
        page.reload()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        return time.monotonic() - again


def values_are_in(file, positions):
    """DuckDB finds a value of each model for each position."""
    path = Path(file.path()).with_name(file.suggested_filename)
    file.save_as(path)
    rows = duckdb.sql(f"SELECT series, count(*), min(y) >= 0 AND max(y) <= 1 FROM '{path}' GROUP BY ALL").fetchall()
    assert {series: count for series, count, _ in rows} == positions and all(fits for *_, fits in rows), rows


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
            ("huge.sgf", "(;SZ[9]C[" + "x" * 20_000_000 + "])", "larger than 16 MiB"),
            ("long.sgf", "(;SZ[9]" + ";" * 100_000 + ")", "100001 nodes"),
            ("broken.sgf", "hello", "there is no game"),
        ):
            page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
            expect(page.locator("#status")).to_have_text(re.compile(reason))
            # So that the same file can be chosen again.
            expect(page.locator("#file")).to_have_value("")


def analysis_of_katrain_does_not_count_as_the_size_of_a_file(browser, server):
    """Every other column is empty, so that each move is legal."""
    points = [f"{column}{row}" for column in "acegikmoqs" for row in "abcdefghijklmnopqrs"]
    analysis = f"KT[{'H4sIA' * 1000}][{'A' * 999}=]KTV[1.0]"
    moves = "".join(f";{'BW'[turn % 2]}[{point}]{analysis}C[KT\\]]" for turn, point in enumerate(points))
    text = f"(;SZ[19]{moves})"
    assert len(text) > 1 << 20
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        page.locator("#file").set_input_files({"name": "long.sgf", "mimeType": "text/plain", "buffer": text.encode()})
        expect(page.locator("#status")).to_have_text(re.compile(f"^{len(points)} moves"))
        page.locator("#next").click()
        expect(page.locator("#comment")).to_have_text("KT]")


def opened(page, game, moves):
    page.locator("#paste").fill(game)
    expect(page.locator("#status")).to_have_text(re.compile(f"^{moves} moves"))


class EndlessSearch:
    """Between a page and the server: no analysis is the last one, and there are more when they are wanted."""

    def __init__(self, page):
        page.route_web_socket("**/play/socket?*", self.connect)

    def connect(self, page):
        self.page = page
        server = page.connect_to_server()
        page.on_message(lambda text: server.send(text))
        server.on_message(self.reply)

    def reply(self, text):
        message = json.loads(text)
        if "analysis" in message:
            message["analysis"]["report"]["isDuringSearch"] = True
            self.newest = message
        self.page.send(json.dumps(message))

    def more(self):
        self.newest["analysis"]["report"]["rootInfo"]["visits"] += 1000
        self.page.send(json.dumps(self.newest))


def moves_of_a_running_search_can_be_clicked(browser, server):
    """The table changes between the two halves of a click."""
    searches = []
    with visitor(browser, server, "/play/review", prepare=lambda page: searches.append(EndlessSearch(page))) as page:
        value = page.locator("#value")
        expect(value).to_have_text(re.compile("after [0-9]+ visits"))
        page.locator("#candidates .move").first.hover()
        page.mouse.down()
        before = value.text_content()
        searches[0].more()
        expect(value).not_to_have_text(before)
        page.mouse.up()
        expect(page.locator("#status")).to_have_text(re.compile("^Move 1: Black "))


def analysis_continues_while_the_field_of_visits_is_empty(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        opened(page, GAME, 12)
        page.locator("#visits").fill("")
        page.locator("#next").dispatch_event("click")
        expect(page.locator("#status")).to_have_text("Move 1: Black E5.")
        expect(page.locator("#value")).to_contain_text("visits")
        expect(page.locator("#status")).to_have_text("Move 1: Black E5.")


def focus_stays_on_a_step_that_can_be_made(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        opened(page, GAME, 12)
        page.locator("#visits").fill("8")
        page.keyboard.press("Tab")
        for button, other in (("#last", "#back"), ("#first", "#next")):
            page.locator(button).focus()
            page.keyboard.press("Enter")
            expect(page.locator(other)).to_be_focused()
        page.locator("#analyse").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        expect(page.locator("#analyse")).to_be_focused()


def tree_is_used_by_keys_alone(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        opened(page, GAME, 12)
        # By Tab from the start of the page, as without a mouse.
        page.locator("body").focus()
        page.evaluate("document.activeElement.blur()")
        focused = page.locator("#tree [role=treeitem]:focus")
        for _ in range(TABS):
            page.keyboard.press("Tab")
            if focused.count():
                break
        expect(focused).to_have_attribute("aria-label", "beginning")
        ring = "() => getComputedStyle(document.querySelector('#tree .node:focus .focus')).stroke"
        assert page.evaluate(ring) != "none", "the focus is not seen"
        for key, label in (
            ("ArrowLeft", "beginning"),
            ("ArrowRight", "move 1, Black E5"),
            ("ArrowRight", "move 2, White C5, with a comment"),
            ("End", "move 10, White D6"),
            ("ArrowDown", "move 10, White D6"),
            ("ArrowLeft", "move 9, Black H7"),
            ("ArrowLeft", "move 8, White G5"),
            ("ArrowLeft", "move 7, Black F7, variation 1 of 2"),
            ("ArrowDown", "move 7, Black H6, variation 2 of 2"),
            ("ArrowRight", "move 8, White F5"),
            ("ArrowUp", "move 8, White G5"),
            ("Home", "beginning"),
        ):
            page.keyboard.press(key)
            expect(focused).to_have_attribute("aria-label", label)
            expect(focused).to_have_attribute("aria-selected", "true")
        # One stop on the way by Tab, and the board follows the tree.
        assert page.locator('#tree [tabindex="0"]').count() == 1
        expect(page.locator("#status")).to_have_text("The beginning of the game.")
        expect(page.get_by_role("tree", name="Variations").get_by_role("treeitem")).to_have_count(13)
        page.keyboard.press("Tab")
        expect(focused).to_have_count(0)
        accessible(page)


def one_move_and_one_position_are_called_so(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text("0 moves.")
        page.locator("#visits").fill("8")
        page.keyboard.press("Tab")
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text("The game is analysed: 1 position.")
        page.locator("#paste").fill("(;SZ[9];B[ee])")
        expect(page.locator("#status")).to_have_text("1 move.")


def dropped_files_are_opened(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        transfer = page.evaluate_handle(
            """game => {
                const transfer = new DataTransfer();
                transfer.items.add(new File([game], 'game.sgf', { type: 'application/x-go-sgf' }));
                return transfer;
            }""",
            GAME,
        )
        page.dispatch_event("#board", "drop", {"dataTransfer": transfer})
        expect(page.locator("#status")).to_have_text(re.compile("^12 moves"))
        expect(page.locator("#players")).to_contain_text("Shiro")


def files_that_come_before_the_models_are_opened(browser, server):
    """The list of models cannot be read at first. The clocks of the page stand still, and are set forward."""

    def prepare(page):
        stopped(page)
        page.route("**/play/models", lambda route: route.fulfill(status=502), times=1)

    with visitor(browser, server, "/play/review", ("502", *SOCKET), prepare) as page:
        expect(page.locator("#status")).to_have_text(re.compile("502.*; next attempt in 10 seconds$"))
        page.locator("#file").set_input_files({"name": "game.sgf", "mimeType": "text/plain", "buffer": GAME.encode()})
        expect(page.locator("#status")).to_have_text("The game is opened when the list of models is there.")
        page.locator("#visits").fill("8")
        page.clock.fast_forward(10_000)
        expect(page.locator("#status")).to_have_text(re.compile("^12 moves"))
        expect(page.locator("#players")).to_contain_text("Shiro")
        expect(page.locator("#visits")).to_have_value("8")


def files_are_read_in_the_encoding_that_they_name(browser, server):
    """In Shift_JIS the last byte of the name is that of a backslash."""
    text = GAME.replace("FF[4]", "FF[4]CA[Shift_JIS]").replace("Shiro", "可能")
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        for encoding in ("shift_jis", "utf-8"):
            file = {"name": "game.sgf", "mimeType": "text/plain", "buffer": text.encode(encoding)}
            page.locator("#empty").click()
            expect(page.locator("#players")).not_to_contain_text("可能")
            page.locator("#file").set_input_files(file)
            expect(page.locator("#players")).to_contain_text("可能")
            expect(page.locator("#status")).to_have_text(re.compile("^12 moves"))


def kept(page, moves):
    """Waits until the browser keeps a game of so many moves."""
    page.wait_for_function(
        "moves => (JSON.parse(localStorage.getItem('tengen-review')).sgf.match(/;[BW]\\[/g) ?? []).length === moves", arg=moves
    )


def moves_that_were_added_or_removed_outlive_a_reload(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        nodes = page.locator("#tree .node")
        for moves, vertex in enumerate(("E5", "C3", "G7"), 1):
            cell(page, vertex).click()
            expect(nodes).to_have_count(moves + 1)
        kept(page, 3)
        page.reload()
        expect(nodes).to_have_count(4)
        page.locator("#last").click()
        page.locator("#cut").click()
        expect(nodes).to_have_count(3)
        kept(page, 2)
        page.reload()
        expect(nodes).to_have_count(3)
        other = page.context.new_page()
        other.goto(server.url + "play/review")
        expect(other.locator("#tree .node")).to_have_count(3)
        other.locator("#empty").click()
        expect(other.locator("#tree .node")).to_have_count(1)
        page.reload()
        expect(nodes).to_have_count(3)  # a tab has its own game


def moves_that_are_not_kept_are_written_again(browser, server):
    """The clocks of the page stand still, and are set forward."""
    with visitor(browser, server, "/play/review", prepare=lambda page: FailingServer(page, "save")) as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        stopped(page)
        cell(page, "E5").click()
        expect(page.locator("#tree .node")).to_have_count(2)
        page.clock.fast_forward(1_000)
        expect(page.locator("#status")).to_have_text("The last moves are not kept: too many requests.")
        page.clock.fast_forward(10_000)
        expect(page.locator("#status")).to_have_text("All moves are kept.")
        kept(page, 1)


def planes_of_another_position_disappear(browser, server):
    with visitor(browser, server, "/play/review", prepare=lambda page: FailingServer(page, "planes", 2)) as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        page.locator("#planes-card summary").click()
        expect(page.locator("#planes canvas").first).to_be_visible()
        cell(page, "E5").click()
        expect(page.locator("#status")).to_have_text("9x9-demo-1: too many requests")
        expect(page.locator("#planes canvas")).to_have_count(0)


def moves_that_were_added_to_a_linked_game_outlive_a_reload(browser, server):
    """The address of the page names the game without them."""
    with visitor(browser, server, BY_LINK, prepare=lambda page: page.route(LINKED, lambda route: route.fulfill(body=GAME))) as page:
        nodes = page.locator("#tree .node")
        expect(nodes).to_have_count(13)
        page.reload()
        expect(nodes).to_have_count(13)
        expect(page).to_have_url(server.url.rstrip("/") + BY_LINK)
        page.locator("#last").click()
        cell(page, "A1").click()
        expect(nodes).to_have_count(14)
        kept(page, 13)
        expect(page).to_have_url(f"{server.url}play/review")
        page.reload()
        expect(nodes).to_have_count(14)


def files_are_analysed_after_an_address_that_cannot_be_read(browser, server):
    def prepare(page):
        page.route(LINKED, lambda route: route.fulfill(body=GAME))
        page.route(LINKED, lambda route: route.fulfill(status=503), times=2)

    with visitor(browser, server, BY_LINK, ("503", *SOCKET), prepare) as page:
        rows, nodes = page.locator("#candidates tbody tr"), page.locator("#tree .node")
        expect(page.locator("#status")).to_have_text(re.compile("the game could not be read: 503"))
        expect(rows.first).to_be_visible()
        expect(nodes).to_have_count(1)
        page.locator("#file").set_input_files({"name": "game.sgf", "mimeType": "text/plain", "buffer": SETUP.encode()})
        expect(page.locator("#status")).to_have_text(re.compile("^3 moves"))
        expect(rows.first).to_be_visible()
        # An address that could not be read is requested again.
        page.goto(server.url.rstrip("/") + BY_LINK)
        expect(page.locator("#status")).to_have_text(re.compile("the game could not be read: 503"))
        page.reload()
        expect(nodes).to_have_count(13)


def games_are_analysed_again_where_the_visitor_has_done_it(browser, server):
    def prepare(page):
        page.add_init_script(SENT)
        page.route(LINKED, lambda route: route.fulfill(body=GAME))

    def is_not_analysed(page):
        """Though the shown position is."""
        expect(page.locator("#tree .node")).to_have_count(13)
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        assert sent(page, "analyze") and not sent(page, "review")

    def visits_are(count):
        page.locator("#visits").fill(count)
        page.keyboard.press("Tab")

    with visitor(browser, server, BY_LINK, prepare=prepare) as page:
        is_not_analysed(page)
        visits_are("8")
        page.reload()
        is_not_analysed(page)
        expect(page.locator("#visits")).to_have_value("8")
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        page.reload()
        expect(page.locator("#status")).to_have_text(re.compile("The game is analysed"))
        expect(page).to_have_url(server.url.rstrip("/") + BY_LINK)
        # The analysis with other settings is another one.
        visits_are("9")
        page.reload()
        is_not_analysed(page)


class BusyServer:
    """Between a page and the server: every request waits in the queue, until it is released."""

    def __init__(self, page):
        self.held = []
        self.is_released = False
        page.route_web_socket("**/play/socket?*", self.connect)

    def connect(self, page):
        self.page = page
        self.server = page.connect_to_server()
        page.on_message(self.request)
        self.server.on_message(lambda reply: page.send(reply) if self.is_released else self.held.append(reply))

    def request(self, message):
        self.page.send(json.dumps({"id": json.loads(message)["id"], "queued": 4}))
        self.server.send(message)

    def release(self):
        self.is_released = True
        for reply in self.held:
            self.page.send(reply)


def places_in_the_queue_are_shown(browser, server):
    """Of every kind of request, and until it begins."""
    busy = []
    with visitor(browser, server, "/play/review", prepare=lambda page: busy.append(BusyServer(page))) as page:
        expect(page.locator("#status")).to_have_text("Place in the queue: 5.")
        busy[0].release()
        expect(page.locator("#status")).to_have_text("0 moves.")
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        opened(page, GAME, 12)
        cell(page, "A1").click()
        expect(page.locator("#status")).to_have_text("Move 1: Black A1.")
        page.locator("#first").click()
        page.locator("#analyse").click()
        expect(page.locator("#status")).to_have_text(re.compile("^The game is analysed"))


def lines_with_stones_put_on_the_board_say_so(browser, server):
    with visitor(browser, server, "/play/review") as page:
        expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
        opened(page, SETUP, 3)
        expect(page.locator("#status")).to_contain_text("the next node adds or removes stones (AB, AW, AE)")
        expect(cell(page, "C7")).to_have_attribute("aria-label", re.compile("black stone"))
        page.locator("#paste").fill(LATE_SETUP)
        expect(page.locator("#status")).to_have_text(
            "This file cannot be read: line 1 column 44: stones are set up after the first move: AB, AW and AE are read only before it."
        )


def files_say_what_the_server_does_not_remember(browser):
    server = Server([*sys.argv[1:], "--reports-mib", "0"])
    try:
        with visitor(browser, server, "/play/review") as page:
            expect(page.locator("#status")).to_have_text(re.compile("0 moves"))
            page.locator("#visits").fill("8")
            opened(page, GAME, 12)
            page.locator("#analyse").click()
            expect(page.locator("#status")).to_have_text(re.compile("The game is analysed: 11 positions"))
            with page.expect_download() as download:
                page.locator("#save").click()
            assert "SBKV[" not in Path(download.value.path()).read_text()
            expect(page.locator("#status")).to_have_text(re.compile("^The file has the analysis of 0 of [0-9]+ analysed positions: "))
    finally:
        server.stop()


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
            files_that_are_too_large_are_refused(browser, server)
            analysis_of_katrain_does_not_count_as_the_size_of_a_file(browser, server)
            one_move_and_one_position_are_called_so(browser, server)
            dropped_files_are_opened(browser, server)
            files_that_come_before_the_models_are_opened(browser, server)
            files_are_read_in_the_encoding_that_they_name(browser, server)
            files_are_analysed_after_an_address_that_cannot_be_read(browser, server)
            games_are_analysed_again_where_the_visitor_has_done_it(browser, server)
            places_in_the_queue_are_shown(browser, server)
            lines_with_stones_put_on_the_board_say_so(browser, server)
            tree_is_used_by_keys_alone(browser, server)
            moves_that_were_added_or_removed_outlive_a_reload(browser, server)
            moves_that_are_not_kept_are_written_again(browser, server)
            planes_of_another_position_disappear(browser, server)
            moves_that_were_added_to_a_linked_game_outlive_a_reload(browser, server)
            moves_of_a_running_search_can_be_clicked(browser, server)
            analysis_continues_while_the_field_of_visits_is_empty(browser, server)
            focus_stays_on_a_step_that_can_be_made(browser, server)
            files_say_what_the_server_does_not_remember(browser)
            reopened = game_is_reviewed_and_reopened(browser, server)
            updates = first_update(browser, server)
    finally:
        server.stop()
    print(f"a review is open again after {reopened:.2f} s")
    print("first updates of analyses after", ", ".join(f"{update:.0f}" for update in updates), "ms")
    print("all reviews work")


if __name__ == "__main__":
    main()
