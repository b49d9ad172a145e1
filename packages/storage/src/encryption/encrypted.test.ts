import { seededRandom } from '@plat-dev/lib/random';
import { describe, expect, test } from 'vitest';
import type { ChangeRecord, Engine, Operation } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import type { EncryptionRule } from './config.ts';
import { EncryptedEngine, MOST_OWN, MOST_OWN_BYTES } from './encrypted.ts';
import { KMS_VERSION, type KmsTransport } from './kms.ts';
import { storedFormOf } from './stored-form.ts';
import { key, onSecrets, rulesOf, secretKey, secretValue } from './testing.ts';

const put = (name: string, text: string, expect?: number): Operation => ({
  type: 'put',
  key: secretKey('team', name),
  value: secretValue('team', name, text),
  ...(expect !== undefined && { expect }),
});
const kms = { type: 'kms', version: 'v1', name: 'vault', socket: '/x', cacheSize: 2, timeoutMs: 1000 } as const;
const local = { type: 'aesgcm', keys: [key('one')] } as const;

/** Answers when it is told to, in any order. */
class SlowPlugin implements KmsTransport {
  readonly waiting: (() => void)[] = [];
  slow = false;
  fault: string | undefined;
  version = async (): Promise<string> => KMS_VERSION;
  encrypt = (plain: Buffer): Promise<Buffer> => this.#later(plain);
  decrypt = (cipher: Buffer): Promise<Buffer> => this.#later(cipher);
  close(): void {}
  #later(bytes: Buffer): Promise<Buffer> {
    if (this.fault !== undefined) return Promise.reject(new Error(this.fault));
    const answer = Buffer.from(bytes.map((byte) => byte ^ 0xff));
    return this.slow ? new Promise((resolve) => this.waiting.push(() => resolve(answer))) : Promise.resolve(answer);
  }
}

/** An engine of another kind: other processes write to it, and it delivers copies. */
function shared(engine: Engine): Engine {
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'exclusive') return false;
      const found = Reflect.get(target, name) as unknown;
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

test('a star encrypts what no closer name is given for, custom kinds among it, and nothing else', async () => {
  const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ type: 'aesgcm', keys: [key(name)] }) as const);
  const providers = (provider: typeof one) => (provider === undefined ? [] : [provider]);
  const rules = rulesOf([
    {
      collections: [],
      wildcards: [{ pattern: '*', collections: ['core/secrets/', 'core/configmaps/', 'apps/deployments/'] }],
      providers: providers(one),
    },
    { collections: [], wildcards: [{ pattern: '~example.com/*', collections: [] }], providers: providers(two) },
    { collections: ['core/secrets/'], wildcards: [], providers: providers(three) },
  ]).rules;
  const memory = openMemoryEngine();
  const engine = new EncryptedEngine(memory, rules);
  const value = secretValue('team', 'a', '1');
  const keys = [
    'core/secrets/team/a',
    'core/configmaps/team/a',
    '~example.com/widgets/team/a',
    '~other.org/things/team/a',
    'plain',
    'notes/of/server',
  ];
  for (const at of keys) await engine.commit([{ type: 'put', key: at, value }]);
  const forms = new Map((await memory.range({ prefix: '' })).entries.map((entry) => [entry.key, storedFormOf(entry.value)?.name]));
  expect(keys.map((at) => forms.get(at))).toEqual(['three', 'one', 'two', 'one', undefined, undefined]);
  expect((await engine.range({ prefix: '~' })).entries.map((entry) => entry.value.equals(value))).toEqual([true, true]);

  const fresh = rulesOf([{ collections: [], wildcards: [{ pattern: '*', collections: [] }], providers: providers(one) }]).rules;
  await fresh.see(memory);
  expect(fresh.collections).toEqual(['~example.com/widgets/', '~other.org/things/']);
  expect(fresh.lostAgainst(rules).sort()).toEqual(
    ['core/configmaps/', 'core/secrets/', '~example.com/widgets/'].concat('apps/deployments/').sort(),
  );
});

