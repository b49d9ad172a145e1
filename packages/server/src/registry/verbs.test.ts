/** create, update and delete as scripts at the registry; what HTTP adds to them is in test/server. */
import { beforeEach, describe, expect, test } from 'vitest';
import { NAMESPACE, openRegistry, type Registry, refusal } from './scenario.testing.ts';

let registry: Registry;
beforeEach(async () => {
  registry = await openRegistry();
});

describe('create', () => {
  test('a generated name begins with the prefix and is unique', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => registry.create('configmaps', { metadata: { generateName: 'gen-' } })));
    const names = made.map((object) => object.metadata.name);
    for (const name of names) expect(name).toMatch(/^gen-[a-z0-9]{5}$/);
    expect(new Set(names).size).toBe(20);
    expect(made[0].metadata.generateName).toBe('gen-');
  });

  test('neither a name nor a prefix is refused', async () => {
    const error = await refusal(registry.create('configmaps', { metadata: {} }));
    expect(error.code).toBe(422);
    expect(error.details?.causes).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field: 'metadata.name' },
    ]);
  });

  test('what only the server sets is ignored', async () => {
    const made = await registry.create('configmaps', {
      metadata: {
        name: 'a',
        uid: '00000000-0000-0000-0000-000000000000',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        generation: 7,
        selfLink: '/x',
      },
    });
    expect(made.metadata.uid).not.toMatch(/^0{8}/);
    expect(made.metadata.creationTimestamp).toBe('2024-01-01T00:00:00Z');
    expect(made.metadata).not.toHaveProperty('deletionTimestamp');
    expect(made.metadata).not.toHaveProperty('selfLink');
  });

  test('a version is refused, a taken name is a conflict', async () => {
    const body = { metadata: { name: 'a' } };
    expect(await refusal(registry.create('configmaps', { metadata: { name: 'a', resourceVersion: '5' } }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'resourceVersion should not be set on objects to be created',
    });
    await registry.create('configmaps', body);
    expect(await refusal(registry.create('configmaps', body))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
  });

  describe('a version in what is to be created (finding 38)', () => {
    const at = (resourceVersion: string, more: object = {}) => ({ metadata: { name: 'a', resourceVersion }, ...more });
    test.each(['5', '007', '18446744073709551615'])('%s is refused last, with 400, and nothing is stored', async (version) => {
      expect(await refusal(registry.create('configmaps', at(version)))).toMatchObject({ code: 400, reason: 'BadRequest' });
      expect(registry.get('configmaps', 'a')).toBeUndefined();
    });
    test.each(['0', '00', 'abc', '+5', '-5', '5.0', '18446744073709551616', ''])('"%s" is no version and is ignored', async (version) => {
      const made = await registry.create('configmaps', at(version));
      expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      expect(made.metadata.resourceVersion).not.toBe(version);
    });
    test('an invalid object comes first', async () => {
      expect((await refusal(registry.create('configmaps', at('5', { data: { 'a/b': '' } })))).code).toBe(422);
    });
    test('a dry run does not ask for it', async () => {
      const made = await registry.create('configmaps', at('5'), { dryRun: true });
      expect(made.metadata.resourceVersion).toBe('5');
    });
    test('it comes before a taken name', async () => {
      await registry.create('configmaps', { metadata: { name: 'a' } });
      expect((await refusal(registry.create('configmaps', at('5')))).code).toBe(400);
    });
  });

  test('the namespace of the object must be that of the path', async () => {
    const error = await refusal(registry.create('configmaps', { metadata: { name: 'a', namespace: 'default' } }));
    expect(error.code).toBe(400);
    expect(error.message).toBe('the namespace of the provided object does not match the namespace sent on the request');
  });

  test.each([
    ['Upper', 'a lowercase RFC 1123 subdomain'],
    [`${'a'.repeat(254)}`, 'must be no more than 253 characters'],
    ['-a', 'a lowercase RFC 1123 subdomain'],
  ])('the name %s is refused', async (name, problem) => {
    const error = await refusal(registry.create('configmaps', { metadata: { name } }));
    expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(error.details?.causes?.[0]).toMatchObject({ field: 'metadata.name', reason: 'FieldValueInvalid' });
    expect(error.message).toContain(problem);
  });

  test('labels and annotations have rules', async () => {
    const labels = await refusal(registry.create('configmaps', { metadata: { name: 'a', labels: { 'bad key': 'x', good: 'b@d' } } }));
    expect(labels.code).toBe(422);
    expect(labels.details?.causes?.map(({ field }) => field)).toEqual(['metadata.labels', 'metadata.labels']);
    const annotations = { a: 'x'.repeat(256 * 1024) };
    const tooLong = await refusal(registry.create('configmaps', { metadata: { name: 'a', annotations } }));
    expect(tooLong.details?.causes).toMatchObject([{ field: 'metadata.annotations', reason: 'FieldValueTooLong' }]);
  });

  test('a dry run leaves nothing behind', async () => {
    const before = registry.revision();
    const made = await registry.create('configmaps', { metadata: { name: 'a' } }, { dryRun: true });
    expect(made.metadata).toMatchObject({ name: 'a', uid: expect.any(String) });
    expect(registry.get('configmaps', 'a')).toBeUndefined();
    expect(registry.revision()).toBe(before);
  });
});

