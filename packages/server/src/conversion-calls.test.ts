import type { Kind } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { storedText, storedValue } from '@plat-dev/storage/item';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AdmissionRequest } from './admission/types.ts';
import { type DoorServer, door, doors, GROUP, type Loose, startDoors } from './conversion-calls.testing.ts';

let server: DoorServer;
beforeEach(async () => {
  server = await startDoors();
});
afterEach(() => server.close());

const merge = { 'content-type': 'application/merge-patch+json' };
const applied = { 'content-type': 'application/apply-patch+yaml' };
const ask: DoorServer['ask'] = (...args) => server.ask(...args);
/** Calls since the last time. */
const calls = (): string[] => server.calls.made.splice(0);
const owners = (object: Loose): Loose =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry: Loose) => [
      `${entry.manager} ${entry.operation} ${entry.apiVersion.split('/')[1]}`,
      entry.fieldsV1,
    ]),
  );

describe('reads', () => {
  test('an object is shown in both versions, and the stored one takes no call', async () => {
    const made = await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
    expect([made.status, made.json.spec]).toEqual([201, { host: 'h', port: '1' }]);
    expect((await ask('GET', 'v1/a')).json.spec).toEqual({ host: 'h', port: '1' });
    expect((await ask('GET', 'v1')).json.items).toHaveLength(1);
    expect(calls()).toEqual([]);
    const { json } = await ask('GET', 'v2/a');
    expect([json.apiVersion, json.spec, json.metadata.uid]).toEqual([`${GROUP}/v2`, { addr: 'h:1' }, made.json.metadata.uid]);
    expect(calls()).toEqual(['v2 a']);
  });

  test('a list is converted in one call, an empty one in none', async () => {
    expect((await ask('GET', 'v2')).json.items).toEqual([]);
    expect(calls()).toEqual([]);
    for (let i = 0; i < 100; i++) await ask('POST', 'v1', door('v1', `d${i}`, { host: `h${i}`, port: '1' }));
    const { json } = await ask('GET', 'v2');
    expect(json.items.map((one: Loose) => `${one.metadata.name} ${one.apiVersion} ${one.spec.addr}`).sort()).toEqual(
      Array.from({ length: 100 }, (_, i) => `d${i} ${GROUP}/v2 h${i}:1`).sort(),
    );
    expect(calls()).toHaveLength(1);
  });

  test('metadata and Tables of metadata take no call, Tables with objects do', async () => {
    await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
    const as = (what: string) => ({ accept: `application/json;as=${what};v=v1;g=meta.k8s.io` });
    expect((await ask('GET', 'v2/a', undefined, as('PartialObjectMetadata'))).json.metadata.name).toBe('a');
    expect((await ask('GET', 'v2', undefined, as('PartialObjectMetadataList'))).json.items).toHaveLength(1);
    expect((await ask('GET', 'v2', undefined, as('Table'))).json.rows[0].cells[0]).toBe('a');
    expect(calls()).toEqual([]);
    expect((await ask('GET', 'v2?includeObject=Object', undefined, as('Table'))).json.rows[0].object.spec).toEqual({ addr: 'h:1' });
    expect((await ask('GET', 'v2/a?includeObject=Object', undefined, as('Table'))).json.rows[0].object.spec).toEqual({ addr: 'h:1' });
    expect(calls()).toEqual(['v2 a', 'v2 a']);
  });

  test('what cannot be converted is an error, and the stored version is still there', async () => {
    await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
    server.calls.broken = 'nobody is there';
    for (const path of ['v2/a', 'v2']) {
      const { status, json } = await ask('GET', path);
      expect([status, json.message, json.reason]).toEqual([500, 'nobody is there', undefined]);
    }
    expect((await ask('GET', 'v1/a')).status).toBe(200);
  });
});