describe('with keys of its own', () => {
  test('history is encrypted in the store and decrypted when it is read; a value of a lost key is marked, its note is readable', async () => {
    const rule = { retentionMs: 3_600_000, values: true, mostBytesPerKey: 1_000_000 };
    const memory = openMemoryEngine({ history: { ruleOf: () => rule, mostBytes: 1_000_000 } });
    const engine = new EncryptedEngine(memory, rulesOf(onSecrets(local)).rules);
    await engine.commit([{ ...put('a', '1'), note: Buffer.from('alice') } as Operation]);
    await engine.commit([put('a', '2')]);
    await engine.commit([{ type: 'delete', key: secretKey('team', 'a') }]);
    await engine.compact(engine.revision);
    const request = { prefix: secretKey('team', 'a'), exact: true, limit: 10 };
    const values = [undefined, secretValue('team', 'a', '2'), secretValue('team', 'a', '1')];
    expect((await engine.history.versions(request)).versions.map(({ value }) => value)).toEqual(values);
    expect((await engine.history.at({ prefix: '', at: 1, limit: 10 })).versions.map(({ value }) => value)).toEqual(values.slice(2));
    for (const { value } of (await memory.history.versions(request)).versions) expect(value?.includes('Secret') ?? false).toBe(false);
    engine.use(rulesOf(onSecrets({ type: 'aesgcm', keys: [key('another')] })).rules);
    const [, , first] = (await engine.history.versions(request)).versions;
    expect(first).toMatchObject({ value: Buffer.alloc(0), note: Buffer.from('alice'), unreadable: { reason: expect.any(String) } });
    await engine.close();
  });

  test('a commit is numbered before the call returns, and subscribers get the very buffers that were written', async () => {
    const memory = openMemoryEngine();
    const { rules, counts } = rulesOf(onSecrets(local));
    const engine = new EncryptedEngine(memory, rules);
    const seen: ChangeRecord[] = [];
    engine.subscribe(
      0,
      (changes) => void seen.push(...changes),
      () => {},
    );
    await new Promise((resolve) => setImmediate(resolve));
    const operations = [put('a', '1'), { type: 'put', key: 'core/pods/team/p', value: Buffer.from('plain') } as const];
    let assigned = 0;
    const done = engine.commit(operations, (revision) => {
      assigned = revision;
    });
    expect(assigned).toBe(1);
    await done;
    expect(seen.map(({ value }) => value)).toEqual(operations.map((one) => 'value' in one && one.value));
    for (const [i, change] of seen.entries()) expect(change.value).toBe((operations[i] as { value: Buffer }).value);
    expect(counts.transformed).toEqual(['to_storage aesgcm OK']);
    // The store itself, its history and its changes hold none of it.
    expect((await memory.get(secretKey('team', 'a')))?.value.includes('Secret')).toBe(false);
    expect((await memory.changes({ after: 0, prefix: 'core/secrets/' }))[0]?.value?.includes('Secret')).toBe(false);
    expect((await engine.get(secretKey('team', 'a')))?.value).toEqual(secretValue('team', 'a', '1'));
    expect((await engine.changes({ after: 0, prefix: '' })).map(({ value }) => value)).toEqual(seen.map(({ value }) => value));
    expect((await engine.range({ prefix: 'core/' })).entries).toHaveLength(2);
    await engine.close();
  });

  test('a value that cannot be read is delivered in its place, and its reason holds nothing of keys', async () => {
    const memory = openMemoryEngine();
    const before = new EncryptedEngine(memory, rulesOf(onSecrets(local)).rules);
    await before.commit([put('a', '1')]);
    await memory.commit([{ type: 'put', key: secretKey('team', 'plain'), value: secretValue('team', 'plain') }]);
    const engine = new EncryptedEngine(memory, rulesOf(onSecrets({ type: 'aescbc', keys: [key('two')] })).rules);
    const { entries } = await engine.range({ prefix: 'core/secrets/' });
    expect(entries.map(({ value, unreadable }) => [value.length, unreadable?.reason])).toEqual([
      [
        0,
        'it is encrypted by aesgcm with the key "one"; no matching key: the encryption configuration has none of that provider and name for core/secrets; put the key back to read the object again',
      ],
      [0, 'it is not encrypted, and the encryption configuration does not list identity for core/secrets'],
    ]);
    await engine.commit([{ type: 'delete', key: secretKey('team', 'a'), expect: 1 }]);
    engine.use(rulesOf(onSecrets({ type: 'identity' })).rules);
    expect((await engine.get(secretKey('team', 'plain')))?.unreadable).toBeUndefined();
    await engine.close();
  });

  test.each(['aescbc', 'secretbox', 'aesgcm'] as const)('%s: a value in the place of another object is refused', async (type) => {
    const memory = openMemoryEngine();
    const engine = new EncryptedEngine(memory, rulesOf(onSecrets({ type, keys: [key('one')] })).rules);
    await engine.commit([put('a', '1')]);
    const stolen = (await memory.get(secretKey('team', 'a')))?.value as Buffer;
    await memory.commit([
      { type: 'put', key: secretKey('other', 'a'), value: stolen },
      { type: 'put', key: secretKey('team', 'b'), value: stolen },
    ]);
    for (const place of [secretKey('other', 'a'), secretKey('team', 'b')])
      expect((await engine.get(place))?.unreadable?.reason).toContain('it is not the value of this object');
    await engine.close();
  });

  test('the first key writes, all read; one that is not the first is outdated', async () => {
    const memory = openMemoryEngine();
    const [one, two] = [key('one'), key('two')];
    const engine = new EncryptedEngine(memory, rulesOf(onSecrets({ type: 'secretbox', keys: [one] })).rules);
    await engine.commit([put('a', '1')]);
    expect(await engine.isOutdated(secretKey('team', 'a'))).toBe(false);
    const rotated = rulesOf(onSecrets({ type: 'aescbc', keys: [two] }, { type: 'secretbox', keys: [one] })).rules;
    engine.use(rotated);
    expect((await engine.get(secretKey('team', 'a')))?.value).toEqual(secretValue('team', 'a', '1'));
    expect(await engine.isOutdated(secretKey('team', 'a'))).toBe(true);
    await engine.commit([put('a', '1')]);
    expect(await engine.isOutdated(secretKey('team', 'a'))).toBe(false);
    expect(await engine.isOutdated('core/pods/team/a')).toBe(false);
    engine.use(rulesOf(onSecrets({ type: 'aescbc', keys: [key('two'), two] })).rules);
    expect(await engine.isOutdated(secretKey('team', 'a'))).toBe(true);
    await engine.close();
  });

  test.each([
    ['by number', MOST_OWN + 10, 'text', 10],
    ['by bytes', 10, 'x'.repeat(MOST_OWN_BYTES / 8), 3],
  ])('own values that do not come back are kept up to a bound, %s', async (_, written, text, forgotten) => {
    const memory = openMemoryEngine();
    const { rules, counts } = rulesOf(onSecrets(local));
    const engine = new EncryptedEngine(shared(memory), rules);
    for (let i = 0; i < written; i++) await engine.commit([put(`a${i}`, text)]);
    const seen: ChangeRecord[] = [];
    const end = engine.subscribe(
      0,
      (changes) => void seen.push(...changes),
      () => {},
    );
    while (seen.length < written) await new Promise((resolve) => setImmediate(resolve));
    end();
    expect(seen.every(({ unreadable }) => unreadable === undefined)).toBe(true);
    expect(counts.transformed.filter((one) => one === 'from_storage aesgcm OK')).toHaveLength(forgotten);
    await memory.close();
  });

  test('a resource of two rules has the providers of both, the first of them writing', () => {
    const { rules } = rulesOf([...onSecrets(local), ...onSecrets({ type: 'aescbc', keys: [key('two')] }, { type: 'identity' })]);
    expect(rules.ofCollection('core/secrets/')?.providers.map(({ type }) => type)).toEqual(['aesgcm', 'aescbc', 'identity']);
  });

  test('rules know what they cannot read any more', () => {
    const two = key('two');
    const before = rulesOf(onSecrets(local, { type: 'identity' })).rules;
    const lost = (...providers: EncryptionRule['providers']): string[] => rulesOf(onSecrets(...providers)).rules.lostAgainst(before);
    expect(lost({ type: 'aescbc', keys: [two] }, local, { type: 'identity' })).toEqual([]);
    expect(lost(local)).toEqual(['core/secrets/']);
    expect(lost({ type: 'aesgcm', keys: [key('one')] }, { type: 'identity' })).toEqual(['core/secrets/']);
    expect(rulesOf([]).rules.lostAgainst(before)).toEqual(['core/secrets/']);
    expect(before.lostAgainst(rulesOf([]).rules)).toEqual([]);
    expect(rulesOf(onSecrets(local)).rules.lostAgainst(rulesOf([]).rules)).toEqual(['core/secrets/']);
  });
});

