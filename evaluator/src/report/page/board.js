// Games to step through. The moves are from the empty board, Black first; size × size is a pass.

const LETTERS = 'ABCDEFGHJKLMNOPQRST';

function vertex(size, move) {
  return move === size * size ? 'pass' : `${LETTERS[move % size]}${size - Math.floor(move / size)}`;
}

function neighbours(size, point) {
  const [row, col] = [Math.floor(point / size), point % size];
  const around = [[row - 1, col], [row + 1, col], [row, col - 1], [row, col + 1]];
  return around.filter(([r, c]) => r >= 0 && r < size && c >= 0 && c < size).map(([r, c]) => r * size + c);
}

// The stones of a chain, and whether it has a liberty.
function chain(board, size, start) {
  const stones = [start];
  const seen = new Set(stones);
  let free = false;
  for (let i = 0; i < stones.length; i++) {
    for (const next of neighbours(size, stones[i])) {
      if (board[next] === 0) free = true;
      if (board[next] === board[start] && !seen.has(next)) {
        seen.add(next);
        stones.push(next);
      }
    }
  }
  return { stones, free };
}

// All positions of a game: 1 is Black, -1 White, 0 empty; with the stones that each has captured.
function positions({ size, moves }) {
  let board = new Array(size * size).fill(0);
  const captured = { 1: 0, [-1]: 0 };
  const all = [{ board, captured: { ...captured } }];
  moves.forEach((move, turn) => {
    const colour = turn % 2 === 0 ? 1 : -1;
    board = [...board];
    if (move < size * size) {
      board[move] = colour;
      for (const next of neighbours(size, move)) {
        if (board[next] !== -colour) continue;
        const { stones, free } = chain(board, size, next);
        if (free) continue;
        stones.forEach(stone => (board[stone] = 0));
        captured[colour] += stones.length;
      }
    }
    all.push({ board, captured: { ...captured } });
  });
  return all;
}

function hoshi(size) {
  if (size < 7) return [];
  const near = size < 13 ? 2 : 3;
  const lines = size % 2 ? [near, (size - 1) / 2, size - 1 - near] : [near, size - 1 - near];
  return lines.flatMap(row => lines.map(col => [row, col]));
}

const replay = { game: facts.games[0], turn: 0, all: [], timer: null };

function drawBoard() {
  const { game, turn, all } = replay;
  const { size } = game;
  const unit = 10;
  const at = line => unit * (line + 1.4);
  const whole = unit * (size + 1.8);
  const far = at(size - 1);
  const picture = svg('svg', { viewBox: `0 0 ${whole} ${whole}`, width: '100%', height: '100%' });
  picture.append(svg('rect', { width: whole, height: whole, rx: 3, fill: 'var(--wood)' }));
  for (let line = 0; line < size; line++) {
    const ink = { stroke: 'var(--wood-line)', 'stroke-width': 0.35 };
    picture.append(svg('line', { x1: at(0), x2: far, y1: at(line), y2: at(line), ...ink }));
    picture.append(svg('line', { y1: at(0), y2: far, x1: at(line), x2: at(line), ...ink }));
    const small = { style: 'font-size: 4px; fill: var(--wood-line)', 'text-anchor': 'middle' };
    picture.append(svg('text', { x: at(line), y: far + 10.5, ...small }, LETTERS[line]));
    picture.append(svg('text', { x: at(0) - 9, y: at(line) + 1.4, ...small }, `${size - line}`));
  }
  for (const [row, col] of hoshi(size)) {
    picture.append(svg('circle', { cx: at(col), cy: at(row), r: 0.9, fill: 'var(--wood-line)' }));
  }
  all[turn].board.forEach((stone, point) => {
    if (stone === 0) return;
    const [cx, cy] = [at(point % size), at(Math.floor(point / size))];
    const look = stone === 1 ? { fill: '#17181b' } : { fill: '#fbfaf7', stroke: '#9c9788', 'stroke-width': 0.3 };
    picture.append(svg('circle', { cx, cy, r: 4.7, ...look }));
    if (turn > 0 && game.moves[turn - 1] === point) {
      picture.append(svg('circle', { cx, cy, r: 2.1, fill: 'none', stroke: stone === 1 ? '#fff' : '#17181b', 'stroke-width': 0.7 }));
    }
  });
  byId('board').replaceChildren(picture);
}

