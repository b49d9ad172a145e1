/**
 * The first objects of a server in stored form. They are the same for every server of one identity, release of the API and set of
 * feature gates, except for the uid and the time. A process encodes each of them once, and servers that start later copy its bytes:
 *
 *   encoded once   {…,"name":"view","uid":"00000000-0000-0000-0000-000000000000","creationTimestamp":"2000-01-01T00:00:00Z",…}
 *   one server     {…,"name":"view","uid":"0e7c5c1a-8d6e-4b3f-9a51-6f0f1f1a2b3c","creationTimestamp":"2026-11-16T11:25:46Z",…}
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { type Item, storedText, storedValue } from '@plat-dev/storage/item';

export const PLACEHOLDER_UID = '00000000-0000-0000-0000-000000000000';
export const PLACEHOLDER_TIME = '2000-01-01T00:00:00Z';

/** Objects that are kept: those of some identities, releases and sets of gates. What is beyond that is encoded again. */
const MAX_OBJECTS = 1024;

const preparedObjects = new BoundedCache<string, PreparedObject>(MAX_OBJECTS);

export class PreparedObject {
  readonly labels: Item['labels'];
  readonly fields: Item['fields'];
  private readonly value: Buffer;
  private readonly uidAt: readonly number[];
  private readonly timesAt: readonly number[];

  /** `value`: the stored form, with the placeholders for uid and time. */
  constructor(value: Buffer, { labels, fields }: Pick<Item, 'labels' | 'fields'>) {
    this.value = value;
    this.labels = labels;
    this.fields = fields;
    this.uidAt = placesOf(value, PLACEHOLDER_UID);
    this.timesAt = placesOf(value, PLACEHOLDER_TIME);
  }

  /** The stored form with this uid and time. */
  with(uid: string, time: string): Buffer {
    // Uids of a test may be short, and years after 9999 are long.
    if (uid.length !== PLACEHOLDER_UID.length || time.length !== PLACEHOLDER_TIME.length) {
      const text = storedText(this.value).toString();
      return storedValue(text.replaceAll(PLACEHOLDER_UID, uid).replaceAll(PLACEHOLDER_TIME, time), uid);
    }
    const value = Buffer.from(this.value);
    for (const at of this.uidAt) value.write(uid, at, 'latin1');
    for (const at of this.timesAt) value.write(time, at, 'latin1');
    return value;
  }
}

function placesOf(value: Buffer, text: string): number[] {
  const offsets: number[] = [];
  for (let at = value.indexOf(text); at >= 0; at = value.indexOf(text, at + text.length)) offsets.push(at);
  return offsets;
}

/** `key`: everything that the stored form depends on. */
export async function preparedObject(key: string, make: () => Promise<PreparedObject>): Promise<PreparedObject> {
  const cachedObject = preparedObjects.get(key);
  if (cachedObject !== undefined) return cachedObject;
  const object = await make();
  preparedObjects.set(key, object);
  return object;
}
