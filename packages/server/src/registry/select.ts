/** Selection of objects by a list, watch or deletecollection. */
import type { Work } from '@plat-dev/lib/slices';
import { everyField, type FieldSelector, hasValue } from '@plat-dev/meta/fields';
import { everyLabel, type LabelSelector } from '@plat-dev/meta/labels';
import type { Item } from '@plat-dev/storage/item';
import type { Interest } from '@plat-dev/storage/listener-index';
import type { Resource } from './catalog.ts';

export interface Selection {
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Neither a label selector nor a field selector is given. */
  readonly everything: boolean;
  /** Whether an item of the right namespace is selected. */
  readonly matches: (item: Item) => boolean;
  /** Key prefix of the namespace. */
  readonly prefix: string;
  /** The path or the selector names one object. */
  readonly single: boolean;
  /** The key by which changes find the watchers of this selection, if something narrows it. */
  readonly interest: Interest | undefined;
}

export function select(
  resource: Resource,
  namespace: string,
  labels: LabelSelector = everyLabel,
  fields: FieldSelector = everyField,
): Selection {
  const everything = labels.everything && fields.everything;
  const prefix = resource.kind.namespaced && namespace !== '' ? `${namespace}/` : '';
  const tests = fields.everything ? noTests : fieldTests(resource, fields);
  const matches = (item: Item): boolean => {
    if (!labels.matches(item.labels)) return false;
    for (const test of tests) if (!test(item)) return false;
    return true;
  };
  const single = fields.exact('metadata.name') !== undefined && (!resource.kind.namespaced || namespace !== '');
  const interest = interestOf(resource, fields, single ? prefix : undefined);
  return { namespace, labels, fields, everything, matches: everything ? () => true : matches, prefix, single, interest };
}

type ItemTest = (item: Item) => boolean;
const noTests: readonly ItemTest[] = [];

function fieldTests(resource: Resource, { tests }: FieldSelector): readonly ItemTest[] {
  if (tests === 'none') return [() => false];
  return tests.map((test) => {
    const read = reader(resource, test.field);
    const { value, not } = test;
    if (value !== undefined && not.size === 0) return (item: Item) => read(item) === value;
    return (item: Item) => hasValue(test, read(item));
  });
}

function interestOf(resource: Resource, fields: FieldSelector, singlePrefix: string | undefined): Interest | undefined {
  if (singlePrefix !== undefined) return { key: `${singlePrefix}${fields.exact('metadata.name')}` };
  for (const { field: name, operator, value } of fields.requirements) {
    const field = resource.fieldNames.indexOf(name);
    if (operator === '=' && field >= 0) return { field, value };
  }
  return undefined;
}

function reader(resource: Resource, field: string): (item: Item) => string {
  const { namespaced } = resource.kind;
  if (field === 'metadata.name') return (item) => (namespaced ? item.key.slice(item.key.indexOf('/') + 1) : item.key);
  if (field === 'metadata.namespace') return (item) => (namespaced ? item.key.slice(0, item.key.indexOf('/')) : '');
  const index = resource.fieldNames.indexOf(field);
  return (item) => item.fields?.[index] ?? '';
}

/** Selected items of the current state in key order, from an index if the selection names a value. */
export function selectCurrent(resource: Resource, selection: Selection): Item[] {
  const { collection } = resource;
  if (collection === undefined) return [];
  const { items } = collection;
  if (selection.everything) return selection.prefix === '' ? items.all() : items.withPrefix(selection.prefix);
  const candidates = candidateKeys(resource, selection);
  const selected: Item[] = [];
  if (candidates !== undefined) {
    for (const key of [...candidates].sort()) {
      const item = key.startsWith(selection.prefix) ? items.get(key) : undefined;
      if (item !== undefined && selection.matches(item)) selected.push(item);
    }
    return selected;
  }
  items.each(selection.prefix, (item, key) => {
    if (!key.startsWith(selection.prefix)) return false;
    if (selection.matches(item)) selected.push(item);
    return true;
  });
  return selected;
}

/** Objects that a selector is matched against in one turn of the event loop. */
export const SELECT_AT_ONCE = 2000;

/**
 * The candidates for a selection that are too many for one turn of the event loop: a snapshot of the current state.
 * Undefined: `selectCurrent` is fast enough.
 */
export function manyToSelect(resource: Resource, selection: Selection): readonly Item[] | undefined {
  const { collection } = resource;
  if (collection === undefined || selection.everything || collection.items.size <= SELECT_AT_ONCE) return undefined;
  const candidates = candidateKeys(resource, selection);
  if (candidates !== undefined && (Array.isArray(candidates) || (candidates as ReadonlySet<string>).size <= SELECT_AT_ONCE))
    return undefined;
  const all = selection.prefix === '' ? collection.items.all() : collection.items.withPrefix(selection.prefix);
  return all.length <= SELECT_AT_ONCE ? undefined : all;
}

/** The selected items of these. */
export function* selectedItems(all: readonly Item[], { matches }: Selection): Work<Item[]> {
  const items: Item[] = [];
  for (let i = 0; i < all.length; i++) {
    const item = all[i] as Item;
    if (matches(item)) items.push(item);
    if (i % CLOCK_EVERY === CLOCK_EVERY - 1) yield;
  }
  return items;
}
/** Items between two reads of the clock. */
const CLOCK_EVERY = 100;

/** Keys of the candidates, if something narrows them. */
function candidateKeys(resource: Resource, selection: Selection): readonly string[] | ReadonlySet<string> | undefined {
  const collection = resource.collection as NonNullable<Resource['collection']>;
  const name = selection.fields.exact('metadata.name');
  const namespace = resource.kind.namespaced ? (selection.fields.exact('metadata.namespace') ?? selection.namespace) : '';
  if (name !== undefined && (!resource.kind.namespaced || namespace !== ''))
    return [resource.kind.namespaced ? `${namespace}/${name}` : name];
  for (const { key, values } of selection.labels.equals)
    if (values.length === 1) return collection.withValue('label', key, -1, values[0] as string) ?? [];
  for (const r of selection.fields.requirements) {
    const index = resource.fieldNames.indexOf(r.field);
    if (r.operator === '=' && r.value !== '' && index >= 0) return collection.withValue('field', r.field, index, r.value) ?? [];
  }
  return undefined;
}
