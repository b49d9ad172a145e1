import { FakeClock } from '@plat-dev/lib/clock';
import { systemRandom } from '@plat-dev/lib/random';
import { plat } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { Envelope } from './envelope.ts';
import { HEALTHY_MS, KMS_V2_VERSIONS, KMS_VERSION, Kms, type KmsTransport, LARGEST_CIPHER, REST_MS, UNHEALTHY_MS } from './kms.ts';
import { MOST_CALLS, MOST_WAITING } from './plugin-keys.ts';
import { SeedEnvelope, STATUS_MS, TRUSTED_MS, writeSeed } from './seed-envelope.ts';
import { storedPrefix } from './stored-form.ts';

/** A plug-in that turns every bit, counts its calls, and does what a test tells it to. */
class Plugin implements KmsTransport {
  readonly calls: string[] = [];
  answers: Partial<KmsTransport> = {};
  version = (): Promise<string> => this.#answer('version', () => this.answers.version?.() ?? Promise.resolve(KMS_VERSION));
  encrypt = (plain: Buffer): Promise<Buffer> =>
    this.#answer('encrypt', () => this.answers.encrypt?.(plain) ?? Promise.resolve(turned(plain)));
  decrypt = (cipher: Buffer): Promise<Buffer> =>
    this.#answer('decrypt', () => this.answers.decrypt?.(cipher) ?? Promise.resolve(turned(cipher)));
  close = (): void => {};
  #answer<T>(name: string, answer: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    return answer();
  }
}
const turned = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff));
const fails = (why: string) => (): Promise<never> => Promise.reject(new Error(why));

function setUp(cacheSize = 10) {
  const clock = new FakeClock();
  const plugin = new Plugin();
  const kms = new Kms('vault', plugin, clock, systemRandom);
  const seen = { misses: 0, fill: 0, ok: 0, failed: 0 };
  const envelope = new Envelope({
    prefix: Buffer.from(storedPrefix(plat, 'kms', 'vault')),
    id: 'id',
    kms,
    cacheSize,
    random: systemRandom,
    now: () => clock.monotonic(),
    observer: {
      cacheMiss: () => void seen.misses++,
      cacheFill: (share) => {
        seen.fill = share;
      },
      keyGenerated: (_, ok) => void (ok ? seen.ok++ : seen.failed++),
    },
  });
  return { clock, plugin, kms, envelope, seen };
}
const value = Buffer.from('the value of an object');