function drawValues() {
  const { game, turn } = replay;
  const points = game.values.map((y, x) => ({ x, y })).filter(point => point.y !== null);
  if (points.length === 0) return byId('values').replaceChildren(html('div', { class: 'empty' }, 'no searches'));
  const [width, height] = [byId('values').clientWidth || 300, 150];
  const x = at => 34 + (width - 42) * at / Math.max(game.moves.length, 1);
  const y = value => 8 + (height - 16) * (1 - value) / 2;
  const chart = svg('svg', { width, height, role: 'img' });
  for (const at of [-1, 0, 1]) {
    chart.append(svg('line', { x1: 34, x2: width - 8, y1: y(at), y2: y(at), stroke: 'var(--grid)' }));
    chart.append(svg('text', { x: 28, y: y(at) + 4, 'text-anchor': 'end' }, at < 0 ? '−1' : `${at}`));
  }
  const path = points.map((point, i) => `${i ? 'L' : 'M'}${x(point.x)} ${y(point.y)}`).join('');
  chart.append(svg('path', { d: path, fill: 'none', stroke: 'var(--one)', 'stroke-width': 1.8 }));
  chart.append(svg('line', { x1: x(turn), x2: x(turn), y1: 4, y2: height - 4, stroke: 'var(--two)', 'stroke-width': 1.5 }));
  chart.addEventListener('pointerdown', event => {
    const share = (event.clientX - chart.getBoundingClientRect().left - 34) / (width - 42);
    go(Math.round(share * game.moves.length));
  });
  byId('values').replaceChildren(chart);
}

function go(turn) {
  const { game, all } = replay;
  replay.turn = Math.max(0, Math.min(game.moves.length, turn));
  const at = replay.turn;
  byId('turn').value = at;
  const move = at === 0 ? 'before the first move' :
    `move ${at} of ${game.moves.length}: ${at % 2 ? 'Black' : 'White'} ${vertex(game.size, game.moves[at - 1])}`;
  const expected = at > 0 && game.values[at - 1] !== null ?
    `; root value ${game.values[at - 1].toFixed(3).replace('-', '−')} for Black` : '';
  const { captured } = all[at];
  byId('turn-says').textContent = `${move}${expected}. Captured by Black ${captured[1]}, by White ${captured[-1]}.`;
  drawBoard();
  drawValues();
}

function stop() {
  clearInterval(replay.timer);
  replay.timer = null;
  byId('play').textContent = 'play';
}

function play() {
  if (replay.timer) return stop();
  if (replay.turn === replay.game.moves.length) go(0);
  byId('play').textContent = 'stop';
  replay.timer = setInterval(() => (replay.turn < replay.game.moves.length ? go(replay.turn + 1) : stop()), 450);
}

function choose(index) {
  stop();
  replay.game = facts.games[index];
  replay.all = positions(replay.game);
  const { kind, black, white, result, end, komi, id } = replay.game;
  byId('game-says').textContent = `${kind}: Black ${black}, White ${white}, komi ${komi}. ${result} (${end}). Game ${id}.`;
  byId('turn').max = replay.game.moves.length;
  go(replay.game.moves.length);
}

if (facts.games.length === 0) {
  byId('replay').querySelector('.replay').replaceChildren(html('p', { class: 'quiet' }, 'No games yet.'));
} else {
  const groups = new Map();
  facts.games.forEach((game, index) => {
    if (!groups.has(game.kind)) groups.set(game.kind, html('optgroup', { label: game.kind }));
    const names = game.black === game.white ? game.black : `${game.black} – ${game.white}`;
    groups.get(game.kind).append(html('option', { value: index }, `${names}, ${game.result}, ${game.moves.length} moves`));
  });
  byId('which').append(...groups.values());
  byId('which').addEventListener('change', event => choose(+event.target.value));
  byId('turn').addEventListener('input', event => go(+event.target.value));
  byId('first').addEventListener('click', () => go(0));
  byId('last').addEventListener('click', () => go(Infinity));
  byId('back').addEventListener('click', () => go(replay.turn - 1));
  byId('next').addEventListener('click', () => go(replay.turn + 1));
  byId('play').addEventListener('click', play);
  byId('board').addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(replay.turn + step);
  });
  new ResizeObserver(drawValues).observe(byId('values'));
  choose(0);
}
