/** Priority levels. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { validatePriorityLevel } from './priority-level-rules.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';
import { objectStrategy, statusStrategy } from './status-rules.ts';

export const PriorityLevelConfigurationKind = kind<v1beta2.PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  versions: {
    v1beta2: { schema: v1beta2.PriorityLevelConfiguration },
    v1beta1: {
      schema: v1beta1.PriorityLevelConfiguration,
    },
  },
  hub: 'v1beta2',
  generation: true,
  strategy: objectStrategy(validatePriorityLevel),
  subresources: { status: status(statusStrategy()) },
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'Whether requests of the level are limited or exempt.' },
    {
      name: 'AssuredConcurrencyShares',
      type: 'string',
      until: '1.25',
      description: 'The share of concurrent requests that the level is sure of.',
    },
    {
      name: 'NominalConcurrencyShares',
      type: 'string',
      since: '1.26',
      description: 'The share of concurrent requests that the level has.',
    },
    { name: 'Queues', type: 'string', description: 'How many queues the level has.' },
    { name: 'HandSize', type: 'string', description: 'Among how many queues a flow is dealt.' },
    { name: 'QueueLengthLimit', type: 'string', description: 'How many requests may wait in one queue.' },
    ageColumn,
  ],
  cells: (level, env) => {
    const { type, limited } = level.spec;
    const shares = limited?.assuredConcurrencyShares ?? level.spec.exempt?.nominalConcurrencyShares ?? '<none>';
    const queuing = limited?.limitResponse.queuing;
    return [
      nameCell(level),
      type,
      shares,
      shares,
      queuing?.queues ?? '<none>',
      queuing?.handSize ?? '<none>',
      queuing?.queueLengthLimit ?? '<none>',
      ageCell(level, env),
    ];
  },
});
