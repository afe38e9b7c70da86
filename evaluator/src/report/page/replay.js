// Games to step through. The facts have the moves and what each captures; rules are elsewhere.
// @ts-check

{
  const LETTERS = 'ABCDEFGHJKLMNOPQRST';
  const byId = id => document.getElementById(id);
  const { games } = JSON.parse(byId('facts').textContent);
  const state = { game: games[0], turn: 0 };
  const vertex = (size, move) => (move === size * size ? 'pass' : `${LETTERS[move % size]}${size - Math.floor(move / size)}`);

  // The stones after so many moves: 1 is Black, -1 White.
  function stones({ moves, captures, size }, turns) {
    const board = new Map();
    moves.slice(0, turns).forEach((move, turn) => {
      if (move < size * size) board.set(move, turn % 2 === 0 ? 1 : -1);
      captures[turn].forEach(point => board.delete(point));
    });
    return board;
  }

  function draw() {
    const { game, turn } = state;
    const { size } = game;
    const cell = 20;
    const at = line => cell * (line + 1);
    const parts = [`<rect class="wood" width="${cell * (size + 1)}" height="${cell * (size + 1)}" rx="4"/>`];
    for (let line = 0; line < size; line += 1) {
      parts.push(`<line class="lines" x1="${at(0)}" x2="${at(size - 1)}" y1="${at(line)}" y2="${at(line)}"/>`);
      parts.push(`<line class="lines" y1="${at(0)}" y2="${at(size - 1)}" x1="${at(line)}" x2="${at(line)}"/>`);
      parts.push(`<text class="names" x="${at(line)}" y="12" text-anchor="middle">${LETTERS[line]}</text>`);
      parts.push(`<text class="names" x="10" y="${at(line) + 3}" text-anchor="middle">${size - line}</text>`);
    }
    for (const [point, stone] of stones(game, turn)) {
      parts.push(`<circle class="${stone === 1 ? 'black' : 'white'}" cx="${at(point % size)}" cy="${at(Math.floor(point / size))}" r="9.4"/>`);
    }
    const last = turn > 0 ? game.moves[turn - 1] : size * size;
    if (last < size * size) parts.push(`<circle class="last" cx="${at(last % size)}" cy="${at(Math.floor(last / size))}" r="4"/>`);
    byId('board').innerHTML = `<svg class="board" role="img" viewBox="0 0 ${cell * (size + 1)} ${cell * (size + 1)}">${parts.join('')}</svg>`;
  }

  function go(turn) {
    const { game } = state;
    state.turn = Math.max(0, Math.min(game.moves.length, turn));
    const at = state.turn;
    byId('turn').value = at;
    const value = at > 0 ? game.values[at - 1] : null;
    const said = value === null ? '' : `; root value ${value.toFixed(3).replace('-', '−')} for Black`;
    byId('turn-says').textContent = at === 0 ? 'before the first move' :
      `move ${at} of ${game.moves.length}: ${at % 2 ? 'Black' : 'White'} ${vertex(game.size, game.moves[at - 1])}${said}`;
    draw();
  }

  function choose(index) {
    state.game = games[index];
    const { kind, black, white, result, end, komi, id, moves } = state.game;
    byId('game-says').textContent = `${kind}: Black ${black}, White ${white}, komi ${komi}. ${result} (${end}). Game ${id}.`;
    byId('turn').max = moves.length;
    go(moves.length);
  }

  if (games.length > 0) {
    games.forEach((game, index) => {
      const names = game.black === game.white ? game.black : `${game.black} – ${game.white}`;
      byId('which').append(new Option(`${game.kind}: ${names}, ${game.result}, ${game.moves.length} moves`, `${index}`));
    });
    byId('which').addEventListener('change', event => choose(+event.target.value));
    byId('turn').addEventListener('input', event => go(+event.target.value));
    byId('first').addEventListener('click', () => go(0));
    byId('last').addEventListener('click', () => go(Infinity));
    byId('back').addEventListener('click', () => go(state.turn - 1));
    byId('next').addEventListener('click', () => go(state.turn + 1));
    byId('board').addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      go(state.turn + step);
    });
    choose(0);
  }
}
