"""The rules that the referee applies: area scoring, positional superko, no suicide, two passes end the game."""

from sgfmill import boards, common

PASS = None
OTHER = {"b": "w", "w": "b"}


class Position:
    """A position with its history. Moves are points `(row, column)`, as in sgfmill, or PASS."""

    def __init__(self, size=9, komi=7.0, move_limit=162):
        self.size, self.komi, self.move_limit = size, komi, move_limit
        self.board = boards.Board(size)
        self.to_move = "b"
        self.moves = []
        self.seen = {self._stones(self.board)}

    def refusal(self, move):
        """Why the player to move may not play this, or None."""
        if move is PASS:
            return None
        row, column = move
        if not (0 <= row < self.size and 0 <= column < self.size):
            return "not on the board"
        if self.board.get(row, column) is not None:
            return "occupied"
        after = self.board.copy()
        after.play(row, column, self.to_move)
        if after.get(row, column) is None:
            return "suicide"
        if self._stones(after) in self.seen:
            return "superko"
        return None

    def play(self, move):
        reason = self.refusal(move)
        if reason:
            raise ValueError(f"{common.format_vertex(move)}: {reason}")
        if move is not PASS:
            self.board.play(*move, self.to_move)
            self.seen.add(self._stones(self.board))
        self.moves.append(move)
        self.to_move = OTHER[self.to_move]

    def legal_points(self):
        points = ((row, column) for row in range(self.size) for column in range(self.size))
        return [point for point in points if self.refusal(point) is None]

    def is_over(self):
        return self.moves[-2:] == [PASS, PASS] or len(self.moves) >= self.move_limit

    def winner(self):
        """The winner by area of the board as it stands, "b" or "w"; None for a draw."""
        margin = self.board.area_score() - self.komi
        return "b" if margin > 0 else "w" if margin < 0 else None

    @staticmethod
    def _stones(board):
        return frozenset((colour, point) for colour, point in board.list_occupied_points())
