"""What visitors do on pages of runs: sort, filter, zoom, sign in, read without scripts, and take data along."""

import re
import shutil
import tempfile
from pathlib import Path

import duckdb
from browser import OUTAGE, Server, accessible, fits, screen, stopped, visitor
from games import shared
from playwright.sync_api import expect

FORMATS = ("JSON", "CSV", "Parquet")


def models_are_sorted_and_filtered(browser, server):
    with visitor(browser, server, "/runs/one/models") as page:
        head = page.locator("thead")
        names = page.locator("tbody th a")
        newest_first = names.all_text_contents()
        assert len(newest_first) > 3 and newest_first[-1] == "one-1", newest_first
        head.get_by_role("link", name="Model").click()
        expect(head.locator("[aria-sort]")).to_have_attribute("aria-sort", "ascending")
        expect(names).to_have_text(newest_first[::-1])
        head.get_by_role("link", name="Elo").click()
        expect(head.locator("[aria-sort]")).to_have_text("Elo ↓")
        # The rows may come after the head.
        page.wait_for_load_state()
        elo = [float(re.sub("[^0-9.−+]", "", text.split("±")[0]).replace("−", "-")) for text in page.locator("tbody td:nth-child(2)").all_text_contents() if "±" in text]
        assert len(elo) > 1 and elo == sorted(elo, reverse=True), elo
        page.get_by_label("From model").fill("2")
        page.get_by_label("to model").fill("3")
        page.get_by_role("button", name="Filter").click()
        expect(names).to_have_count(2)
        assert sorted(names.all_text_contents()) == ["one-2", "one-3"]
        # The order is kept, and the data has the same rows.
        expect(head.locator("[aria-sort]")).to_have_text("Elo ↓")
        data = page.request.get(server.url + page.get_by_role("link", name="JSON").get_attribute("href").lstrip("/")).json()
        assert [row["name"] for row in data] == names.all_text_contents(), data


def matches_and_games_are_filtered(browser, server):
    with visitor(browser, server, "/runs/one/matches") as page:
        pairs = page.locator("#pairs tbody tr")
        everyone = pairs.count()
        page.get_by_label("Player").fill("one-2")
        page.get_by_label("Sort by").select_option("deviations")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**player=one-2*")
        assert 0 < pairs.count() < everyone and all("one-2" in text for text in pairs.all_inner_texts())
        column = page.locator("#pairs thead th").all_inner_texts().index("Deviations") + 1
        texts = page.locator(f"#pairs tbody tr :nth-child({column})").all_inner_texts()
        deviations = [abs(float(text.replace("−", "-"))) for text in texts if text != "–"]
        # The run has few games of each pair, so most or all of them have no deviations.
        assert texts and deviations == sorted(deviations, reverse=True), texts
        page.goto(server.url + "runs/one/games")
        page.get_by_label("Winner").select_option("white")
        page.get_by_label("Moves from").fill("10")
        page.get_by_role("button", name="Search").click()
        page.wait_for_url("**result=white*")
        rows = page.locator("tbody tr")
        assert rows.count() > 0
        for row in rows.all():
            cells = row.locator("td").all_inner_texts()
            assert cells[2].startswith("W+") and int(cells[4]) >= 10, cells


def drag(page, row, begin, end):
    page.mouse.move(begin, row)
    page.mouse.down()
    page.mouse.move(end, row, steps=4)
    page.mouse.up()