describe('update', () => {
  test('an old version is a conflict; no version means whichever there is', async () => {
    const first = await registry.create('configmaps', { metadata: { name: 'a' }, data: { a: '1' } });
    const second = await registry.replace('configmaps', { ...first, data: { a: '2' } });
    const late = await refusal(registry.replace('configmaps', { ...first, data: { a: '3' } }));
    expect(late).toMatchObject({ code: 409, reason: 'Conflict', details: { name: 'a', kind: 'configmaps' } });
    expect(late.message).toContain('the object has been modified; please apply your changes to the latest version and try again');
    await registry.clock.advance(60_000);
    const blind = await registry.replace('configmaps', { metadata: { name: 'a' }, data: { a: '4' } });
    expect(blind.data).toEqual({ a: '4' });
    expect(blind.metadata.uid).toBe(second.metadata.uid);
    expect(blind.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp);
  });

  test('nothing changed: nothing is written', async () => {
    const made = await registry.create('configmaps', { metadata: { name: 'a' }, data: { a: '1' } });
    const before = registry.revision();
    expect((await registry.replace('configmaps', made)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    expect(registry.revision()).toBe(before);
  });

  test('another uid, another name, no name', async () => {
    const made = await registry.create('configmaps', { metadata: { name: 'a' } });
    const uid = '00000000-0000-0000-0000-000000000000';
    const { resourceVersion, ...metadata } = made.metadata;
    expect(await refusal(registry.replace('configmaps', { ...made, metadata: { ...metadata, uid } }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${NAMESPACE}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${made.metadata.uid}`,
    });
    expect(await refusal(registry.replace('configmaps', { metadata: { name: 'other' } }, { name: 'a' }))).toMatchObject({
      code: 400,
      message: 'the name of the object (other) does not match the name on the URL (a)',
    });
    expect((await refusal(registry.replace('configmaps', { metadata: {} }, { name: 'a' }))).code).toBe(400);
  });

  test('an object that is not there: some kinds are created, others are not found', async () => {
    expect((await refusal(registry.replace('configmaps', { metadata: { name: 'absent' } }))).code).toBe(404);
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    const created = await registry.replace('leases.coordination', lease);
    expect(created.metadata.uid).toBeDefined();
    const blind = { ...lease, spec: { holderIdentity: 'you' } };
    expect((await refusal(registry.replace('leases.coordination', blind))).code).toBe(422);
    const changed = await registry.replace('leases.coordination', { ...created, spec: { holderIdentity: 'you' } });
    expect(changed.spec.holderIdentity).toBe('you');
  });

  test('the generation follows the specification, not the status or the metadata', async () => {
    const made = await registry.create('deployments.apps', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    expect(made.metadata.generation).toBe(1);
    const labelled = await registry.replace('deployments.apps', { ...made, metadata: { ...made.metadata, labels: { x: 'y' } } });
    expect(labelled.metadata.generation).toBe(1);
    const status = await registry.replace(
      'deployments.apps',
      { ...labelled, spec: { ...made.spec, replicas: 9 }, status: { replicas: 2 } },
      { subresource: 'status' },
    );
    expect(status.metadata.generation).toBe(1);
    expect(status.spec.replicas).toBe(1);
    expect(status.status.replicas).toBe(2);
    const scaled = await registry.replace('deployments.apps', { ...status, spec: { ...made.spec, replicas: 5 }, status: { replicas: 7 } });
    expect(scaled.metadata.generation).toBe(2);
    expect(scaled.status.replicas).toBe(2);
  });

  test('of many writers that read, change and write, none is lost', async () => {
    await registry.create('configmaps', { metadata: { name: 'a' }, data: { count: '0' } });
    let conflicts = 0;
    const increment = async (): Promise<void> => {
      for (;;) {
        const object = registry.get('configmaps', 'a');
        object.data.count = String(Number(object.data.count) + 1);
        const answer = await registry.replace('configmaps', object).catch((error: Error) => error);
        if (!(answer instanceof Error)) return;
        expect(answer).toMatchObject({ code: 409 });
        conflicts++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect(registry.get('configmaps', 'a').data).toEqual({ count: '8' });
    expect(conflicts).toBeGreaterThan(0);
  });
});

describe('delete', () => {
  test('an object without finalizers goes at once; a second time there is nothing', async () => {
    await registry.create('configmaps', { metadata: { name: 'a' } });
    expect(await registry.remove('configmaps', 'a')).toMatchObject({ removed: true, object: { metadata: { name: 'a' } } });
    expect(registry.get('configmaps', 'a')).toBeUndefined();
    expect((await refusal(registry.remove('configmaps', 'a'))).code).toBe(404);
  });

  test('one with finalizers is marked with the time, and goes with the last of them', async () => {
    const made = await registry.create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/a', 'example.com/b'] } });
    await registry.clock.advance(5_000);
    expect((await registry.remove('configmaps', 'a')).removed).toBe(false);
    const marked = registry.get('configmaps', 'a');
    expect(marked.metadata).toMatchObject({ deletionTimestamp: '2024-01-01T00:00:05Z', finalizers: made.metadata.finalizers });
    const second = { ...marked, metadata: { ...marked.metadata, finalizers: ['example.com/b'] } };
    const kept = await registry.replace('configmaps', second);
    expect(kept.metadata.deletionTimestamp).toBe('2024-01-01T00:00:05Z');
    await registry.replace('configmaps', { ...kept, metadata: { ...kept.metadata, finalizers: [] } });
    expect(registry.get('configmaps', 'a')).toBeUndefined();
  });

  test('a uid or a version as precondition that is not that of the object is a conflict, and nothing changes', async () => {
    const made = await registry.create('configmaps', { metadata: { name: 'a' } });
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '999' }])
      expect(await refusal(registry.remove('configmaps', 'a', { preconditions }))).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(registry.get('configmaps', 'a')).toEqual(made);
    const { uid, resourceVersion } = made.metadata;
    expect((await registry.remove('configmaps', 'a', { preconditions: { uid, resourceVersion } })).removed).toBe(true);
  });

  test('a dry run leaves the object as it is', async () => {
    const made = await registry.create('configmaps', { metadata: { name: 'a' } });
    await registry.remove('configmaps', 'a', { dryRun: true });
    expect(registry.get('configmaps', 'a')).toEqual(made);
  });
});

describe('list', () => {
  test('pages of a state that changes are those of the state of the first', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await registry.create('configmaps', { metadata: { name } });
    const first = await registry.list('configmaps', { limit: 2 });
    expect(first).toMatchObject({ names: ['a', 'b'], remaining: 3 });
    await registry.remove('configmaps', 'd');
    await registry.create('configmaps', { metadata: { name: 'cc' } });
    const second = await registry.list('configmaps', { limit: 2, continue: first.continue });
    expect(second).toMatchObject({ names: ['c', 'd'], remaining: 1 });
    expect(await registry.list('configmaps', { limit: 2, continue: second.continue })).toMatchObject({ names: ['e'], continue: '' });
    expect((await registry.list('configmaps')).names).toEqual(['a', 'b', 'c', 'cc', 'e']);
  });
});
