/** `plat create poddisruptionbudget`, `priorityclass` and `quota`. */
import { bool, FlagError, int, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { selectorObject } from '../labels/selector-object.ts';
import { resourceList } from '../objects/resource-list.ts';
import { type Maker, maker } from './maker.ts';

/** `2` or `50%` */
function numberOrPercent(value: string, name: string): string | number {
  if (!/^\d+%?$/.test(value)) throw new FlagError(`--${name}: ${JSON.stringify(value)} is neither a number nor a percentage such as 50%`);
  return value.endsWith('%') ? value : Number(value);
}

export const policyMakers: readonly Maker[] = [
  maker({
    path: 'poddisruptionbudget',
    aliases: ['pdb'],
    summary: 'Create a pod disruption budget.',
    examples: [
      'plat create poddisruptionbudget web --selector=app=web --min-available=1',
      'plat create pdb web --selector=app=web --min-available=50%',
      'plat create pdb web --selector=app=web --max-unavailable=1',
    ],
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    flags: {
      selector: text('', 'Label selector of the pods: app=web.', { value: 'QUERY' }),
      'min-available': text('', 'Pods that must stay available: a number or a percentage.', { value: 'NUMBER|PERCENT' }),
      'max-unavailable': text('', 'Pods that may be unavailable: a number or a percentage.', { value: 'NUMBER|PERCENT' }),
    },
    make({ selector, minAvailable, maxUnavailable }) {
      if (selector === '') throw new FlagError('which pods? For example: --selector=app=web');
      if ((minAvailable === '') === (maxUnavailable === ''))
        throw new FlagError('how many? Give either --min-available or --max-unavailable');
      return {
        spec: {
          ...(minAvailable !== '' && { minAvailable: numberOrPercent(minAvailable, 'min-available') }),
          ...(maxUnavailable !== '' && { maxUnavailable: numberOrPercent(maxUnavailable, 'max-unavailable') }),
          selector: selectorObject(selector),
        },
      };
    },
  }),
  maker({
    path: 'priorityclass',
    aliases: ['pc'],
    summary: 'Create a priority class.',
    examples: [
      "plat create priorityclass high --value=1000 --description='before all others'",
      'plat create priorityclass usual --value=100 --global-default',
      'plat create pc patient --value=1000 --preemption-policy=Never',
    ],
    group: 'scheduling',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    namespaced: false,
    flags: {
      value: int(0, 'The priority.', { min: -(2 ** 31), max: 2 ** 31 - 1 }),
      'global-default': bool(false, 'Use this class for pods that name none.'),
      description: text('', 'When to use this class.'),
      'preemption-policy': text('PreemptLowerPriority', 'Whether pods of this class preempt others: PreemptLowerPriority or Never.', {
        value: 'POLICY',
      }),
    },
    make: ({ value, globalDefault, description, preemptionPolicy }) => ({
      value,
      ...(globalDefault && { globalDefault }),
      ...(description !== '' && { description }),
      preemptionPolicy,
    }),
  }),
  maker({
    path: 'quota',
    aliases: ['resourcequota'],
    summary: 'Create a resource quota.',
    examples: [
      'plat create quota team --hard=cpu=4,memory=8Gi,pods=20',
      'plat create quota best-effort --hard=pods=10 --scopes=BestEffort',
      'plat create quota team --hard=services=5 -n team-a',
    ],
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    flags: {
      hard: text('', 'Limits: cpu=4,memory=8Gi,pods=20.', { value: 'RESOURCE=QUANTITY,…' }),
      scopes: text('', 'Scopes that an object must have to count: BestEffort,NotTerminating.', { value: 'SCOPE,…' }),
    },
    make({ hard, scopes }) {
      const names = scopes === '' ? [] : scopes.split(',');
      if (names.includes('')) throw new FlagError(`--scopes: ${JSON.stringify(scopes)} has an empty scope`);
      const spec: JsonObject = { ...(hard !== '' && { hard: resourceList('hard', hard) }), ...(names.length > 0 && { scopes: names }) };
      return { ...(Object.keys(spec).length > 0 && { spec }) };
    },
  }),
];
