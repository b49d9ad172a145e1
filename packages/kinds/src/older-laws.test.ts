/** Nothing is lost between a version that is not served by default and the hub, in either direction and in both forms. */

import { jsonText } from '@plat-dev/lib/json-text';
import { copied } from '@plat-dev/lib/testing/copied.testing';
import { expectEqual } from '@plat-dev/lib/testing/expect-equal.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { decodeProtobuf, encodeProtobuf } from '@plat-dev/schema/protobuf';
import { expect, test } from 'vitest';
import { bodies } from './bodies.testing.ts';
import { builtinKinds } from './index.ts';
import { allServed, created, fromHub, read, servedAs, shown, toHub } from './older.testing.ts';
import type { ServedKind } from './served-kind.ts';
import { type Loose, testEnv } from './validation/kinds.testing.ts';
import { decodes, mutated } from './validation/mutations.testing.ts';

const metadata = { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } };
const template = {
  metadata: { labels: { a: 'b' }, annotations: { e: 'f' } },
  spec: {
    containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: 'b' }] }],
    nodeSelector: { n: 'o' },
  },
};
const selector = { matchLabels: { a: 'b' } };
const workload = { metadata, spec: { replicas: 3, minReadySeconds: 5, selector, template } };
const { replicas: _replicas, ...onEveryNode } = workload.spec;
const claim = { metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const attributes = { namespace: 'n', verb: 'get', resource: 'pods' };
const job = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };

