"""Chromium for the checks of pages: the server, visitors, and what is true of every page.

With TENGEN_SCREENS, a folder, `screen` keeps screenshots.
"""

import contextlib
import os
import socket
import subprocess
from pathlib import Path

from axe_playwright_python.base import AXE_SCRIPT, AxeResults

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]
PATIENCE = 600_000  # milliseconds for anything to happen on a busy machine; a page may wait a minute for an event
# The console of a page about its socket, and of a page for players about a server that is away.
SOCKET = ("WebSocket connection",)
OUTAGE = (*SOCKET, "Failed to load resource: net::ERR_")
SIZES = ((360, 740), (768, 1024), (1440, 900))
VIEWS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]
# No colour of the style sheets depends on the width, and the middle width shows nothing that the widest does not.
CHECKED_VIEWS = [(size, scheme) for size, scheme in VIEWS if scheme == "light" or size != SIZES[1]]
# What axe checks in a view: all rules where it is not said. What scrolls depends on the width, contrast on the colours, and a page
# shows nothing at the middle width that it does not at one of the others.
CONTRAST, SCROLLING = "color-contrast", "scrollable-region-focusable"
RULES = {"768-light": [SCROLLING], "360-dark": [CONTRAST], "1440-dark": [CONTRAST]}


GIVEN = set()


def free_address():
    """An address for a server that is restarted: on a loopback address of this process, where no other one takes the port."""
    process = os.getpid()
    host = f"127.{1 + (process >> 16)}.{process >> 8 & 255}.{process & 255}"
    while True:
        with socket.socket() as held:
            held.bind((host, 0))
            address = f"{host}:{held.getsockname()[1]}"
        if address not in GIVEN:
            GIVEN.add(address)
            return address


class Server:
    """The server, which can be restarted at its address."""

    def __init__(self, command):
        self.command = command
        self.process = None
        self.url = self.start(free_address())

    def start(self, address):
        self.process = subprocess.Popen([*self.command, "--listen", address], stdout=subprocess.PIPE, text=True)
        url = self.process.stdout.readline().strip()
        assert url, "the server has ended"
        return url

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def restart(self):
        self.stop()
        assert self.start(self.url.removeprefix("http://").rstrip("/")) == self.url


def chromium(playwright):
    return playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS)


@contextlib.contextmanager
def visitor(browser, server, path, expected=SOCKET, prepare=None, **options):
    """A new visitor's page, prepared before it is loaded; no script on it may fail, and nothing else than is expected."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    if prepare:
        prepare(page)
    page.goto(server.url.rstrip("/") + path)
    yield page
    context.close()
    unexpected = [error for error in errors if not any(text in error for text in expected)]
    assert not unexpected, unexpected


def stopped(page):
    """Stops the clocks of a page, so that they only run when they are set forward."""
    page.clock.install(time=1_000)
    page.clock.pause_at(10_000)


def views(page, chosen=VIEWS):
    """Shows a page at each width, in light and dark; yields a name of the view."""
    before = page.viewport_size
    for (width, height), scheme in chosen:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        yield f"{width}-{scheme}"
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")


def screen(page, name):
    """Keeps screenshots of a page in all views."""
    if folder := os.environ.get("TENGEN_SCREENS"):
        for view in views(page):
            page.screenshot(path=Path(folder, f"{name}-{view}.png"), full_page=True)


def fits(page):
    """A page is no wider than its window."""
    # As a function: an expression is evaluated again at each frame, which the policy of the pages forbids.
    page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def checked(page, rules):
    """What axe finds by some rules, or by all. Its script of half a megabyte is read once for each document."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    # What is right on a page is a megabyte, which takes as long as the checks.
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    return AxeResults(page.evaluate("options => axe.run(options)", options))


def accessible(page):
    """No rule of axe is violated, each in the views on which it depends."""
    for view in views(page, CHECKED_VIEWS):
        fits(page)
        found = checked(page, RULES.get(view))
        assert found.violations_count == 0, f"{page.url}, {view}: {found.generate_report()}"
