"""A GTP server for a player in Python, with as many commands as the referee sends."""

import sys

from sgfmill import common

import rules

COMMANDS = ["boardsize", "clear_board", "genmove", "komi", "known_command", "list_commands", "name", "play",
            "protocol_version", "quit", "version"]


def action_of(move, size):
    """The number of a move, row by row and then the pass, as pgx and OpenSpiel count."""
    return size * size if move is rules.PASS else move[0] * size + move[1]


def move_of(action, size):
    return rules.PASS if action == size * size else divmod(action, size)


class Session:
    """The player has `clear()`, `play(action)` and `choose(legal)`, which returns one of the legal actions."""

    def __init__(self, name, player, size=9):
        self.name, self.player, self.size = name, player, size
        self.begin()

    def begin(self):
        self.position = rules.Position(self.size)
        self.legal = self.legal_actions()

    def legal_actions(self):
        return [*(action_of(point, self.size) for point in self.position.legal_points()), self.size * self.size]

    def respond(self, command, *arguments):
        """The response to a command; ValueError for an error response."""
        match command:
            case "name":
                return self.name
            case "version":
                return "1"
            case "protocol_version":
                return "2"
            case "list_commands":
                return "\n".join(COMMANDS)
            case "known_command":
                return str(arguments[0] in COMMANDS).lower()
            case "boardsize":
                if int(arguments[0]) != self.size:
                    raise ValueError("unacceptable size")
            case "clear_board":
                self.begin()
                self.player.clear()
            case "komi" | "quit":
                pass
            case "play":
                self.play(arguments[0], common.move_from_vertex(arguments[1], self.size))
                # Here and not at `genmove`, as the list takes milliseconds and is no part of the player's time.
                self.legal = self.legal_actions()
            case "genmove":
                move = move_of(self.player.choose(self.legal or self.legal_actions()), self.size)
                self.play(arguments[0], move)
                return common.format_vertex(move)
            case _:
                raise ValueError("unknown command")
        return ""

    def play(self, colour, move):
        if colour[0].lower() != self.position.to_move:
            raise ValueError("the colours must alternate")
        self.position.play(move)
        self.player.play(action_of(move, self.size))
        self.legal = None


def serve(name, player, size=9):
    session = Session(name, player, size)
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            print(f"= {session.respond(*line.split())}\n", flush=True)
        except (ValueError, IndexError) as error:
            print(f"? {error}\n", flush=True)
        if line.strip() == "quit":
            return
