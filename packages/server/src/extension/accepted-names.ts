/**
 * Accepts the names of a definition that no other definition of its group has.
 *
 *   apples: kind Fruit    accepted                      pears: kind Fruit    "Fruit" is already in use
 */
import { setCondition } from '@plat-dev/kinds/apiextensions/conditions';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '@plat-dev/kinds/apiextensions/schema/v1';

type NamesCondition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime' | 'type'>;

/** Accepted names of the other definitions of a group. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenNames(definitions: readonly CustomResourceDefinition[], group: string): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of definitions) {
    if (spec.group !== group) continue;
    const { plural, singular = '', shortNames, kind, listKind = '' } = status.acceptedNames;
    for (const name of [plural, singular, ...(shortNames ?? [])]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

/** Sets the accepted names and the conditions that follow from them. `now` is a text of time. */
export function acceptNames({ spec, status }: CustomResourceDefinition, takenNames: TakenNames, now: string): void {
  const [accepted, condition] = acceptedNames(spec.names, status.acceptedNames, takenNames);
  status.acceptedNames = accepted;
  setCondition(status, { type: 'NamesAccepted', lastTransitionTime: now, ...condition });
  const established = establishment(status, condition.status === 'True');
  if (established !== undefined) setCondition(status, { type: 'Established', lastTransitionTime: now, ...established });
}

/** The Established condition of a definition whose names are accepted. */
export const established: NamesCondition = {
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};

/** A definition that has been established stays so, even if its names change. */
function establishment({ conditions }: CustomResourceDefinitionStatus, accepted: boolean): NamesCondition | undefined {
  const old = conditions?.find(({ type }) => type === 'Established');
  if (old?.status === 'True') return undefined;
  if (accepted) return { status: 'False', reason: 'Installing', message: 'the initial names have been accepted' };
  return old === undefined ? { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' } : undefined;
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

function acceptedNames(
  requestedNames: CustomResourceDefinitionNames,
  had: CustomResourceDefinitionNames,
  { resources, kinds }: TakenNames,
): [CustomResourceDefinitionNames, NamesCondition] {
  const accepted: CustomResourceDefinitionNames = { ...had };
  let condition: NamesCondition = { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const refuse = (reason: string, message: string): void => {
    condition = { status: 'False', reason, message };
  };
  const take = <K extends 'plural' | 'singular' | 'kind' | 'listKind'>(field: K, usedNames: ReadonlySet<string>, reason: string): void => {
    const name = requestedNames[field];
    if (name === undefined || name === '' || name === had[field] || !usedNames.has(name)) accepted[field] = name as never;
    else refuse(reason, inUse(name));
  };
  take('plural', resources, 'PluralConflict');
  take('singular', resources, 'SingularConflict');
  const conflicts = (requestedNames.shortNames ?? []).filter((name) => !had.shortNames?.includes(name) && resources.has(name));
  if (conflicts.length === 0) accepted.shortNames = requestedNames.shortNames as never;
  else refuse('ShortNamesConflict', conflicts.length === 1 ? inUse(conflicts[0] as string) : `[${conflicts.map(inUse).join(', ')}]`);
  take('kind', kinds, 'KindConflict');
  take('listKind', kinds, 'ListKindConflict');
  accepted.categories = requestedNames.categories as never;
  return [withoutAbsent(accepted), condition];
}

/** A new object, instead of fields deleted: a loop that has met one object which lost a field is slower for all objects from then on. */
function withoutAbsent(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const present = Object.entries(names).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as unknown as CustomResourceDefinitionNames;
}
