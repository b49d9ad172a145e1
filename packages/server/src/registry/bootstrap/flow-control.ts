/** Bootstrap FlowSchemas and PriorityLevelConfigurations. */
import { mandatoryLevel } from '@plat-dev/kinds/flowcontrol/mandatory-objects';
import type { ReleaseEnv } from '@plat-dev/kinds/kind';
import { domainName, groupName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { type Existence, existsIn } from '@plat-dev/schema/releases';

type SubjectText = string;
interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope?: boolean;
  readonly namespaces: readonly string[];
}
interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}
interface Flow {
  readonly name: string;
  readonly level: string;
  readonly precedence: number;
  readonly distinguish?: 'ByUser' | 'ByNamespace';
  /** `User:name`, `Group:name`, or `ServiceAccount:name` of the system namespace. */
  readonly subjects: readonly SubjectText[];
  readonly resources?: readonly ResourceRule[];
  readonly paths?: readonly NonResourceRule[];
}

const everyResource: readonly ResourceRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
];
const everyPath: readonly NonResourceRule[] = [{ verbs: ['*'], nonResourceURLs: ['*'] }];
const everything = { resources: everyResource, paths: everyPath };
const all = ['Group:system:unauthenticated', 'Group:system:authenticated'];
const election = ['get', 'create', 'update'];

function flows(identity: Identity, env: ReleaseEnv): readonly Flow[] {
  const coordination = groupName(identity, 'coordination');
  const within = (verbs: readonly string[], group: string, ...resources: string[]): ResourceRule => ({
    verbs,
    apiGroups: [group],
    resources,
    namespaces: ['*'],
  });
  const controllerManager = 'User:system:kube-controller-manager';
  const scheduler = 'User:system:kube-scheduler';
  const byUser = { distinguish: 'ByUser' } as const;
  const byNamespace = { distinguish: 'ByNamespace' } as const;
  const flowList: (Flow & Existence)[] = [
    { name: 'catch-all', level: 'catch-all', precedence: 10000, ...byUser, subjects: all, ...everything },
    {
      name: 'endpoint-controller',
      until: '1.33',
      level: 'workload-high',
      precedence: 150,
      ...byUser,
      subjects: [controllerManager, 'ServiceAccount:endpoint-controller', 'ServiceAccount:endpointslicemirroring-controller'],
      resources: [within(election, '', 'endpoints')],
    },
    { name: 'exempt', level: 'exempt', precedence: 1, subjects: ['Group:system:masters'], ...everything },
    { name: 'global-default', level: 'global-default', precedence: 9900, ...byUser, subjects: all, ...everything },
    {
      name: 'kube-controller-manager',
      level: 'workload-high',
      precedence: 800,
      ...byNamespace,
      subjects: [controllerManager],
      ...everything,
    },
    { name: 'kube-scheduler', level: 'workload-high', precedence: 800, ...byNamespace, subjects: [scheduler], ...everything },
    {
      name: `${identity.namespaces.system}-service-accounts`,
      level: 'workload-high',
      precedence: 900,
      ...byNamespace,
      subjects: ['ServiceAccount:*'],
      ...everything,
    },
    {
      name: 'probes',
      level: 'exempt',
      precedence: 2,
      subjects: all,
      paths: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    },
    {
      name: 'service-accounts',
      level: 'workload-low',
      precedence: 9000,
      ...byUser,
      subjects: ['Group:system:serviceaccounts'],
      ...everything,
    },
    {
      name: 'system-leader-election',
      level: 'leader-election',
      precedence: 100,
      ...byUser,
      subjects: [controllerManager, scheduler, 'ServiceAccount:*'],
      resources: [within(election, coordination, 'leases')],
    },
    {
      name: 'system-node-high',
      level: 'node-high',
      precedence: 400,
      ...byUser,
      subjects: ['Group:system:nodes'],
      resources: [{ ...within(['*'], '', 'nodes', 'nodes/status'), clusterScope: true }, within(['*'], coordination, 'leases')],
    },
    { name: 'system-nodes', level: 'system', precedence: 500, ...byUser, subjects: ['Group:system:nodes'], ...everything },
    {
      name: 'workload-leader-election',
      until: '1.33',
      level: 'leader-election',
      precedence: 200,
      ...byUser,
      subjects: ['ServiceAccount:*'],
      resources: [within(election, '', 'endpoints', 'configmaps'), within(election, coordination, 'leases')],
    },
  ];
  return flowList.filter((flow) => existsIn(env.release, flow));
}

function subjectOf(identity: Identity, text: SubjectText) {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind === 'User') return { kind, user: { name } };
  if (kind === 'Group') return { kind, group: { name } };
  return { kind, serviceAccount: { namespace: identity.namespaces.system, name } };
}

/** Whether the server keeps an object up to date. */
export const autoUpdateAnnotation = (identity: Identity): QualifiedName => domainName(identity, 'autoupdate-spec', 'apf');

const metadata = (identity: Identity, name: string) => ({ name, annotations: { [autoUpdateAnnotation(identity)]: 'true' } });

/** `now` is RFC 3339 text. */
export function flowSchemas(identity: Identity, now: string, env: ReleaseEnv) {
  return flows(identity, env).map((flow) => ({
    metadata: metadata(identity, flow.name),
    spec: {
      priorityLevelConfiguration: { name: flow.level },
      matchingPrecedence: flow.precedence,
      ...(flow.distinguish && { distinguisherMethod: { type: flow.distinguish } }),
      rules: [
        {
          subjects: flow.subjects.map((subject) => subjectOf(identity, subject)),
          ...(flow.resources && { resourceRules: flow.resources }),
          ...(flow.paths && { nonResourceRules: flow.paths }),
        },
      ],
    },
    status: {
      conditions: [
        {
          type: 'Dangling',
          status: 'False',
          lastTransitionTime: now,
          reason: 'Found',
          message: `This FlowSchema references the PriorityLevelConfiguration object named "${flow.level}" and it exists`,
        },
      ],
    },
  }));
}

interface Level {
  readonly shares: number;
  readonly queues?: number;
  readonly hand?: number;
  /** The percentage of seats that the level lends, since release 1.26. */
  readonly lends?: number;
}
/** Shares of the server, and queues with the hand size; without queues, excess requests are rejected. */
const levels: Readonly<Record<string, Level | 'exempt'>> = {
  'catch-all': { shares: 5 },
  exempt: 'exempt',
  'global-default': { shares: 20, queues: 128, hand: 6, lends: 50 },
  'leader-election': { shares: 10, queues: 16, hand: 4 },
  'node-high': { shares: 40, queues: 64, hand: 6, lends: 25 },
  system: { shares: 30, queues: 64, hand: 6, lends: 33 },
  'workload-high': { shares: 40, queues: 128, hand: 6, lends: 50 },
  'workload-low': { shares: 100, queues: 128, hand: 6, lends: 90 },
};

export function priorityLevels(identity: Identity, env: ReleaseEnv) {
  return Object.entries(levels).map(([name, level]) => {
    if (level === 'exempt')
      return { metadata: metadata(identity, name), spec: mandatoryLevel(name, env) ?? { type: 'Exempt' }, status: {} };
    const queuing = { queues: level.queues, handSize: level.hand, queueLengthLimit: 50 };
    const limitResponse = level.queues === undefined ? { type: 'Reject' } : { type: 'Queue', queuing };
    const lending = env.since('1.26') ? { lendablePercent: level.lends ?? 0 } : {};
    const limited = { assuredConcurrencyShares: level.shares, limitResponse, ...lending };
    return { metadata: metadata(identity, name), spec: { type: 'Limited', limited }, status: {} };
  });
}
