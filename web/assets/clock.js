// The clocks of both players: main time, then periods of which only those that run out are lost.
// @ts-check

/** @typedef {import('./link.js').Player} Player */
/** @typedef {{main: number, periods: number}} Left Seconds of the main time, and periods. */

// Seconds of a move for the way to the server and back.
const LAG = 0.3;

export class Clock {
  /**
   * @param {string} system Seconds of main time, seconds of a period and periods, with commas; '' for no clock.
   * @param {() => void} onTick
   * @param {(player: Player) => void} onLost
   */
  constructor(system, onTick, onLost) {
    const [main, period, periods] = system.split(',').map(Number);
    this.main = main;
    this.period = period;
    this.periods = periods;
    this.runs = system !== '';
    /** @type {Record<Player, Left>} */
    this.left = { B: { main: this.main, periods: this.periods }, W: { main: this.main, periods: this.periods } };
    /** @type {{player: Player, began: number} | null} */
    this.running = null;
    this.onTick = onTick;
    this.onLost = onLost;
    this.timer = 0;
  }

  /** @param {Player} player */
  start(player) {
    this.stop();
    if (!this.runs) return;
    this.running = { player, began: performance.now() };
    this.timer = setInterval(() => {
      this.onTick();
      if (this.after(player, this.used()).periods > 0) return;
      this.stop();
      this.onLost(player);
    }, 250);
  }

  stop() {
    clearInterval(this.timer);
    this.running = null;
  }

  used() {
    return this.running ? (performance.now() - this.running.began) / 1000 : 0;
  }

  /**
   * What is left after so many seconds of a move.
   * @param {Player} player
   * @param {number} used
   * @returns {Left}
   */
  after(player, used) {
    const { main, periods } = this.left[player];
    const over = Math.max(0, used - main);
    return { main: Math.max(0, main - used), periods: periods - Math.floor(over / this.period) };
  }

  /** A move was made. @param {Player} player */
  spend(player) {
    if (this.running?.player === player) this.left[player] = this.after(player, this.used());
    this.stop();
  }

  /**
   * Seconds for the search of a move; `null` without a clock.
   * @param {Player} player
   * @param {number} size
   */
  budget(player, size) {
    if (!this.runs) return null;
    const { main } = this.left[player];
    return Math.max(0.1, Math.max(main / (size * size / 4), this.period) - LAG);
  }

  /** @param {Player} player */
  said(player) {
    if (!this.runs) return '';
    const used = this.running?.player === player ? this.used() : 0;
    const { main, periods } = this.after(player, used);
    if (main > 0) return `${Math.floor(main / 60)}:${`${Math.floor(main % 60)}`.padStart(2, '0')}`;
    const over = Math.max(0, used - this.left[player].main) % this.period;
    return `${Math.ceil(this.period - over)} s, ${Math.max(0, periods)}×`;
  }
}
