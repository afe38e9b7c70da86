"""Between a page for players and the server: connections that are slow, fail, or are dead, and scripts that note messages."""

import json

# Keeps what the page sends to the server.
SENT = """{
  const { send } = WebSocket.prototype;
  window.sent = [];
  WebSocket.prototype.send = function (text) { window.sent.push(text); send.call(this, text); };
}"""
# Counts the moves that the page has received, on the element of the whole page.
MOVES = """{
  const { parse } = JSON;
  let moves = 0;
  JSON.parse = (...text) => {
    const read = parse(...text);
    if (read?.move) document.documentElement.dataset.moves = `${++moves}`;
    return read;
  };
}"""


def sent(page, kind):
    """The requests of a kind that the page has sent, with the script above."""
    requests = [json.loads(text)["do"] for text in page.evaluate("() => sent")]
    return [request[kind] for request in requests if kind in request]


class SlowServer:
    """Between a page and the server: replies wait while it is slow."""

    def __init__(self, page):
        self.held, self.is_slow = [], False
        page.route_web_socket("**/play/socket?*", self.connect)

    def connect(self, page):
        self.page = page
        server = page.connect_to_server()
        page.on_message(lambda text: server.send(text))
        server.on_message(lambda text: self.held.append(text) if self.is_slow else page.send(text))

    def release(self):
        self.is_slow = False
        for text in self.held:
            self.page.send(text)


class FailingServer:
    """Between a page and the server: a request of a kind fails, the first or a later one."""

    def __init__(self, page, kind, number=1):
        self.kind, self.remaining = kind, number
        page.route_web_socket("**/play/socket?*", self.connect)

    def connect(self, page):
        server = page.connect_to_server()

        def request(text):
            message = json.loads(text)
            self.remaining -= self.kind in message["do"]
            if self.kind in message["do"] and self.remaining == 0:
                page.send(json.dumps({"id": message["id"], "error": "too many requests"}))
            else:
                server.send(text)

        page.on_message(request)
        server.on_message(lambda text: page.send(text))


class DeadLine:
    """Between a page and the server: the first connection stays open when it is dead, and carries nothing."""

    def __init__(self, page):
        self.connections, self.is_dead = 0, False
        page.route_web_socket("**/play/socket?*", self.connect)

    def connect(self, page):
        self.connections += 1
        is_first = self.connections == 1
        server = page.connect_to_server()

        def carry(send):
            return lambda text: None if is_first and self.is_dead else send(text)

        page.on_message(carry(server.send))
        server.on_message(carry(page.send))
