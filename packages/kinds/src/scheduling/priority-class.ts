/** Priority classes. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { immutable, word } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { PriorityClass } from './schema/v1.ts';

const RESERVED_PREFIX = 'system-';
const HIGHEST_OF_USERS = 1_000_000_000;
/** The system classes, with their priorities. */
const systemPriorities: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);
const policies = ['PreemptLowerPriority', 'Never'];
const policy = Path.of('preemptionPolicy');

function validate(priorityClass: PriorityClass, errors: FieldErrors): void {
  const { metadata, value, preemptionPolicy } = priorityClass;
  const { name = '' } = metadata;
  if (name.startsWith(RESERVED_PREFIX)) {
    const fault = systemFault(name, priorityClass);
    if (fault !== undefined)
      errors.forbidden(
        Path.of('metadata', 'name'),
        `priority class names with '${RESERVED_PREFIX}' prefix are reserved for system use only. error: ${fault}`,
      );
  } else if (value > HIGHEST_OF_USERS)
    errors.forbidden(Path.of('value'), `maximum allowed value of a user defined priority is ${HIGHEST_OF_USERS}`);
  if (preemptionPolicy !== undefined) word(preemptionPolicy, policies, policy, errors);
}

/** The error of a class with a system name that differs from the system class. */
function systemFault(name: string, { value, globalDefault = false }: PriorityClass): string | undefined {
  const systemValue = systemPriorities.get(name);
  if (systemValue === undefined) return `${name} is not a known system priority class`;
  if (value !== systemValue) return `value of ${name} PriorityClass must be ${systemValue}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export const PriorityClassKind = kind<PriorityClass>({
  group: 'scheduling',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  short: ['pc'],
  scope: 'Cluster',
  versions: { v1: { schema: PriorityClass } },
  hub: 'v1',
  strategy: {
    // The generation of a class is always 1: the fields that pods use are immutable.
    prepareForCreate: ({ metadata }) => {
      metadata.generation = 1;
    },
    validate,
    validateUpdate(priorityClass, old, errors, env) {
      metadataUpdateAgain(priorityClass, old, errors, env);
      if (priorityClass.value !== old.value)
        errors.forbidden(Path.of(env.since('1.25') ? 'value' : 'Value'), 'may not be changed in an update.');
      immutable(priorityClass.preemptionPolicy, old.preemptionPolicy, policy, errors);
    },
  },
  columns: [
    nameColumn,
    { name: 'Value', type: 'integer', description: 'The priority that pods of the class get.' },
    { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class get this one.' },
    ageColumn,
    { name: 'PreemptionPolicy', type: 'string', since: '1.32', description: 'Whether pods of the class may take the place of others.' },
  ],
  cells: (priorityClass, env) => [
    nameCell(priorityClass),
    priorityClass.value,
    priorityClass.globalDefault ?? false,
    ageCell(priorityClass, env),
    priorityClass.preemptionPolicy ?? '',
  ],
});