/** Bodies in the version that is stored, by group and kind. */
const hubBodies: Readonly<Record<string, Loose>> = {
  ...Object.fromEntries(bodies.map(([, { group, kind }, body]) => [`${group}/${kind}`, body])),
  'apps/ControllerRevision': { metadata, data: { a: 1 }, revision: 2 },
  'apps/DaemonSet': { metadata, spec: { ...onEveryNode, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } } },
  'apps/Deployment': {
    metadata: { ...metadata, annotations: { c: 'd', 'deprecated.deployment.rollback.revision': '4' } },
    spec: { ...workload.spec, strategy: { rollingUpdate: { maxSurge: '10%' } }, paused: true },
  },
  'apps/ReplicaSet': workload,
  'apps/StatefulSet': { metadata, spec: { ...workload.spec, serviceName: 's', volumeClaimTemplates: [claim] } },
  'authentication/TokenReview': { metadata, spec: { token: 't', audiences: ['a'] } },
  'authorization/LocalSubjectAccessReview': { metadata, spec: { resourceAttributes: attributes, user: 'u', groups: ['g'] } },
  'authorization/SelfSubjectAccessReview': { metadata, spec: { resourceAttributes: attributes } },
  'authorization/SelfSubjectRulesReview': { metadata, spec: { namespace: 'n' } },
  'authorization/SubjectAccessReview': {
    metadata,
    spec: { nonResourceAttributes: { path: '/x' }, groups: ['g', 'h'], extra: { e: ['f'] } },
  },
  'batch/CronJob': { metadata, spec: { schedule: '*/5 * * * *', jobTemplate: job, suspend: true } },
  'storage/CSIDriver': {
    metadata,
    spec: { attachRequired: false, tokenRequests: [{ audience: 'a' }], volumeLifecycleModes: ['Ephemeral'] },
  },
  'storage/CSINode': { metadata, spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: ['z'], allocatable: { count: 1 } }] } },
  'storage/CSIStorageCapacity': { metadata, storageClassName: 's', capacity: '1Gi', nodeTopology: selector },
  'storage/StorageClass': {
    metadata,
    provisioner: 'e.com/p',
    parameters: { a: 'b' },
    mountOptions: ['ro'],
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  'storage/VolumeAttachment': { metadata, spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
};

/** Fields that the hub does not have. */
const olderFields: Readonly<Record<string, Loose>> = {
  'extensions/v1beta1/DaemonSet': { spec: { templateGeneration: 3 } },
  'extensions/v1beta1/Deployment': { spec: { rollbackTo: { revision: 3 } } },
  'apps/v1beta1/Deployment': { spec: { rollbackTo: { revision: 3 } } },
  'flowcontrol.apiserver/v1beta3/PriorityLevelConfiguration': { spec: { limited: { lendablePercent: 5, borrowingLimitPercent: 6 } } },
};

const hasBody = ({ kind }: ServedKind): boolean => hubBodies[`${baseOf(kind)}/${kind.kind}`] !== undefined;
const baseOf = ({ group, sharesStoreOf }: ServedKind['kind']): string => sharesStoreOf?.group ?? group;
/** The other versions have their laws with their kinds. */
const known = new Set(
  builtinKinds(kubernetes).flatMap(({ group, plural, versions }) => Object.keys(versions).map((v) => `${group}/${v}/${plural}`)),
);
const older = allServed.filter(({ kind, version }) => !known.has(`${kind.group}/${version}/${kind.plural}`));
const cases = older
  .filter(hasBody)
  .map((served): [string, ServedKind] => [`${served.kind.group}/${served.version}/${served.kind.kind}`, served]);

const hubOf = (served: ServedKind): ServedKind => servedAs(baseOf(served.kind), served.hub.version, served.kind.kind);
const bodyOf = ({ kind }: ServedKind): Loose => hubBodies[`${baseOf(kind)}/${kind.kind}`];

function merged(target: Loose, more: Loose): Loose {
  if (typeof more !== 'object' || more === null || Array.isArray(more)) return more;
  const result = { ...target };
  for (const [key, value] of Object.entries(more)) result[key] = merged(result[key] ?? {}, value);
  return result;
}

const asText = ({ schema }: ServedKind, object: Loose): Loose => decode(schema, JSON.parse(encode(schema, object)));
const asBinary = ({ schema }: ServedKind, object: Loose): Loose => decodeProtobuf(schema, encodeProtobuf(schema, object));
const named = (served: ServedKind, object: Loose): Loose => ({ ...object, kind: served.kind.kind, apiVersion: served.apiVersion });

/**
 * Objects that cannot be stored may lose what is wrong with them: a backend with two ports, a subject of no group, a schema in two
 * places.
 */
const partial: ReadonlySet<string> = new Set(['Ingress', 'RoleBinding', 'ClusterRoleBinding', 'CustomResourceDefinition']);
/** Versions that say some things in two ways: a subject of any version, a schema that all versions have in common. */
const normalized: ReadonlySet<string> = new Set([
  'rbac.authorization/v1alpha1/RoleBinding',
  'rbac.authorization/v1alpha1/ClusterRoleBinding',
  'apiextensions/v1beta1/CustomResourceDefinition',
]);
const canBeStored = (served: ServedKind, body: Loose): boolean => created(served, body).errors.length === 0;

/** Values of the hub that a client can write. */
function hubObject(served: ServedKind, body: Loose): Loose | undefined {
  const hub = hubOf(served);
  return decodes(() => (partial.has(served.kind.kind) && !canBeStored(hub, body) ? undefined : read(hub, body)));
}

test('every kind and version is looked at', () => {
  expect(older.filter((served) => !hasBody(served))).toEqual([]);
  expect(older.length).toBeGreaterThan(40);
});

test.each(cases)('%s: the hub survives it as text and as bytes', (_name, served) => {
  const hub = hubObject(served, bodyOf(served));
  expect(hub).toBeDefined();
  for (const form of [asText, asBinary]) {
    const there = fromHub(served, hub);
    const back = named(served, form(served, there));
    // Kinds inside of objects have no place in the binary form; a server fills them in on arrival.
    if (form === asBinary && served.kind.kind === 'StatefulSet') served.definition.defaults?.(back as never, testEnv);
    expectEqual(shown(hubOf(served), toHub(served, back)), shown(hubOf(served), named(hubOf(served), hub)));
  }
});

test.each(cases)('%s: whatever can be stored survives it', (_name, served) => {
  const hubSide = hubOf(served);
  fc.assert(
    fc.property(mutated(bodyOf(served)), (body) => {
      const hub = hubObject(served, body);
      if (hub === undefined) return;
      const back = asText(served, fromHub(served, hub));
      expectEqual(shown(hubSide, toHub(served, back)), shown(hubSide, named(hubSide, hub)));
    }),
    { numRuns: rounds(60) },
  );
});

test.each(cases)('%s: what is written in it is read again', (name, served) => {
  const start = merged(shown(served, fromHub(served, read(hubOf(served), bodyOf(served)))), olderFields[name] ?? {});
  fc.assert(
    fc.property(mutated(start), (body) => {
      const object = decodes(() => read(served, body));
      if (object === undefined || (partial.has(served.kind.kind) && !storable(served, body))) return;
      const hub = toHub(served, object);
      const again = fromHub(served, hub);
      if (!normalized.has(name)) expectEqual(shown(served, again), shown(served, named(served, object)));
      expectEqual(toHub(served, again), hub);
    }),
    { numRuns: rounds(60) },
  );
});
function storable(served: ServedKind, body: Loose): boolean {
  try {
    return canBeStored(served, body);
  } catch {
    return false;
  }
}

/** Every body that lacks one of the values of another. */
function* lacking(value: Loose): Generator<Loose> {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const { [key]: member, ...others } = value;
    const within = (less: Loose): Loose =>
      Array.isArray(value) ? value.map((one, i) => (String(i) === key ? less : one)) : { ...value, [key]: less };
    yield Array.isArray(value) ? value.filter((_, i) => String(i) !== key) : others;
    for (const less of lacking(member)) yield within(less);
  }
}

test.each(cases)('%s: parts of objects, whose owners are asked for, are converted as they are', (name, served) => {
  const start = merged(shown(served, fromHub(served, read(hubOf(served), bodyOf(served)))), olderFields[name] ?? {});
  for (const body of lacking(start)) {
    const run = (): unknown => served.definition.toHub?.(copied(body) as never, kubernetes);
    expect(run, jsonText(body)).not.toThrow(TypeError);
  }
});
