/** Flow schemas. */
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { validateFlowSchema } from './flow-schema-rules.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';
import { objectStrategy, statusStrategy } from './status-rules.ts';

export const FlowSchemaKind = kind<v1beta2.FlowSchema>({
  group: 'flowcontrol.apiserver',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  versions: {
    v1beta2: { schema: v1beta2.FlowSchema },
    v1beta1: {
      schema: v1beta1.FlowSchema,
    },
  },
  hub: 'v1beta2',
  generation: true,
  strategy: objectStrategy(validateFlowSchema),
  subresources: { status: status(statusStrategy()) },
  columns: [
    nameColumn,
    { name: 'PriorityLevel', type: 'string', description: 'The priority level that matching requests are sent to.' },
    { name: 'MatchingPrecedence', type: 'string', description: 'The order in which schemas are tried; the lowest is tried first.' },
    { name: 'DistinguisherMethod', type: 'string', description: 'By what matching requests are divided into flows.' },
    ageColumn,
    { name: 'MissingPL', type: 'string', description: 'Whether the priority level that the schema names is missing.' },
  ],
  cells: (schema, env) => [
    nameCell(schema),
    schema.spec.priorityLevelConfiguration.name,
    schema.spec.matchingPrecedence,
    schema.spec.distinguisherMethod?.type ?? '<none>',
    ageCell(schema, env),
    schema.status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
});