describe('an envelope', () => {
  test('has a key of its own for every write, and reads its own writes without the plug-in', async () => {
    const { plugin, envelope, seen } = setUp();
    const [one, two] = [await envelope.seal(value), await envelope.seal(value)];
    expect(one.toString('latin1', 0, 22)).toBe('plat:enc:kms:v1:vault:');
    const length = one.readUInt16BE(22);
    expect(one.subarray(24, 24 + length).equals(two.subarray(24, 24 + length))).toBe(false);
    expect(one.includes(value)).toBe(false);
    // The first use proves the plug-in by a round trip.
    expect(plugin.calls).toEqual(['version', 'encrypt', 'decrypt', 'encrypt', 'encrypt']);
    expect(envelope.open(one)).toEqual(value);
    expect(envelope.open(two)).toEqual(value);
    expect(plugin.calls).toHaveLength(5);
    expect(seen).toMatchObject({ misses: 0, ok: 2, fill: 0.2 });
  });

  test('keeps as many keys as it may, and asks once for a key that several want', async () => {
    const { plugin, envelope, seen } = setUp(1);
    const [one, two] = [await envelope.seal(value), await envelope.seal(value)];
    expect(envelope.open(two)).toEqual(value);
    plugin.calls.length = 0;
    expect(await Promise.all([envelope.open(one), envelope.open(one)])).toEqual([value, value]);
    expect(plugin.calls).toEqual(['decrypt']);
    expect(seen).toMatchObject({ misses: 2, fill: 1 });
  });

  test('is not opened when it is cut short or its length lies', async () => {
    const { envelope } = setUp();
    const sealed = await envelope.seal(value);
    for (const end of [0, 22, 23, 24, 30, 60]) expect(await envelope.open(sealed.subarray(0, end))).toBeUndefined();
    const lying = Buffer.from(sealed);
    lying.writeUInt16BE(0xffff, 22);
    expect(envelope.open(lying)).toBeUndefined();
  });

  test('a wrong key of the plug-in opens nothing, and is not kept once it is distrusted', async () => {
    const { plugin, envelope } = setUp(1);
    const [sealed] = [await envelope.seal(value), await envelope.seal(value)];
    plugin.answers.decrypt = async () => Buffer.alloc(32);
    const wrong = await envelope.open(sealed);
    expect(wrong === undefined || !wrong.equals(value)).toBe(true);
    envelope.distrust(sealed);
    plugin.answers = {};
    expect(await envelope.open(sealed)).toEqual(value);
    plugin.answers.decrypt = async () => Buffer.alloc(5);
    envelope.distrust(sealed);
    await expect(envelope.open(sealed)).rejects.toThrow('the KMS plug-in "vault" answered a key of 5 bytes');
  });

  test('so many calls at once, so many values that wait, and no more', async () => {
    const { plugin, envelope } = setUp();
    const sealed = await envelope.seal(value);
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    plugin.answers.decrypt = async (cipher) => {
      await held;
      return turned(cipher);
    };
    plugin.calls.length = 0;
    const opening = Array.from({ length: MOST_CALLS + MOST_WAITING + 1 }, (_, i) => {
      const other = Buffer.from(sealed);
      other.writeUInt32BE(i, 24);
      return Promise.resolve(envelope.open(other)).then(
        () => 'opened',
        (error: Error) => error.message,
      );
    });
    expect(await opening.at(-1)).toBe('too many values wait for the KMS plug-in "vault"');
    expect(plugin.calls).toHaveLength(MOST_CALLS);
    answer();
    expect((await Promise.all(opening)).filter((outcome) => outcome === 'opened')).toHaveLength(MOST_CALLS + MOST_WAITING);
  });
});

describe('a plug-in that cannot be trusted writes nothing', () => {
  test.each<[string, Partial<KmsTransport>, string]>([
    ['another version', { version: async () => 'v2' }, 'could not report its version: it speaks version "v2", not v1beta1'],
    ['an empty answer', { encrypt: async () => Buffer.alloc(0) }, 'the answer is empty'],
    ['the key itself', { encrypt: async (plain) => plain }, 'the answer holds the key itself'],
    ['a huge answer', { encrypt: async () => Buffer.alloc(LARGEST_CIPHER + 1) }, 'are the most'],
    [
      'what it cannot decrypt',
      { decrypt: async () => Buffer.from('other') },
      'could not decrypt what it encrypted: the answer is another value',
    ],
    ['a failure', { encrypt: fails('PERMISSION_DENIED: no') }, 'PERMISSION_DENIED: no'],
  ])('%s', async (_, answers, message) => {
    const { plugin, envelope, seen } = setUp();
    plugin.answers = answers;
    await expect(envelope.seal(value)).rejects.toThrow(message);
    expect(seen.failed).toBe(1);
  });
});

describe('a plug-in that is gone', () => {
  test('is left alone for a while, then proved again', async () => {
    const { clock, plugin, kms } = setUp();
    await kms.encrypt(value);
    plugin.answers.encrypt = fails('it cannot be reached');
    await expect(kms.encrypt(value)).rejects.toThrow('the KMS plug-in "vault" could not encrypt: it cannot be reached');
    plugin.calls.length = 0;
    for (let i = 0; i < 1000; i++) await expect(kms.decrypt(value)).rejects.toThrow('it cannot be reached');
    expect(plugin.calls).toEqual([]);
    plugin.answers = {};
    await clock.advance(REST_MS - 1);
    await expect(kms.decrypt(value)).rejects.toThrow('it cannot be reached');
    await clock.advance(1);
    expect(await kms.decrypt(turned(value))).toEqual(value);
    expect(plugin.calls).toEqual(['version', 'encrypt', 'decrypt', 'decrypt']);
  });

  test('shows in its health check, whose outcome is believed for a while', async () => {
    const { clock, plugin, kms } = setUp();
    await kms.check();
    plugin.answers.version = fails('it cannot be reached');
    await kms.check();
    await clock.advance(HEALTHY_MS);
    const asked = [kms.check(), kms.check()];
    for (const one of asked) await expect(one).rejects.toThrow('it cannot be reached');
    expect(plugin.calls.filter((name) => name === 'version')).toHaveLength(2);
    plugin.answers = {};
    await expect(kms.check()).rejects.toThrow('it cannot be reached');
    await clock.advance(UNHEALTHY_MS);
    await kms.check();
  });
});

