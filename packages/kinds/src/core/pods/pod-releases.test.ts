/** Fields of pods that came after 1.24: in which releases they are known, and their bytes in 1.36. */
import { recorded } from '@plat-dev/lib/testing/recordings.testing';
import type { ApiRelease } from '@plat-dev/lib/version';
import { decode, encode } from '@plat-dev/schema/json';
import { parseJson } from '@plat-dev/schema/json/parse';
import { decodeEnvelope, decodeObject, encodeObject } from '@plat-dev/schema/protobuf/envelope';
import { schemaIn } from '@plat-dev/schema/releases';
import type { MessageType } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { create, inRelease, update } from '../../validation/kinds.testing.ts';
import { Node } from '../schema/node.ts';
import { Pod, PodTemplate } from '../schema/pods/pod.ts';
import { ReplicationController } from '../schema/replication-controller.ts';
import { PodKind } from './pod.ts';

const wire = recorded('wire-1.36');

describe('bytes of a stock server of 1.36', () => {
  const kinds: Record<string, MessageType> = { Node, Pod, PodTemplate, ReplicationController };
  test.each(Object.entries(kinds))('%s', (name, whole) => {
    const schema = schemaIn('1.36', whole);
    const text = String(wire.get(`core.v1.${name}.json`));
    const bytes = wire.get(`core.v1.${name}.pb`) as Buffer;
    const fromJson = decode(schema, parseJson(text, { merge: true }));
    const fromBytes = decodeObject(schema, decodeEnvelope(Buffer.from(bytes)));
    expect(JSON.stringify(fromBytes)).toBe(JSON.stringify(fromJson));
    expect(encode(schema, fromBytes)).toBe(JSON.stringify(JSON.parse(text)));
    expect(encodeObject(schema, fromJson).toString('hex')).toBe(bytes.toString('hex'));
  });
});

interface NewField {
  readonly field: string;
  readonly value: unknown;
  /** The first release that knows it, and the last one. */
  readonly since: ApiRelease;
  readonly until?: ApiRelease;
}
const fields: readonly NewField[] = [
  { field: 'hostUsers', value: false, since: '1.25' },
  { field: 'schedulingGates', value: [{ name: 'example.com/a' }], since: '1.26' },
  { field: 'resourceClaims', value: [{ name: 'a' }], since: '1.26' },
  { field: 'resources', value: { limits: { cpu: '1' } }, since: '1.32' },
  { field: 'hostnameOverride', value: 'a', since: '1.34' },
  { field: 'workloadRef', value: { name: 'a', podGroup: 'b' }, since: '1.35', until: '1.35' },
  { field: 'schedulingGroup', value: { podGroupName: 'a' }, since: '1.36' },
];
const before = (release: ApiRelease): ApiRelease => `1.${Number(release.slice(2)) - 1}` as ApiRelease;
const after = (release: ApiRelease): ApiRelease => `1.${Number(release.slice(2)) + 1}` as ApiRelease;

test.each(fields)('$field is known from its first release to its last', ({ field, value, since, until }) => {
  const isKnown = (release: ApiRelease): boolean => {
    const pod = decode(schemaIn(release, Pod), { spec: { containers: [], [field]: value } } as never);
    return Object.hasOwn(pod.spec, field);
  };
  expect([isKnown(before(since)), isKnown(since), isKnown(until ?? '1.36')]).toEqual([false, true, true]);
  if (until !== undefined) expect(isKnown(after(until))).toBe(false);
});

test('a claim of a pod names its source in the form of the release', () => {
  const claim = { name: 'a', source: { resourceClaimName: 'b' }, resourceClaimName: 'b' };
  const inRelease = (release: ApiRelease) =>
    decode(schemaIn(release, Pod), { spec: { containers: [], resourceClaims: [claim] } } as never).spec.resourceClaims?.[0];
  expect(inRelease('1.30')).toEqual({ name: 'a', source: { resourceClaimName: 'b' } });
  expect(inRelease('1.31')).toEqual({ name: 'a', resourceClaimName: 'b' });
});

describe('gates of fields', () => {
  const container = { name: 'c', image: 'i' };
  const rules = { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] };
  const pod = (spec: object) => ({ metadata: { name: 'p' }, spec: { containers: [container], ...spec } });

  test('restart rules go without their gate, but init containers may keep running', () => {
    const spec = { containers: [{ ...container, ...rules }], initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }] };
    const { object } = create(PodKind, pod(spec), inRelease('1.34'));
    expect(object.spec.containers[0]).not.toHaveProperty('restartPolicy');
    expect(object.spec.containers[0]).not.toHaveProperty('restartPolicyRules');
    expect(object.spec.initContainers[0].restartPolicy).toBe('Always');
    expect(create(PodKind, pod(spec), inRelease('1.35')).object.spec.containers[0]).toMatchObject(rules);
  });

  test('volumes of images go with their mounts while their gate is off, unless the stored pod has one', () => {
    const volumes = [
      { name: 'a', image: { reference: 'r' } },
      { name: 'b', emptyDir: {} },
    ];
    const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const body = pod({ volumes, containers: [{ ...container, volumeMounts: mounts }] });
    const { object } = create(PodKind, body, inRelease('1.34'));
    expect(object.spec.volumes).toEqual([volumes[1]]);
    expect(object.spec.containers[0].volumeMounts).toEqual([mounts[1]]);
    const stored = create(PodKind, body, inRelease('1.35')).object;
    expect(stored.spec.volumes).toHaveLength(2);
    expect(update(PodKind, stored, () => {}, '', inRelease('1.34')).object.spec.volumes).toHaveLength(2);
  });

  test('a stop signal goes without its gate, and the lifecycle that it leaves empty', () => {
    const spec = { os: { name: 'linux' }, containers: [{ ...container, lifecycle: { stopSignal: 'SIGUSR1' } }] };
    expect(create(PodKind, pod(spec), inRelease('1.36')).object.spec.containers[0]).not.toHaveProperty('lifecycle');
    expect(create(PodKind, pod(spec), inRelease('1.36', 'ContainerStopSignals')).object.spec.containers[0].lifecycle).toEqual({
      stopSignal: 'SIGUSR1',
    });
  });
});