describe('writes', () => {
  test('an object made in another version is judged there, stored and shown', async () => {
    const made = await ask('POST', 'v2', door('v2', 'a', { addr: 'h:1' }));
    expect([made.status, made.json.apiVersion, made.json.spec]).toEqual([201, `${GROUP}/v2`, { addr: 'h:1' }]);
    expect(calls()).toEqual(['v1 a', 'v2 a']);
    expect((await ask('GET', 'v1/a')).json.spec).toEqual({ host: 'h', port: '1' });
    const { json } = await ask('PUT', 'v2/a', { ...made.json, spec: { addr: 'h:2' } });
    expect([json.spec, json.metadata.generation]).toEqual([{ addr: 'h:2' }, 2]);
    const patched = await ask('PATCH', 'v2/a', { spec: { addr: 'g:3' } }, merge);
    expect([patched.json.spec, patched.json.metadata.generation]).toEqual([{ addr: 'g:3' }, 3]);
    const json6902 = { 'content-type': 'application/json-patch+json' };
    const replaced = await ask('PATCH', 'v2/a', [{ op: 'replace', path: '/spec/addr', value: 'f:4' }], json6902);
    expect(replaced.json.spec).toEqual({ addr: 'f:4' });
    const status = await ask('PATCH', 'v2/a/status', { status: { open: 'yes' } }, merge);
    expect([status.json.status, status.json.spec]).toEqual([{ open: 'yes' }, { addr: 'f:4' }]);
    expect((await ask('GET', 'v1/a')).json).toMatchObject({ spec: { host: 'f', port: '4' }, status: { open: 'yes' } });
  });

  test('owners are followed from version to version', async () => {
    await ask('POST', 'v2', door('v2', 'a', { addr: 'h:1' }));
    const { json } = await ask('PATCH', 'v1/a', { spec: { port: '2' } }, merge);
    // The address changed with the port: its owner keeps nothing but the place where it stood.
    expect(owners(json)).toEqual({
      'tester Update v2': { 'f:spec': {} },
      'tester Update v1': { 'f:spec': { 'f:port': {} } },
    });
  });

  test('a conversion that fails for the sake of owners alone leaves them as they were', async () => {
    const made = await ask('POST', 'v2', door('v2', 'a', { addr: 'h:1' }));
    server.calls.broken = 'nobody is there';
    const { status, json } = await ask('PATCH', 'v1/a', { spec: { port: '2' } }, merge);
    expect([status, json.spec.port, json.metadata.managedFields]).toEqual([200, '2', made.json.metadata.managedFields]);
  });

  test('apply in two versions: conflicts are seen across them, force takes over, and what is no longer named goes', async () => {
    const by = (manager: string, versionName: string, spec: object, more = '') =>
      ask('PATCH', `${versionName}/a?fieldManager=${manager}${more}`, door(versionName, 'a', spec), applied);
    expect((await by('one', 'v2', { addr: 'h:1' })).status).toBe(201);
    const refused = await by('two', 'v1', { port: '2' });
    expect([refused.status, refused.json.details.causes]).toEqual([
      409,
      [{ reason: 'FieldManagerConflict', field: '.spec.addr', message: 'conflict with "one"' }],
    ]);
    const forced = await by('two', 'v1', { port: '2' }, '&force=true');
    expect([forced.status, forced.json.spec]).toEqual([200, { host: 'h', port: '2' }]);
    expect(Object.keys(owners(forced.json))).toEqual(['two Apply v1']);
    const same = await by('two', 'v1', { port: '2' });
    expect(same.json.metadata.resourceVersion).toBe(forced.json.metadata.resourceVersion);
    const moved = await by('two', 'v2', { addr: 'k:7' });
    expect([moved.status, moved.json.spec]).toEqual([200, { addr: 'k:7' }]);
    expect(Object.keys(owners(moved.json))).toEqual(['two Apply v2']);
  });

  test('a write that cannot be converted is refused, and nothing of it is stored', async () => {
    await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
    const before = (await ask('GET', 'v1/a')).json;
    server.calls.broken = 'nobody is there';
    const writes: [string, string, unknown, Record<string, string>?][] = [
      ['POST', 'v2', door('v2', 'b', { addr: 'x:1' })],
      ['PUT', 'v2/a', door('v2', 'a', { addr: 'x:1' })],
      ['PATCH', 'v2/a', { spec: { addr: 'x:1' } }, merge],
      ['PATCH', 'v2/a?fieldManager=m', door('v2', 'a', { addr: 'x:1' }), applied],
      ['PATCH', 'v2/a/status', { status: { open: 'x' } }, merge],
      ['DELETE', 'v2/a', undefined],
      ['DELETE', 'v2', undefined],
    ];
    for (const [method, path, body, headers] of writes) {
      const { status, json } = await ask(method, path, body, headers);
      expect([`${method} ${path}`, status, json.message]).toEqual([`${method} ${path}`, 500, 'nobody is there']);
    }
    const { items } = (await ask('GET', 'v1')).json;
    expect(items).toEqual([before]);
  });

  test('a dry run converts and stores nothing', async () => {
    const { status, json } = await ask('POST', 'v2?dryRun=All', door('v2', 'a', { addr: 'h:1' }));
    expect([status, json.spec]).toEqual([201, { addr: 'h:1' }]);
    expect((await ask('GET', 'v1')).json.items).toEqual([]);
  });

  test('an object is deleted in another version, and so are all', async () => {
    for (const name of ['a', 'b', 'c'])
      await ask('POST', 'v1', door('v1', name, { host: 'h', port: '1' }, name === 'c' ? { finalizers: ['x/y'] } : {}));
    expect((await ask('DELETE', 'v2/a')).json.status).toBe('Success');
    const held = await ask('DELETE', 'v2/c');
    expect([held.json.spec, held.json.metadata.deletionTimestamp]).toEqual([{ addr: 'h:1' }, expect.any(String)]);
    calls();
    const all = await ask('DELETE', 'v2');
    expect(all.json.items.map((one: Loose) => one.spec.addr)).toEqual(['h:1', 'h:1']);
    expect(calls()).toEqual(['v2 b c', 'v2 b c']);
    expect((await ask('GET', 'v1')).json.items.map((one: Loose) => one.metadata.name)).toEqual(['c']);
  });
});

