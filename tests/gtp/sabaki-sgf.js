// Reads an analysed game with Sabaki's SGF reader, and compares what Sabaki shows of it with the reports of the positions.
//
//     NODE_PATH=.venv/node/node_modules node tests/gtp/sabaki-sgf.js GAME.analysis.sgf GAME.analysis.jsonl
//
// Prints what was found. Exits with 1 at the first thing that is not as Sabaki needs it.

const assert = require('assert')
const fs = require('fs')
const {parseFile, parseVertex} = require('@sabaki/sgf')

const [game, analysis] = process.argv.slice(2)
const COLUMNS = 'ABCDEFGHJKLMNOPQRST'
const HOTSPOTS = 5

// A vertex of GTP as Sabaki counts points, from the top left corner.
function vertex(move, size) {
  return move === 'pass' ? [-1, -1] : [COLUMNS.indexOf(move[0]), size - move.slice(1)]
}

// The first line of nodes, which Sabaki opens.
function mainLine(root) {
  const nodes = []
  for (let node = root; node != null; node = node.children[0]) nodes.push(node)
  return nodes
}

// What Sabaki colours a node by: the first of these that it has.
function judgement(node) {
  return ['BM', 'DO', 'IT', 'TE'].find(name => node.data[name] != null)
}

function readReports() {
  const lines = fs.readFileSync(analysis, 'utf8').trim().split('\n')
  const [header, ...reports] = lines.map(line => JSON.parse(line))
  reports.sort((one, other) => one.turnNumber - other.turnNumber)
  return {header, reports}
}

// Labels on the best moves, `POINT:LETTER` each.
function checkLabels(node, report, size) {
  const points = report.moveInfos.map(info => vertex(info.move, size)).filter(([x]) => x >= 0)
  const labels = node.data.LB || []
  assert.strictEqual(labels.length, Math.min(points.length, 5), 'labels of the best moves')
  labels.forEach((label, nth) => {
    const [point, letter, ...rest] = label.split(':')
    assert.deepStrictEqual([parseVertex(point), letter, rest], [points[nth], 'ABCDE'[nth], []])
  })
}

function main() {
  const {header, reports} = readReports()
  const size = header.boardSize
  const roots = parseFile(game)
  assert.strictEqual(roots.length, 1, 'one game')
  const line = mainLine(roots[0])
  const nodes = line.slice(0, reports.length)
  assert.strictEqual(line[0].data.SZ[0], String(size))
  assert(line.slice(reports.length).every(node => node.data.SBKV == null), 'the rest is the best line from the end')
  let [hotspots, bad, variations] = [0, 0, 0]
  nodes.forEach((node, nth) => {
    const report = reports[nth]
    // Sabaki's graph: Black's winrate in percent.
    const [winrate, ...more] = node.data.SBKV
    assert(more.length === 0 && Math.abs(winrate - 100 * report.rootInfo.winrate) < 0.006, `${winrate} at ${nth}`)
    checkLabels(node, report, size)
    const [, said] = node.data.C[0].match(/Black wins ([\d.]+) %/)
    assert(Math.abs(said - winrate) < 0.06, node.data.C[0])
    if (nth === 0) return
    const [color, move] = header.moves[nth - 1]
    assert.deepStrictEqual(parseVertex(node.data[color][0]), vertex(move, size), `move ${nth}`)
    const loss = (reports[nth - 1].rootInfo.winrate - report.rootInfo.winrate) * (color === 'B' ? 1 : -1)
    const isBest = reports[nth - 1].moveInfos[0].move === move
    const expected = isBest ? 'TE' : loss >= 0.15 ? 'BM' : loss >= 0.05 ? 'DO' : undefined
    assert.strictEqual(judgement(node), expected, `a loss of ${loss} at move ${nth}`)
    if (loss >= 0.05) bad += 1
    if (node.data.HO != null) hotspots += 1
    if (!isBest && loss >= 0.05) {
      // The better line stands beside the move.
      const better = nodes[nth - 1].children[1]
      assert(better.data.C[0].startsWith('Better: '), `no better line at move ${nth}`)
      variations += 1
    }
  })
  assert.strictEqual(hotspots, Math.min(bad, HOTSPOTS), 'hotspots')
  assert(variations > 0, 'the game has a bad move')
  console.log(`Sabaki reads ${nodes.length} positions, ${hotspots} hotspots, ${variations} variations`)
}

main()
