/**
 * Whether a decrypted value is the object of its key. Not every provider authenticates the key, and one
 * without authentication decrypts any bytes to something: an attacker who can write to the store must not be able to put
 * the secret of one namespace where another's is read.
 *
 *   core/secrets/team-a/db   ←   { "metadata": { "name": "db", "namespace": "team-a", … } }
 */
import { storedText } from '../item.ts';

/** How objects of every kind begin when they are written by this server. */
const usual =
  /^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{"name":"([^"\\]*)"(?:,"generateName":"[^"\\]*")?(?:,"namespace":"([^"\\]*)")?[,}]/;
const HEAD = 1024;

/** `collection` is the part of the key that is the same for all objects of the kind. */
export function isObjectOfKey(value: Buffer, key: string, collection: string): boolean {
  const place = key.slice(collection.length);
  try {
    const text = storedText(value);
    const head = usual.exec(text.toString('latin1', 0, HEAD));
    if (head !== null) return placeOf(head[1], head[2]) === place;
    const { metadata } = JSON.parse(text.toString()) as { metadata?: { name?: unknown; namespace?: unknown } };
    return placeOf(metadata?.name, metadata?.namespace) === place;
  } catch {
    return false;
  }
}

const placeOf = (name: unknown, namespace: unknown): string =>
  namespace === undefined || namespace === '' ? String(name) : `${String(namespace)}/${String(name)}`;
