// The game with which the page for reviews begins: that of its address, or the one that the browser keeps.
// @ts-check

/**
 * @typedef {object} Kept A game, and what it is analysed with.
 * @property {string | null} sgf
 * @property {string | null} [model]
 * @property {string | null} [second] The model that is compared with it.
 * @property {number} [visits]
 * @property {boolean} [analysed] Whether the visitor has had all of its positions analysed.
 */

const KEPT = 'tengen-review';

/**
 * Keeps a game.
 * @param {Kept} game
 * @param {boolean} differs Whether it is another than that of the address.
 */
export function keepGame(game, differs) {
  const kept = JSON.stringify(game);
  try {
    sessionStorage.setItem(KEPT, kept);  // a reload resumes the game of its own tab
    // Otherwise a reload would open the game of the address, and keep that one.
    if (differs && location.search !== '') history.replaceState(null, '', location.pathname);
    localStorage.setItem(KEPT, kept);
  } catch {
    // The browser keeps less than the file has.
  }
}

/**
 * The game of the address, which was played on this server, or else the last one.
 * @returns {Kept | null}
 */
export function found() {
  const hash = /^#game=(.*)$/.exec(location.hash);
  // Otherwise a reload would open the game as it was then, without the moves since.
  if (hash) history.replaceState(null, '', location.pathname + location.search);
  const kept = () => sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT);
  for (const read of [() => hash && decodeURIComponent(hash[1]), kept]) {
    try {
      const game = JSON.parse(read() ?? 'null');
      if (game && 'sgf' in game) return game;
    } catch {
      // It is not readable.
    }
  }
  return null;
}

/**
 * A game of this server that the address names, such as one of a run; after a reload with what it was analysed with.
 * @returns {Promise<Kept | null>}
 */
export async function linked() {
  const address = new URLSearchParams(location.search).get('sgf');
  if (!address) return null;
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) return null;
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`the game could not be read: ${reply.status} ${reply.statusText}`);
  const sgf = await reply.text();
  const model = new URLSearchParams(location.search).get('model');
  const kept = found();
  return kept !== null && kept.sgf === sgf && (model === null || model === kept.model) ? kept : { sgf, model };
}
