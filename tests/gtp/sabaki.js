// Plays whole games through Sabaki's GTP client, with analysis, taken back moves and handicaps as Sabaki does it.
//
//     NODE_PATH=.venv/node/node_modules node tests/gtp/sabaki.js tengen gtp --model uniform --visits 20
//
// Prints what was played. Exits with 1 at the first thing that is not as Sabaki needs it.

const assert = require('assert')
const {Controller, ControllerStateTracker} = require('@sabaki/gtp')

const [program, ...options] = process.argv.slice(2)
const BOARD = 9
const VERTEX = /^([A-HJ][1-9]|pass)$/

let lines = 0

// A line of analysis, by Sabaki's guide for engine developers: `info KEY VALUE… pv VERTEX…`, once for each move.
function parse(line) {
  const infos = line.split(/\s*\binfo\s+/).slice(1)
  assert(infos.length > 0, `no info in ${line}`)
  lines += 1
  return infos.map(info => {
    const [pairs, variation] = info.split(/\s+pv\s+/)
    const words = pairs.split(/\s+/)
    assert(words.length % 2 === 0, `keys without values in ${info}`)
    const fields = {}
    for (let i = 0; i < words.length; i += 2) fields[words[i]] = words[i + 1]
    // With a point it is a share, without one hundredths of a percent.
    const winrate = fields.winrate.includes('.') ? 100 * fields.winrate : fields.winrate / 100
    assert(winrate >= 0 && winrate <= 100, `a win rate of ${winrate} % in ${info}`)
    assert(Number.isInteger(+fields.visits) && +fields.visits > 0, `no visits in ${info}`)
    assert(VERTEX.test(fields.move), `no move in ${info}`)
    const moves = variation.trim().split(/\s+/)
    assert(moves.every(move => VERTEX.test(move)) && moves[0] === fields.move, `a bad variation in ${info}`)
    return {move: fields.move, visits: +fields.visits, winrate, moves}
  })
}

async function ask(engine, name, ...args) {
  const response = await engine.controller.sendCommand({name, args})
  assert(!response.error, `${name} ${args.join(' ')}: ${response.content}`)
  return response.content
}

async function start() {
  const controller = new Controller(program, options)
  const engine = {controller, tracker: new ControllerStateTracker(controller)}
  controller.start()
  // Sabaki asks these without waiting for answers.
  const [name, version, protocol, commands] = await Promise.all(
    ['name', 'version', 'protocol_version', 'list_commands'].map(name => ask(engine, name))
  )
  assert.strictEqual(protocol, '2')
  assert(name.length > 0 && version.length > 0)
  engine.commands = commands.split('\n')
  return engine
}

function position(history) {
  return {komi: 7, boardsize: [BOARD, BOARD], history}
}

// One game between two processes. The client follows it through the lines `play VERTEX`.
async function game(engines, command) {
  let history = []
  let passes = 0
  while (passes < 2 && history.length < 300) {
    const color = history.length % 2 === 0 ? 'B' : 'W'
    const {controller, tracker} = engines[history.length % 2]
    await tracker.sync(position(history))
    const infos = []
    const seen = ({line}) => line.startsWith('info ') && infos.push(parse(line))
    const response = await controller.sendCommand({name: command, args: [color, '2']}, seen)
    assert(!response.error, response.content)
    const played = response.content.split('\n').pop()
    if (played === 'play resign') break
    const vertex = played.replace('play ', '')
    assert(VERTEX.test(vertex), `${command} ends with ${played}`)
    if (infos.length > 0) assert.strictEqual(infos.pop()[0].move, vertex, 'the move shown first is played')
    history = [...history, {name: 'play', args: [color, vertex.toUpperCase()]}]
    assert.deepStrictEqual(tracker.state.history, history, 'the client knows the game')
    passes = vertex === 'pass' ? passes + 1 : 0
  }
  for (const {tracker} of engines) await tracker.sync(position(history))
  for (const question of [['list_stones', 'black'], ['list_stones', 'white'], ['final_score']]) {
    const [one, other] = await Promise.all(engines.map(engine => ask(engine, ...question)))
    assert.strictEqual(one, other, question.join(' '))
  }
  return history
}

// Goes back and forth in a game as a person does who looks at it, which the client does with `undo`.
async function step(engine, history) {
  for (const length of [history.length - 3, history.length - 1, 4, history.length]) {
    await engine.tracker.sync(position(history.slice(0, length)))
    const moves = (await ask(engine, 'move_history')).split('\n')
    assert.strictEqual(moves.length, length)
    assert.strictEqual(moves[0].split(' ')[1].toUpperCase(), history[length - 1].args[1])
  }
}

// Looks at an analysis for a while and ends it by another command, as Sabaki does.
async function analyze(engine, command) {
  const infos = []
  let enough
  const shown = new Promise(resolve => (enough = resolve))
  const analysis = engine.controller.sendCommand({name: command, args: ['B', '2']}, ({line}) => {
    if (line.startsWith('info ')) infos.push(parse(line))
    if (infos.length === 5) enough()
  })
  await shown
  assert(engine.controller.busy, 'an analysis goes on until it is ended')
  assert.strictEqual(await ask(engine, 'protocol_version'), '2')
  await analysis
  const total = moves => moves.reduce((sum, {visits}) => sum + visits, 0)
  assert(total(infos[4]) >= total(infos[0]), 'visits grow')
}

async function main() {
  const engines = [await start(), await start()]
  const moves = []
  for (const command of ['genmove_analyze', 'kata-genmove_analyze', 'lz-genmove_analyze']) {
    assert(engines[0].commands.includes(command), `${command} is not listed`)
    const history = await game(engines, command)
    moves.push(history.length)
    await step(engines[1], history)
  }
  for (const command of ['analyze', 'kata-analyze', 'lz-analyze']) await analyze(engines[0], command)
  const handicap = [{name: 'set_free_handicap', args: ['C3', 'G7', 'C7']}]
  await engines[0].tracker.sync(position(handicap))
  const reply = await ask(engines[0], 'genmove', 'W')
  assert(VERTEX.test(reply), reply)
  for (const {controller} of engines) await controller.stop()
  console.log(`games of ${moves.join(', ')} moves, ${lines} lines of analysis`)
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
