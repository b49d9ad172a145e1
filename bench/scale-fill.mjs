// Fills the data directory of a stopped server with copies of one of its objects, through the store itself: a million creates
// through the API would take longer than all that is measured afterwards.
import { importTyped } from './typed.mjs';

/** Operations of one commit. */
const COMMIT = 1_000;
/** Names and uids of copies have the length of those of the object, so that they are written over it. */
export const numbered = (i) => `n${String(i).padStart(7, '0')}`;

/**
 * Makes `count` objects of the one at `key` (`PREFIX/NAMESPACE/NAME`), which has the name `numbered(0)`, in `namespaces`
 * namespaces: the name of the first ends with 0, those of the others with 1 to 9.
 */
export async function fillStore(dataDir, key, count, namespaces = 10) {
  const { openLmdbEngine } = await importTyped('packages/storage/src/engines/lmdb.ts');
  const engine = await openLmdbEngine({ dataDir });
  const { value } = await engine.get(key);
  const text = value.toString('latin1');
  const [, namespace, uid] = /"namespace":"([^"]+)","uid":"([^"]+)"/.exec(text);
  const placesOf = (part) => Array.from(text.matchAll(new RegExp(part, 'g')), ({ index }) => index);
  const [names, spaces, uids] = [numbered(0), namespace, uid].map(placesOf);
  const collection = key.slice(0, -(namespace.length + numbered(0).length + 1));
  const copy = (i) => {
    const made = Buffer.from(value);
    const space = `${namespace.slice(0, -1)}${i % namespaces}`;
    for (const at of names) made.write(numbered(i), at, 'latin1');
    for (const at of spaces) made.write(space, at, 'latin1');
    for (const at of uids) made.write(String(i).padStart(12, '0'), at + uid.length - 12, 'latin1');
    return { type: 'put', key: `${collection}${space}/${numbered(i)}`, value: made };
  };
  for (let first = 1; first < count; first += COMMIT) {
    const size = Math.min(COMMIT, count - first);
    await engine.commit(Array.from({ length: size }, (_, i) => copy(first + i)));
  }
  await engine.close();
  return { bytes: value.length };
}
