// SGF files as text.
// @ts-check

import { byId } from './dom.js';

// Bytes of a file without the analysis of KaTrain, and with it.
export const MOST_TEXT = Number(byId('files', HTMLElement).dataset.longestSgf);
const MOST_FILE = 1 << 24;

/** Whether a text looks like SGF. @param {string} text */
export function isGame(text) {
  return /\(\s*;/.test(text);
}

/**
 * The text of a game, without KaTrain's analysis where it is too long with it; `null` where it is too long without it, too.
 * @param {string} sgf
 */
export function shortened(sgf) {
  const isLarge = () => new TextEncoder().encode(sgf).length > MOST_TEXT;
  // Nothing of KT (gzip in base64) is read, and it is most of a long game that was saved with its analysis.
  if (isLarge()) sgf = sgf.replace(/([\];]\s*)(?:KTV?(?:\s*\[[A-Za-z0-9+/=.\s]*\])+\s*)+/g, '$1');
  return isLarge() ? null : sgf;
}

/**
 * The text of a file. An error says why there is none.
 * @param {File} file
 */
export async function textOf(file) {
  if (file.size > MOST_FILE) throw new Error('The file is larger than 16 MiB, which is the limit.');
  const bytes = await file.arrayBuffer().catch(() => null);
  // A folder, or a file that is gone.
  if (bytes === null) throw new Error(`${file.name} cannot be read.`);
  return decoded(bytes);
}

/** The text of a file: in UTF-8, the encoding that its CA names, or Latin-1. @param {ArrayBuffer} bytes */
function decoded(bytes) {
  const latin = new TextDecoder('latin1').decode(bytes);
  const named = /\bCA\s*\[\s*([^\]\s]+)\s*\]/.exec(latin)?.[1];
  for (const encoding of ['utf-8', named]) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {
      // It is in another encoding, or the name is unknown.
    }
  }
  return latin;
}