def plots_are_zoomed(browser, server):
    """By keys, by dragging, and by touch on a phone."""
    with visitor(browser, server, "/runs/one") as page:
        figure = page.locator("#games")
        curves, back = figure.locator(".curves"), figure.get_by_role("button", name="Show all")
        whole = curves.get_attribute("viewBox")
        figure.locator(".zoom summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(figure.get_by_label("From")).to_be_focused()
        for _ in range(4):
            page.keyboard.press("PageUp")
        expect(curves).not_to_have_attribute("viewBox", whole)
        expect(figure.get_by_label("From")).to_have_attribute("aria-valuetext", re.compile(r"^[0-9.]+$"))
        assert float(figure.get_by_label("From").get_attribute("aria-valuetext")) > 1
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(back).to_be_focused()
        page.keyboard.press("Enter")
        expect(curves).to_have_attribute("viewBox", whole)
        expect(figure.locator(".zoom summary")).to_be_focused()
        expect(back).to_be_hidden()
        figure.locator(".area").scroll_into_view_if_needed()
        box = figure.locator(".area").bounding_box()
        row = box["y"] + box["height"] / 2
        drag(page, row, box["x"] + 0.2 * box["width"], box["x"] + 0.7 * box["width"])
        expect(curves).not_to_have_attribute("viewBox", whole)
        expect(figure.get_by_label("To")).to_have_value(re.compile(r"^(69|70|71)$"))
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], row)
        expect(curves).to_have_attribute("viewBox", whole)
        # Beyond the end of the axis, and on its numbers, where nothing is to be shown.
        drag(page, row, box["x"] + 0.5 * box["width"], box["x"] + box["width"] + 40)
        expect(figure.get_by_label("From")).to_have_value(re.compile(r"^(49|50|51)$"))
        expect(figure.get_by_label("To")).to_have_value("100")
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], row)
        expect(curves).to_have_attribute("viewBox", whole)
        drag(page, row, box["x"] - 45, box["x"] - 5)
        expect(curves).to_have_attribute("viewBox", whole)
        # A line of a value is none of the part that is shown.
        share = page.locator("#black-share")
        share.locator(".plot").hover()
        expect(page.locator(".tip")).to_contain_text("%")
        expect(share.locator("text.mark")).to_be_visible()
        share.locator(".zoom summary").click()
        share.get_by_label("From").fill("50")
        expect(share.locator("text.mark")).to_be_hidden()
        share.get_by_role("button", name="Show all").click()
        expect(share.locator("text.mark")).to_be_visible()
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    with visitor(browser, server, "/runs/one", **phone) as page:
        figure = page.locator("#games")
        curves = figure.locator(".curves")
        figure.locator(".zoom summary").tap()
        figure.get_by_label("To").scroll_into_view_if_needed()
        box = figure.get_by_label("To").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(curves).not_to_have_attribute("viewBox", whole)
        fits(page)
        figure.get_by_role("button", name="Show all").tap()
        expect(curves).to_have_attribute("viewBox", whole)


def other_games_are_watched_while_the_page_is_paused(browser, server):
    """The clocks of the page are set forward: no move is waited for."""
    with visitor(browser, server, "/play/watch?run=one", prepare=lambda page: page.clock.install()) as page:
        game, status = page.locator("#players a"), page.locator("#status")
        expect(game).to_have_attribute("href", re.compile("/games/"))
        expect(status).to_have_text(re.compile("^Move "))
        page.locator("#pause").click()
        expect(page.locator("#pause")).to_have_text("Resume")
        paused = status.text_content()
        page.clock.fast_forward(60_000)
        assert status.text_content() == paused, "the game goes on while the page is paused"
        page.locator("#kind").select_option("match")
        expect(game).to_have_attribute("href", re.compile("/matches/"))
        first = game.get_attribute("href")
        page.locator("#skip").click()
        expect(game).not_to_have_attribute("href", first)
        page.clock.fast_forward(60_000)
        assert status.text_content() == paused, "another game begins while the page is paused"
        page.locator("#pause").click()
        expect(status).not_to_have_text(paused)


def run_without_a_model_is_watched(browser, command):
    """The store has no run at first. The clocks of the page stand still, and are set forward."""
    store = Path(command[command.index("--store") + 1])
    Path(store, "young").mkdir()
    shutil.copy(Path(store, "one", "run.toml"), Path(store, "young"))

    def prepare(page):
        stopped(page)
        page.route("**/play/runs", lambda route: route.fulfill(json=[]), times=1)

    server = Server([*command, "serve"])
    try:
        with visitor(browser, server, "/play/watch?run=young", prepare=prepare) as page:
            expect(page.locator("#status")).to_have_text("The store has no runs yet.")
            page.clock.fast_forward(10_000)
            expect(page.locator("#run")).to_have_value("young")
            expect(page.locator("#run option")).to_have_text(["one", "three", "two", "young"])
            expect(page.locator("#status")).to_have_text("This run has no such games yet.")
    finally:
        server.stop()