describe('admission', () => {
  test('an object that admission replaces is judged anew in the version of the request', async () => {
    await server.close();
    const admit = (request: AdmissionRequest): void => {
      request.object = { ...structuredClone(request.object as Loose), spec: { host: 'z', port: '9' } };
    };
    server = await startDoors([{ name: 'Opener', handles: () => true, admit }]);
    const { status, json } = await ask('POST', 'v2', door('v2', 'a', { addr: 'h:1' }));
    expect([status, json.spec]).toEqual([201, { addr: 'z:9' }]);
  });
});

describe('watches', () => {
  test('events come converted and in order, also where a later conversion is done before', async () => {
    for (const name of ['a', 'b']) await ask('POST', 'v1', door('v1', name, { host: name, port: '1' }));
    const watch = await server.watch('v2?watch=1');
    await watch.until(2);
    const held: (() => void)[] = [];
    server.calls.wait = () => new Promise((resolve) => held.push(resolve));
    await ask('PATCH', 'v1/a', { spec: { port: '2' } }, merge);
    while (held.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await ask('PATCH', 'v1/b', { spec: { port: '3' } }, merge);
    await ask('DELETE', 'v1/a');
    expect(watch.seen).toHaveLength(2);
    server.calls.wait = undefined;
    held[0]?.();
    expect(await watch.until(5)).toEqual([
      'ADDED a {"addr":"a:1"}',
      'ADDED b {"addr":"b:1"}',
      'MODIFIED a {"addr":"a:2"}',
      'MODIFIED b {"addr":"b:3"}',
      'DELETED a {"addr":"a:2"}',
    ]);
    watch.close();
  });

  test('many watchers share the conversion of an event, and what waits is converted together', async () => {
    const watches = await Promise.all(Array.from({ length: 20 }, () => server.watch('v2?watch=1')));
    let go: () => void = () => {};
    server.calls.wait = () => new Promise((resolve) => (go = resolve));
    await ask('POST', 'v1', door('v1', 'a', { host: 'a', port: '1' }));
    while (server.calls.made.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const name of ['b', 'c', 'd']) await ask('POST', 'v1', door('v1', name, { host: name, port: '1' }));
    server.calls.wait = undefined;
    go();
    for (const watch of watches) expect((await watch.until(4)).at(-1)).toBe('ADDED d {"addr":"d:1"}');
    expect(calls()).toEqual(['v2 a', 'v2 b c d']);
    for (const watch of watches) watch.close();
  });

  test('an object that cannot be converted ends the watches that see it, and no others', async () => {
    server.calls.refused.add('bad');
    const all = await server.watch('v2?watch=1');
    const other = await server.watch('v2?watch=1&fieldSelector=metadata.name%3Dgood');
    await Promise.all(['bad', 'good'].map((name) => ask('POST', 'v1', door('v1', name, { host: name, port: '1' }))));
    await all.ended;
    expect(all.seen).toEqual(['ERROR bad is stuck {}']);
    expect(await other.until(1)).toEqual(['ADDED good {"addr":"good:1"}']);
    other.close();
  });

  test('a watch that falls far behind its conversions is ended with Expired', async () => {
    const watch = await server.watch('v2?watch=1');
    server.calls.wait = () => new Promise(() => {});
    const host = 'x'.repeat(100_000);
    for (let i = 0; i < 11; i++) await ask('POST', 'v1', door('v1', `d${i}`, { host, port: '1' }));
    await watch.ended;
    expect(watch.seen).toEqual(['ERROR objects change faster than they can be converted; list and watch again {}']);
  });

  test('a long past is sent as its conversions come', async () => {
    const host = 'x'.repeat(100_000);
    for (let i = 0; i < 20; i++) await ask('POST', 'v1', door('v1', `d${i}`, { host, port: '1' }));
    const watch = await server.watch('v2?watch=1');
    expect(await watch.until(20)).toHaveLength(20);
    watch.close();
  });
});

describe('a request that waits for the newest state while its kind changes', () => {
  /** A kind whose versions differ in their names alone. */
  const plain = (hub: 'v1' | 'v2'): Kind => {
    const made = doors(server.calls, hub);
    const versions = Object.entries(made.versions).map(([name, { toHubByCall: _to, fromHubByCall: _from, own: _own, ...rest }]) => [
      name,
      rest,
    ]);
    return { ...made, versions: Object.fromEntries(versions) } as Kind;
  };
  const asV2 = (value: Buffer): Buffer => {
    const stored = JSON.parse(storedText(value).toString());
    return storedValue(jsonText({ ...stored, apiVersion: `${GROUP}/v2` }), stored.metadata.uid);
  };
  beforeEach(async () => {
    await server.services.registry.catalog.add(plain('v1'));
    await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
  });
  /** Begins a request as on a store that others write to, and changes the kind before it goes on. */
  async function overtaken<T>(request: () => Promise<T>, read?: (value: Buffer) => Buffer): Promise<T> {
    const { cache, catalog } = server.services.registry;
    const { engine } = cache;
    let go = (): void => {};
    const asked = new Promise<void>((resolve) => {
      (engine as { exclusive: boolean }).exclusive = false;
      cache.freshen = () => {
        resolve();
        return new Promise((on) => {
          go = on;
        });
      };
    });
    const answer = request();
    await asked;
    await catalog.add(plain('v2'), read);
    (engine as { exclusive: boolean }).exclusive = true;
    cache.freshen = async () => {};
    go();
    return answer;
  }

  test.each(['v1/a', 'v1'])('answers in the version that was asked for: %s', async (path) => {
    const { json } = await overtaken(() => ask('GET', path), asV2);
    const [found] = path === 'v1' ? json.items : [json];
    expect([found.metadata.name, found.apiVersion]).toEqual(['a', `${GROUP}/v1`]);
  });

  test('watches nothing that has another form by now', async () => {
    await expect(overtaken(() => server.watch('v1?watch=1'), asV2)).rejects.toThrow('has changed; list and watch again');
  });

  test('is a watch that ends', async () => {
    await (await overtaken(() => server.watch('v1?watch=1'))).ended;
  });
});

describe('objects of a version that was stored before', () => {
  /** The kind as it is after its author made v2 the stored version. */
  const change = () => server.services.registry.catalog.add(doors(server.calls, 'v2'));

  test('are converted when they are looked at, and stored anew when they are written', async () => {
    await ask('POST', 'v1', door('v1', 'a', { host: 'h', port: '1' }));
    await change();
    await ask('POST', 'v2', door('v2', 'b', { addr: 'g:2' }));
    calls();
    expect((await ask('GET', 'v1/a')).json.spec).toEqual({ host: 'h', port: '1' });
    expect(calls()).toEqual([]);
    expect((await ask('GET', 'v2/a')).json).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { addr: 'h:1' } });
    expect((await ask('GET', 'v2')).json.items.map((one: Loose) => one.spec)).toEqual([{ addr: 'h:1' }, { addr: 'g:2' }]);
    expect(calls()).toEqual(['v2 a', 'v2 a']);
    expect((await ask('GET', 'v1')).json.items.map((one: Loose) => one.spec.host)).toEqual(['h', 'g']);
    expect(calls()).toEqual(['v1 b']);
    const watch = await server.watch('v2?watch=1');
    expect(await watch.until(2)).toEqual(['ADDED a {"addr":"h:1"}', 'ADDED b {"addr":"g:2"}']);
    watch.close();
    const patched = await ask('PATCH', 'v2/a', { spec: { addr: 'h:9' } }, merge);
    expect(patched.json.spec).toEqual({ addr: 'h:9' });
    calls();
    expect((await ask('GET', 'v2/a')).json.spec).toEqual({ addr: 'h:9' });
    expect(calls()).toEqual([]);
    expect((await ask('DELETE', 'v2/a')).status).toBe(200);
  });
});
