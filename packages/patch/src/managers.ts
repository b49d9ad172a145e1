/**
 * Field ownership: metadata.managedFields as a list of managers, and back. A manager is a name together with an operation,
 * `Apply`, or `Update` in one version of the kind, each for the object itself or for a subresource.
 */

import type { ManagedFieldsEntry as EntrySchema } from '@plat-dev/kinds/meta';
import { equal } from '@plat-dev/lib/equal';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { formatTime } from '@plat-dev/lib/time';
import type { Infer } from '@plat-dev/schema/types';
import type { FieldSet } from './fieldset.ts';
import { type Pace, sentSet, unionOf } from './fieldset-build.ts';
import { ELEMENTS_A_STEP } from './path-element.ts';

export type ManagedFieldsEntry = Infer<typeof EntrySchema>;
export type ManagedFields = readonly ManagedFieldsEntry[];

export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Whole seconds; absent for writes through `scale`. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The original entry, which is returned if nothing changed. */
  readonly entry: ManagedFieldsEntry | undefined;
}

export function isUpdater(manager: Manager, name: string, apiVersion: string, subresource: string): boolean {
  return (
    manager.operation === 'Update' && manager.name === name && manager.apiVersion === apiVersion && manager.subresource === subresource
  );
}

let lastSecond = Number.NaN;
let lastText = '';
/** The time of an entry. Many writes share a second: its text is kept. */
export function wholeSeconds(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastSecond) {
    lastText = formatTime(now);
    lastSecond = second;
  }
  return lastText;
}

/**
 * The managers of a list; undefined when an entry is not one. `trusted`: the list is stored, so that its sets are in order
 * and no manager is repeated.
 */
export function readManagers(entries: ManagedFields, trusted: boolean): Manager[] | undefined {
  if (!trusted) return atOnce(readSentManagers(entries));
  const managers: Manager[] = [];
  for (const entry of entries) {
    if (faultOf(entry) !== undefined) return undefined;
    managers.push(managerOf(entry, (entry.fieldsV1 ?? {}) as FieldSet, entry));
  }
  return managers;
}
function* readSentManagers(entries: ManagedFields): Work<Manager[] | undefined> {
  // Of two entries for one manager the later counts.
  const managers = new Map<string, Manager>();
  const pace: Pace = { stepsLeft: ELEMENTS_A_STEP };
  for (const entry of entries) {
    const fields = yield* sentSet(entry.fieldsV1 ?? {}, pace);
    if (faultOf(entry) !== undefined || fields === undefined) return undefined;
    const manager = managerOf(entry, fields, undefined);
    managers.set(identifier(manager), manager);
  }
  return [...managers.values()];
}
function managerOf(readEntry: ManagedFieldsEntry, fields: FieldSet, entry: ManagedFieldsEntry | undefined): Manager {
  return {
    name: readEntry.manager ?? '',
    operation: readEntry.operation as Manager['operation'],
    apiVersion: readEntry.apiVersion as string,
    subresource: readEntry.subresource ?? '',
    time: readEntry.time,
    fields,
    entry,
  };
}

function faultOf({ operation, apiVersion, fieldsType }: ManagedFieldsEntry): string | undefined {
  if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
  if (apiVersion === undefined || apiVersion === '') return 'apiVersion must not be empty';
  if (fieldsType === 'FieldsV1') return undefined;
  return fieldsType === undefined ? 'missing fieldsType in managed fields entry' : `invalid fieldsType ${JSON.stringify(fieldsType)}`;
}

/** The list after mutating admission. An invalid one is replaced by the list from before, with a warning. */
export function managersAfterAdmission<T extends ManagedFields>(
  before: T | undefined,
  after: T | undefined,
): { readonly managedFields: T | undefined; readonly warning?: string } {
  if (after === before || after === undefined) return { managedFields: after };
  for (const entry of after) {
    const fault = faultOf(entry) ?? (atOnce(sentSet(entry.fieldsV1 ?? {})) === undefined ? 'fieldsV1 cannot be read' : undefined);
    if (fault !== undefined)
      return {
        managedFields: before,
        warning: `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${fault}`,
      };
  }
  return { managedFields: after };
}

