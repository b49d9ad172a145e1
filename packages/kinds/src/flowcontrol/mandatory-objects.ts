/** The mandatory flow schemas and priority levels, whose specs cannot be changed. */
import type { ReleaseEnv } from '../kind.ts';
import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from './schema/v1beta2.ts';

/** The level, and the schema, of exempt requests. */
export const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';
const all = '*';

const everything = {
  resourceRules: [{ verbs: [all], apiGroups: [all], resources: [all], clusterScope: true, namespaces: [all] }],
  nonResourceRules: [{ verbs: [all], nonResourceURLs: [all] }],
};
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));

export const mandatorySchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [
    EXEMPT,
    {
      priorityLevelConfiguration: { name: EXEMPT },
      matchingPrecedence: 1,
      rules: [{ subjects: groups('system:masters'), ...everything }],
    },
  ],
  [
    CATCH_ALL,
    {
      priorityLevelConfiguration: { name: CATCH_ALL },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    },
  ],
]);

export const mandatoryLevels: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map<string, PriorityLevelConfigurationSpec>([
  [EXEMPT, { type: 'Exempt' }],
  [CATCH_ALL, { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } }],
]);

/** The spec of a mandatory level in a release: levels lend seats since 1.26, and exempt requests have shares since 1.28. */
export function mandatoryLevel(name: string, env: ReleaseEnv): PriorityLevelConfigurationSpec | undefined {
  const level = mandatoryLevels.get(name);
  if (level?.limited === undefined)
    return level === undefined || !env.since('1.28') ? level : { ...level, exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
  return env.since('1.26') ? { ...level, limited: { ...level.limited, lendablePercent: 0 } } : level;
}
