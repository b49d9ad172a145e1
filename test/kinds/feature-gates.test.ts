/**
 * Feature gates that guard fields, through the API: on one server they are all on, on a copy of it they are all off, so that objects
 * of the first are there to be updated on the second.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { domainName, groupName, identities } from '../../packages/meta/src/identity.ts';
import { startTestServer, type TestServer } from '../../packages/testing/src/index.ts';
import { BinaryTypes } from '../support/binary-types.ts';
import type { Loose } from '../support/client.ts';
import { envelope } from '../support/wire.ts';
import { type Outcome, type Row, rows } from './gated-rows.ts';

/** Gates that have no row: what they change is no field of a create. */
const special = ['EphemeralContainers', 'JobMutableNodeSchedulingDirectives', 'PodDeletionCost'];
const names = [...new Set([...rows.map(({ gate }) => gate), ...special])];
const featuresAll = (value: boolean) => readFeatureGates(new Map(names.map((name) => [name, String(value)])));

describe.each(['kubernetes', 'plat'])('%s', (name) => {
  const identity = identities[name] as NonNullable<(typeof identities)[string]>;
  let on: TestServer;
  let off: TestServer;
  const stored = new Map<Row, Loose>();

  const groupOf = ({ resource }: Row): string => {
    const [base = '', version] = resource.split('/');
    return base === '' ? `${version}` : `${groupName(identity, base)}/${version}`;
  };
  const pathOf = (row: Row, object?: string): string => {
    const group = groupOf(row);
    const root = group.includes('/') ? `/apis/${group}` : `/api/${group}`;
    const place = row.cluster ? root : `${root}/namespaces/default`;
    return `${place}/${row.resource.split('/')[2]}${object === undefined ? '' : `/${object}`}`;
  };
  let serial = 0;
  const baseOf = (row: Row): Loose => ({
    apiVersion: groupOf(row),
    kind: row.kind,
    metadata: { name: `g${serial++}` },
    ...structuredClone(row.base),
  });
  const ok = async (server: TestServer, method: string, path: string, body?: unknown): Promise<Loose> => {
    const answer = await server.request(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  /** Writes an object that uses the feature of a row: whole, or its status. */
  const used = async (server: TestServer, row: Row): Promise<Loose> => {
    const object = baseOf(row);
    if (row.through === undefined) {
      row.use(object, identity);
      return server.request('POST', pathOf(row), { body: object });
    }
    const made = await ok(server, 'POST', pathOf(row), object);
    row.use(made, identity);
    return server.request('PUT', `${pathOf(row, made.metadata.name)}/${row.through}`, { body: made });
  };
  const expectOutcome = (row: Row, answer: Loose, outcome: Outcome): void => {
    if ('refused' in outcome) {
      expect(answer.status, answer.text).toBe(422);
      expect(answer.body.message).toContain(outcome.refused);
    } else {
      expect([200, 201], answer.text).toContain(answer.status);
      expect(row.field(answer.body, identity)).toEqual(outcome.value);
    }
  };

  beforeAll(async () => {
    const server = { allowPrivileged: true, features: featuresAll(true) };
    on = await startTestServer({ identity: name, server, admission: { disable: ['PodSecurityPolicy'] } });
    for (const row of rows) {
      const answer = await used(on, row);
      if (answer.status < 300) stored.set(row, answer.body);
    }
    off = await (await on.snapshot()).fork({ server: { ...server, features: featuresAll(false) } });
  });
  afterAll(async () => {
    await on?.close();
    await off?.close();
  });

  describe.each(rows.map((row) => [`${row.gate} of ${row.resource}${row.through === undefined ? '' : `, ${row.through}`}`, row] as const))(
    '%s',
    (_title, row) => {
      test('on: it is stored', () => {
        expect(stored.has(row)).toBe(true);
        expect(row.field(stored.get(row), identity)).toEqual(row.on);
      });
      test('off: a new object does not have it', async () => {
        expectOutcome(row, await used(off, row), row.off);
      });
      test('off: an object that has it keeps it', async () => {
        const before = await ok(off, 'GET', pathOf(row, stored.get(row).metadata.name));
        expect(row.field(before, identity)).toEqual(row.on);
        const changed = { ...before, metadata: { ...before.metadata, labels: { changed: 'yes' } } };
        const after = await ok(off, 'PUT', pathOf(row, before.metadata.name), changed);
        expect(after.metadata.labels).toEqual({ changed: 'yes' });
        expect(row.field(after, identity)).toEqual('kept' in row ? row.kept : row.on);
        if (row.through === undefined) return;
        const again = await ok(off, 'PUT', `${pathOf(row, before.metadata.name)}/${row.through}`, after);
        expect(row.field(again, identity)).toEqual(row.on);
      });
      // What stands in the status is written by updates alone.
      if (row.through !== undefined) return;
      test('off: an update does not bring it to an object that has not', async () => {
        const made = await ok(off, 'POST', pathOf(row), baseOf(row));
        row.use(made, identity);
        expectOutcome(row, await off.request('PUT', pathOf(row, made.metadata.name), { body: made }), row.offOnUpdate ?? row.off);
      });
    },
  );

  test('the binary form and patches are treated alike', async () => {
    const types = new BinaryTypes(identity);
    const chosen = rows.filter(
      ({ gate, resource }) => gate === 'CronJobTimeZone' || gate === 'NetworkPolicyEndPort' || resource === '/v1/pods',
    );
    expect(chosen).toHaveLength(3);
    for (const row of chosen)
      for (const [server, outcome] of [
        [on, { value: row.on }],
        [off, row.off],
      ] as const) {
        const object = baseOf(row);
        row.use(object, identity);
        const { kind, apiVersion, ...value } = object;
        const body = envelope({ kind, apiVersion, raw: types.encode(types.typeOf(apiVersion, kind), value) });
        const headers = { 'content-type': identity.protobufMediaType, accept: 'application/json' };
        expectOutcome(row, await server.request('POST', pathOf(row), { headers, body }), outcome);

        const applied = baseOf(row);
        row.use(applied, identity);
        const path = `${pathOf(row, applied.metadata.name)}?fieldManager=test`;
        const patch = { 'content-type': 'application/apply-patch+yaml' };
        expectOutcome(row, await server.request('PATCH', path, { headers: patch, body: applied }), outcome);
        const twice = await server.request('PATCH', path, { headers: patch, body: applied });
        expectOutcome(row, twice, outcome);
      }
  });

  test('EphemeralContainers: the field is cleared from new pods, and stays in those that have it', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (podName: string, more: object = {}): Loose => ({
      metadata: { name: podName },
      spec: { containers: [{ name: 'c', image: 'i' }], ...more },
    });
    const debug = { ephemeralContainers: [{ name: 'debug', image: 'i' }] };
    const refusedOn = await on.request('POST', pods, { body: pod('debugged', debug) });
    expect(refusedOn.status).toBe(422);
    const made = await ok(off, 'POST', pods, pod('debugged', debug));
    expect(made.spec).not.toHaveProperty('ephemeralContainers');

    const plain = await ok(on, 'POST', pods, pod('debugged'));
    const added = await ok(on, 'PUT', `${pods}/debugged/ephemeralcontainers`, { ...plain, spec: { ...plain.spec, ...debug } });
    expect(added.spec.ephemeralContainers).toHaveLength(1);
    const later = await (await on.snapshot()).fork({ server: { features: featuresAll(false) } });
    try {
      const kept = await ok(later, 'PUT', `${pods}/debugged`, { ...added, metadata: { ...added.metadata, labels: { a: 'b' } } });
      expect(kept.spec.ephemeralContainers).toHaveLength(1);
    } finally {
      await later.close();
    }
  });

  test('JobMutableNodeSchedulingDirectives: the node selector of a suspended job can be changed', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const change = async (server: TestServer) => {
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
      const job = await ok(server, 'POST', jobs, { metadata: { name: 'waits' }, spec: { suspend: true, template } });
      job.spec.template.spec.nodeSelector = { zone: 'a' };
      return server.request('PUT', `${jobs}/waits`, { body: job });
    };
    expect((await change(on)).status).toBe(200);
    const refused = await change(off);
    expect(refused.status).toBe(422);
    expect((refused.body as Loose).message).toContain('spec.template: Invalid value');
  });

  test('PodDeletionCost: a cost that is no number is refused while the gate is on, unless it is there already', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const annotations = { [domainName(identity, 'pod-deletion-cost', 'controller')]: 'dear' };
    const pod = { metadata: { name: 'dear', annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const refused = await on.request('POST', pods, { body: pod });
    expect(refused.status).toBe(422);
    expect((refused.body as Loose).message).toContain('must be a 32bit integer');
    await ok(off, 'POST', pods, pod);
    const later = await (await off.snapshot()).fork({ server: { features: featuresAll(true) } });
    try {
      const made = await ok(later, 'GET', `${pods}/dear`);
      await ok(later, 'PUT', `${pods}/dear`, { ...made, metadata: { ...made.metadata, labels: { a: 'b' } } });
    } finally {
      await later.close();
    }
  });

  test('NetworkPolicyStatus: what is there can be cleared while the gate is off, but not changed', async () => {
    const row = rows.find(({ gate }) => gate === 'NetworkPolicyStatus') as Row;
    const path = pathOf(row, stored.get(row).metadata.name);
    const before = await ok(off, 'GET', path);
    const changed = { ...before, status: { conditions: [{ ...before.status.conditions[0], reason: 'Other' }] } };
    expect((await ok(off, 'PUT', `${path}/status`, changed)).status).toEqual(before.status);
    const cleared = await ok(off, 'PUT', `${path}/status`, { ...before, metadata: { name: before.metadata.name }, status: {} });
    expect(cleared.status ?? {}).toEqual({});
  });

  test('RecoverVolumeExpansionFailure: a size that was not reached can be taken back while the gate is on', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const shrink = async (server: TestServer, size: string) => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } };
      const made = await ok(server, 'POST', claims, { metadata: { generateName: 'shrinks-' }, spec });
      const status = { ...made.status, phase: 'Bound', capacity: { storage: '2Gi' } };
      const bound = await ok(server, 'PUT', `${claims}/${made.metadata.name}/status`, { ...made, status });
      bound.spec.resources.requests.storage = size;
      const answer = await server.request('PUT', `${claims}/${made.metadata.name}`, { body: bound });
      return [answer.status, (answer.body as Loose).message ?? ''];
    };
    expect(await shrink(on, '3Gi')).toEqual([200, '']);
    expect((await shrink(on, '2Gi'))[1]).toContain('field can not be less than status.capacity');
    expect((await shrink(off, '3Gi'))[1]).toContain('field can not be less than previous value');
  });

  test('defaults of a feature are filled in while its gate is on', async () => {
    const by = (gate: string): Row => rows.find((row) => row.gate === gate && row.through === undefined) as Row;
    const made = async (server: TestServer, gate: string) => ok(server, 'POST', pathOf(by(gate)), baseOf(by(gate)));
    const policyOf = async (server: TestServer) =>
      (await made(server, 'StatefulSetAutoDeletePVC')).spec.persistentVolumeClaimRetentionPolicy;
    expect(await policyOf(on)).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' });
    expect(await policyOf(off)).toBeUndefined();
    const trafficOf = async (server: TestServer) => (await made(server, 'ServiceInternalTrafficPolicy')).spec.internalTrafficPolicy;
    expect(await trafficOf(on)).toBe('Cluster');
    expect(await trafficOf(off)).toBeUndefined();
    const trackedOf = async (server: TestServer) =>
      Object.keys((await made(server, 'JobTrackingWithFinalizers')).metadata.annotations ?? {});
    expect(await trackedOf(on)).toEqual([domainName(identity, 'job-tracking', 'batch')]);
    expect(await trackedOf(off)).toEqual([]);
  });
});