describe('with a plug-in', () => {
  test('changes of others are delivered in order, whatever order the plug-in answers in', async () => {
    const memory = openMemoryEngine();
    const plugin = new SlowPlugin();
    const writer = new EncryptedEngine(memory, rulesOf(onSecrets(kms), { connect: () => plugin }).rules);
    const reader = new EncryptedEngine(shared(memory), rulesOf(onSecrets(kms), { connect: () => plugin }).rules);
    const random = seededRandom(7);
    for (let i = 0; i < 20; i++) await writer.commit([put(`a${i}`, String(i)), put(`b${i}`, String(i))]);
    plugin.slow = true;
    const seen: [string, number][] = [];
    reader.subscribe(
      0,
      (changes, revision) => {
        for (const change of changes) seen.push([change.key, change.revision]);
        expect(revision).toBeGreaterThanOrEqual(changes.at(-1)?.revision ?? 0);
      },
      () => {},
    );
    while (seen.length < 40) {
      await new Promise((resolve) => setImmediate(resolve));
      if (plugin.waiting.length > 0) plugin.waiting.splice(random.below(plugin.waiting.length), 1)[0]?.();
    }
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => [secretKey('team', `${i % 2 === 0 ? 'a' : 'b'}${i >> 1}`), (i >> 1) + 1]));
    await memory.close();
  });

  test('one that is gone fails writes with its reason, and reads of what is not known for now', async () => {
    const memory = openMemoryEngine();
    const plugin = new SlowPlugin();
    const retried: string[] = [];
    const engine = new EncryptedEngine(memory, rulesOf(onSecrets(kms), { connect: () => plugin }).rules, (collection) =>
      retried.push(collection),
    );
    for (const name of ['a', 'b', 'c']) await engine.commit([put(name, name)]);
    plugin.fault = 'it cannot be reached';
    await expect(engine.commit([put('d', 'd')])).rejects.toMatchObject({
      code: 500,
      message: 'Internal error occurred: the object was not written: the KMS plug-in "vault" could not encrypt: it cannot be reached',
    });
    // The keys of two are kept.
    expect((await engine.get(secretKey('team', 'c')))?.value).toEqual(secretValue('team', 'c', 'c'));
    expect(retried).toEqual([]);
    expect((await engine.get(secretKey('team', 'a')))?.unreadable?.reason).toContain('the KMS plug-in "vault" could not');
    expect(retried).toEqual(['core/secrets/']);
    await engine.commit([{ type: 'delete', key: secretKey('team', 'a') }]);
    await memory.close();
  });
});