describe('an envelope of version v2', () => {
  const place = 'core/secrets/team/db';
  function second() {
    const clock = new FakeClock();
    const plugin = new Plugin();
    let keyId = 'key-1';
    plugin.answers = {
      version: async () => 'v2',
      encrypt: async (plain) => writeSeed({ keyId, cipher: turned(plain), notes: [] }),
      decrypt: async (sealed) => turned(sealed.subarray(-32)),
    };
    const named = Object.assign(plugin, { keyId: async () => keyId });
    const kms = new Kms('vault', named, clock, systemRandom, undefined, KMS_V2_VERSIONS);
    const observer = { cacheMiss: () => {}, cacheFill: () => {}, keyGenerated: () => {} };
    const options = {
      prefix: Buffer.from(storedPrefix(plat, 'kms', 'vault', 'v2')),
      id: 'id',
      kms,
      cacheSize: 10,
      random: systemRandom,
      observer,
    };
    const envelope = () => new SeedEnvelope({ ...options, now: () => clock.monotonic() });
    return { clock, plugin: named, envelope, useKey: (name: string) => (keyId = name) };
  }

  test('has one seed for many writes, of which each has a key of its own, bound to its place', async () => {
    const { plugin, envelope } = second();
    const writer = envelope();
    const [one, two] = [await writer.seal(value, place), await writer.seal(value, place)];
    expect(one.toString('latin1', 0, 22)).toBe('plat:enc:kms:v2:vault:');
    expect(one.equals(two)).toBe(false);
    expect(one.includes(value)).toBe(false);
    // A round trip proves the plug-in first.
    expect(plugin.calls).toEqual(['version', 'encrypt', 'decrypt', 'encrypt']);
    expect(await writer.open(one, place)).toEqual(value);
    expect(await envelope().open(two, place)).toEqual(value);
    expect(await envelope().open(two, 'core/secrets/team/other')).toBeUndefined();
    const damaged = Buffer.from(two);
    damaged[60] = (damaged[60] as number) ^ 1;
    expect(await writer.open(damaged, place)).toBeUndefined();
    for (let length = 0; length < 60; length++) expect(await writer.open(one.subarray(0, 22 + length), place)).toBeUndefined();
  });

  test('has another seed when the key of the plug-in is another, which it learns within a minute', async () => {
    const { clock, envelope, useKey } = second();
    const writer = envelope();
    const keyIdIn = async () => (/key-\d/.exec((await writer.seal(value, place)).toString('latin1')) ?? [])[0];
    expect(await keyIdIn()).toBe('key-1');
    useKey('key-2');
    expect(await keyIdIn()).toBe('key-1');
    const older = await writer.seal(value, place);
    expect(await writer.isCurrent(older)).toBe(true);
    await clock.advance(STATUS_MS);
    expect(await keyIdIn()).toBe('key-2');
    expect([await writer.isCurrent(older), await writer.isCurrent(await writer.seal(value, place))]).toEqual([false, true]);
  });

  test('is used for three minutes though the plug-in is away, and no longer', async () => {
    const { clock, plugin, envelope } = second();
    const writer = envelope();
    const written = await writer.seal(value, place);
    plugin.keyId = fails('gone');
    await clock.advance(TRUSTED_MS - 1);
    expect(await writer.open(await writer.seal(value, place), place)).toEqual(value);
    await clock.advance(REST_MS + 1);
    await expect(writer.seal(value, place)).rejects.toThrow('gone');
    expect(await writer.open(written, place)).toEqual(value);
  });
});