/** Whether two lists say the same, but for times. */
export function differOnlyInTimes(a: ManagedFields | undefined, b: ManagedFields | undefined): boolean {
  if (a === undefined || b === undefined || a === b || a.length !== b.length) return false;
  return a.every((entry, i) => equal({ ...entry, time: undefined }, { ...b[i], time: undefined }));
}

/** One empty entry resets ownership. */
export function isReset(entries: ManagedFields | undefined): boolean {
  if (entries?.length !== 1) return false;
  const only = entries[0] as Record<string, unknown>;
  for (const key in only) if (only[key] !== undefined) return false;
  return true;
}

/** Whether a write edits the list of managers itself, which it may, but not through a subresource. */
export function editsManagers(
  live: ManagedFields | undefined,
  sent: ManagedFields | undefined,
  subresource: string,
): sent is ManagedFields {
  return subresource === '' && sent !== undefined && sent.length > 0 && sent !== live && !(live !== undefined && equal(live, sent));
}
/** The managers that a client sent; the stored ones if the list is invalid. */
export function* editedManagers(live: ManagedFields | undefined, sent: ManagedFields): Work<Manager[]> {
  const managers = yield* readSentManagers(sent);
  return managers !== undefined && managers.length > 0 ? managers : storedManagers(live);
}
export function storedManagers(live: ManagedFields | undefined): Manager[] {
  return live === undefined ? [] : (readManagers(live, true) ?? []);
}

/** The list as it is stored: by operation, time, name, version and subresource. Undefined when there are none. */
export function writeManagers(managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  if (managers.length === 1) return [entryOf(managers[0] as Manager)];
  return [...managers].sort(compareManagers).map(entryOf);
}
function entryOf(manager: Manager): ManagedFieldsEntry {
  if (manager.entry !== undefined) return manager.entry;
  const { name, operation, apiVersion, time, subresource } = manager;
  const fieldsV1 = manager.fields as NonNullable<ManagedFieldsEntry['fieldsV1']>;
  const entry: ManagedFieldsEntry =
    time === undefined
      ? { manager: name, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1 }
      : { manager: name, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.name, b.name) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}
function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The manager with another set; without one it was read from when the set is another. */
export function withFields(manager: Manager, fields: FieldSet): Manager {
  if (fields === manager.fields) return manager;
  return { ...manager, fields, entry: undefined };
}

/** Limit of managers in a list of a client; more are refused. */
export const MAX_MANAGERS = 1_000;
/** Limit of updating managers: the oldest are folded into one. */
const MAX_UPDATERS = 10;
const OLD_UPDATES = 'ancient-changes';

/** Folds the oldest updating managers, version by version, into one until there are few enough. */
export function* foldOldest(managers: readonly Manager[]): Work<readonly Manager[]> {
  const updaters = managers.filter((manager) => manager.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  const identifiers = new Map(updaters.map((manager) => [manager, identifier(manager)]));
  const nameOf = (manager: Manager): string => identifiers.get(manager) as string;
  updaters.sort((a, b) => compareTexts(a.time ?? '', b.time ?? '') || compareTexts(nameOf(a), nameOf(b)));
  const keptManagers = new Set<Manager>(managers);
  /** The managers of a version to fold, oldest first. */
  const folded = new Map<string, Manager[]>();
  let updatersLeft = updaters.length;
  for (const manager of updaters) {
    if (updatersLeft <= MAX_UPDATERS) break;
    const alike = folded.get(manager.apiVersion);
    if (alike === undefined) {
      folded.set(manager.apiVersion, [manager]);
      continue;
    }
    alike.push(manager);
    updatersLeft--;
  }
  for (const [apiVersion, alike] of folded) {
    if (alike.length < 2) continue;
    for (const manager of alike) keptManagers.delete(manager);
    const fields = yield* unionOf(alike.map((manager) => manager.fields));
    const { time } = alike[alike.length - 1] as Manager;
    keptManagers.add({ name: OLD_UPDATES, operation: 'Update', apiVersion, subresource: '', time, fields, entry: undefined });
  }
  return [...keptManagers];
}
/** The identity of a manager, as a stock server spells it; it orders them in messages. */
export function identifier(manager: Manager): string {
  const { name, operation, apiVersion, subresource } = manager;
  return JSON.stringify({
    manager: name,
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  });
}
