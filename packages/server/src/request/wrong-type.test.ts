import { schemaOf } from '@plat-dev/kinds/schemas';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type BodyOwner, decodeBody } from './body.ts';
import type { Expected } from './expected-body.ts';

/** Bodies of tests are small. */
const owner: BodyOwner = { slices: () => undefined, expanded: () => {} };

const expected = (apiVersion: string, base: string, kind: string, more: Partial<Expected> = {}): Expected => {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const schema = schemaOf(base, version, kind, kubernetes) as MessageType;
  return { apiVersion, kind, schema, identity: kubernetes, ...more };
};
const configMap = expected('v1', '', 'ConfigMap');
const deployment = expected('apps/v1', 'apps', 'Deployment');
const eviction = expected('policy/v1', 'policy', 'Eviction', { older: ['policy/v1beta1'] });
const events = expected('events.k8s.io/v1', 'events', 'Event');
const custom: Expected = { ...configMap, apiVersion: 'example.com/v1', kind: 'Lamp', custom: true };

const post = async (type: { kind?: string; apiVersion?: string }, to: Expected): Promise<string> => {
  try {
    const object = await decodeBody(owner, Buffer.from(JSON.stringify({ ...type, metadata: { name: 'x' } })), 'json', to);
    return `read as ${object.kind} in ${object.apiVersion}`;
  } catch (error) {
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    return (error as Error).message;
  }
};

test('what a body leaves out is as the path has it', async () => {
  expect(await post({}, configMap)).toBe('read as ConfigMap in v1');
  expect(await post({ apiVersion: 'v1' }, configMap)).toBe('read as ConfigMap in v1');
  expect(await post({ kind: 'ConfigMap' }, configMap)).toBe('read as ConfigMap in v1');
  expect(await post({ kind: 'Eviction', apiVersion: 'policy/v1beta1' }, eviction)).toBe('read as Eviction in policy/v1');
});

test('a known kind that is not that of the path', async () => {
  const unknown = (from: string, to: string): string => `converting (${from}) to (${to}): unknown conversion`;
  expect(await post({ kind: 'Secret' }, configMap)).toBe(
    `Secret in version "v1" cannot be handled as a ConfigMap: ${unknown('v1.Secret', 'core.ConfigMap')}`,
  );
  expect(await post({ kind: 'CronJob', apiVersion: 'batch/v1beta1' }, deployment)).toBe(
    `CronJob in version "v1beta1" cannot be handled as a Deployment: ${unknown('v1beta1.CronJob', 'apps.Deployment')}`,
  );
  expect(await post({ kind: 'DeploymentList' }, deployment)).toContain(unknown('v1.DeploymentList', 'apps.Deployment'));
  expect(await post({ kind: 'Ingress', apiVersion: 'extensions/v1beta1' }, deployment)).toContain(
    unknown('v1beta1.Ingress', 'apps.Deployment'),
  );
  expect(await post({ kind: 'Pod', apiVersion: 'v1' }, events)).toContain(unknown('v1.Pod', 'core.Event'));
  expect(await post({ kind: 'DeleteOptions', apiVersion: 'policy/v1' }, eviction)).toContain(
    unknown('v1.DeleteOptions', 'policy.Eviction'),
  );
});

test('a kind that nobody knows, and a version that there never was', async () => {
  expect(await post({ kind: 'Budget', apiVersion: 'policy/v1' }, eviction)).toBe(
    `Budget in version "v1" cannot be handled as a Eviction: no kind "Budget" is registered for version "policy/v1"; send Eviction of version policy/v1`,
  );
  expect(await post({ kind: 'ConfigMap', apiVersion: 'v2' }, configMap)).toBe(
    `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"; send ConfigMap of version v1`,
  );
  expect(await post({ kind: 'Eviction', apiVersion: 'policy/v2' }, eviction)).toContain(
    'for version "policy/v2"; send Eviction of version policy/v1',
  );
  expect(await post({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' }, { ...configMap, identity: plat })).toContain(
    `no kind "Lease" is registered for version "coordination.k8s.io/v1"; send ConfigMap`,
  );
});

test('another version of the right kind, served or not', async () => {
  const wrong = (given: string, wanted: string): string =>
    `the API version in the data (${given}) does not match the expected API version (${wanted})`;
  for (const apiVersion of ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1'])
    expect(await post({ kind: 'Deployment', apiVersion }, deployment)).toBe(
      `${wrong(apiVersion, 'apps/v1')}: ${apiVersion} Deployment is not served by this server (API of release 1.24): it was removed in 1.16; use apps/v1, and \`plat convert\` to convert manifests`,
    );
  expect(await post({ kind: 'Deployment', apiVersion: 'apps/v1beta1' }, { ...deployment, release: '1.15' })).toBe(
    wrong('apps/v1beta1', 'apps/v1'),
  );
  expect(await post({ kind: 'Event', apiVersion: 'v1' }, events)).toBe(wrong('v1', 'events.k8s.io/v1'));
});

test('custom kinds judge the version first', async () => {
  expect(await post({ kind: 'Lamp', apiVersion: 'v1' }, custom)).toBe(
    'the API version in the data (v1) does not match the expected API version (example.com/v1)',
  );
  expect(await post({ kind: 'Lamp' }, custom)).toBe(
    'the API version in the data () does not match the expected API version (example.com/v1)',
  );
  expect(await post({ apiVersion: 'example.com/v1' }, custom)).toMatch(
    /^Lamp in version "v1" cannot be handled as a Lamp: Object 'Kind' is missing in '{"apiVersion"/,
  );
  await expect(
    decodeBody(owner, Buffer.from('{"kind":"Lantern","apiVersion":"example.com/v1","metadata":{"name":"x"}}'), 'json', custom),
  ).rejects.toMatchObject({ code: 422, message: 'Lantern.example.com "x" is invalid: kind: Invalid value: "Lantern": must be Lamp' });
});

test('bytes that are no binary message are shown', async () => {
  await expect(decodeBody(owner, Buffer.from('not protobuf'), 'protobuf', configMap)).rejects.toThrow(
    'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6e6f742070726f746f627566)',
  );
});