def pages_are_whole_without_scripts(browser, server, pages):
    with visitor(browser, server, "/runs/one/models/2/network", java_script_enabled=False) as page:
        expect(page.locator("h1")).to_have_text("one-2")
        tensors = page.locator("#tensors tbody tr")
        assert tensors.count() > 10 and page.locator("#tensors td svg").count() == tensors.count()
        assert page.locator("#filters svg").count() > 1 and page.locator("#norms tbody svg").count() > 1
        page.get_by_label("Against model").fill("1")
        page.get_by_role("button", name="Compare").click()
        expect(page.locator("h1")).to_have_text("one-2 against one-1")
        expect(page.locator("#tensors .other").first).to_be_attached()
        page.get_by_role("link", name="Networks side by side").click()
        expect(page.locator("h1")).to_have_text(re.compile("^one-1 to one-"))
        page.get_by_label("From model").fill("2")
        page.get_by_label("To model").fill("4")
        page.get_by_label("Networks", exact=True).fill("2")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#networks tbody td:first-child")).to_have_text(["one-2", "one-4"])
        page.wait_for_load_state()
        assert page.locator("#maps .heat path").count() > page.locator("#maps figure").count()
        page.get_by_role("link", name="4", exact=True).click()
        expect(page.locator("h1")).to_have_text("one-4")
        for path in pages.values():
            page.goto(server.url.rstrip("/") + path)
            expect(page.locator("h1")).to_be_visible()
            assert "JavaScript" not in page.locator("body").inner_text(), path


def plots_have_their_data(browser, server, pages):
    """Each as JSON, CSV and Parquet; returns how many there are."""
    plots = 0
    for path in pages.values():
        with visitor(browser, server, path) as page:
            for numbers in page.locator(".numbers").all():
                links = {format: numbers.get_by_role("link", name=format).get_attribute("href") for format in FORMATS}
                replies = {format: page.request.get(server.url.rstrip("/") + link) for format, link in links.items()}
                assert all(reply.body() for reply in replies.values()), (path, links)
                assert replies["Parquet"].ok and replies["Parquet"].body()[:4] == b"PAR1", (path, links)
                plots += 1
    return plots


def values_of_games_are_opened_with_duckdb(browser, server, game):
    with visitor(browser, server, game) as page, tempfile.TemporaryDirectory() as folder:
        counts = []
        for format in ("CSV", "Parquet"):
            with page.expect_download() as download:
                page.locator("#values").get_by_role("link", name=format).click()
            file = Path(folder, download.value.suggested_filename)
            download.value.save_as(file)
            counts += duckdb.sql(f"SELECT count(*), min(x), max(abs(y)) <= 1 FROM '{file}' WHERE series = 'network'").fetchall()
        assert counts[0] == counts[1] and counts[0][0] > 0 and counts[0][2], counts
        page.locator("#values").locator(".plot").hover()
        expect(page.locator(".tip")).to_contain_text("move")


def visitors_sign_in_with_the_token(browser, command):
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder, "token")
        token.write_text("a-token-of-this-test-which-is-long-enough\n")
        server = Server([*command, "serve", "--token-file", f"{token}"])
        try:
            with visitor(browser, server, "/runs/one/models", ("403 (Forbidden)", *OUTAGE)) as page:
                expect(page).to_have_url(re.compile(r"/sign-in\?to=%2Fruns%2Fone%2Fmodels$"))
                accessible(page)
                page.get_by_label("Token").fill("another token")
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("alert")).to_contain_text("not the token")
                accessible(page)
                screen(page, "sign-in")
                page.get_by_label("Token").fill(token.read_text().strip())
                page.keyboard.press("Enter")
                expect(page).to_have_url(server.url + "runs/one/models")
                expect(page.locator("h1")).to_have_text("Models of one")
                page.goto(server.url + "play")
                expect(page.locator("#status")).to_have_text(re.compile("to play"))
                # The server has another token when it is back: the page does not try to connect for ever.
                token.write_text("another-token-of-this-test-which-is-long-enough\n")
                server.restart()
                expect(page).to_have_url(re.compile(r"/sign-in\?to=%2Fplay$"))
            with visitor(browser, server, "/") as page:
                expect(page).to_have_url(re.compile("/sign-in$"))
                page.goto(server.url + shared(white=None).removeprefix("/"))
                expect(page).to_have_url(re.compile(r"/sign-in\?to=%2Fplay#game="))
                page.get_by_label("Token").fill(token.read_text().strip())
                page.keyboard.press("Enter")
                expect(page).to_have_url(re.compile("/play#game="))
                expect(page.locator("#status")).to_have_text(re.compile("to play"))
        finally:
            server.stop()
