/** Query parameters of lists, watches and writes, validated as a stock server does. */

import { frozen } from '@plat-dev/lib/frozen';
import { TextCache } from '@plat-dev/lib/text-cache';
import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { checkFieldSelector, everyField, parseFieldSelector } from '@plat-dev/meta/fields';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { everyLabel, parseLabelSelector } from '@plat-dev/meta/labels';
import { managerName, validateFieldManager } from '@plat-dev/patch';
import type { Context } from '../context.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';
import { type Selection, select } from '../registry/select.ts';
import type { OptionsKind, ReadOptions, WriteOptions } from './parsed-options.ts';
import { queryBoolean } from './query-boolean.ts';
import { queryInteger } from './query-integer.ts';

const integer = (text: string | undefined): number | undefined =>
  text === undefined || text === '' ? undefined : Number(queryInteger(text));

const noOptions: ReadOptions = {
  limit: 0,
  continue: '',
  resourceVersion: '',
  match: '',
  timeoutSeconds: undefined,
  bookmarks: false,
  initialEvents: undefined,
};

/** The first release that knows `sendInitialEvents`. */
const INITIAL_EVENTS_SINCE = '1.27';

export function readOptions(ctx: Context, catalog: Catalog, watch: boolean): ReadOptions {
  if (ctx.search === '') return noOptions;
  const options: ReadOptions = {
    limit: integer(ctx.param('limit')) ?? 0,
    continue: ctx.param('continue') ?? '',
    resourceVersion: ctx.param('resourceVersion') ?? '',
    match: ctx.param('resourceVersionMatch') ?? '',
    timeoutSeconds: integer(ctx.param('timeoutSeconds')),
    bookmarks: queryBoolean('allowWatchBookmarks', ctx.param('allowWatchBookmarks')) ?? false,
    initialEvents: isAtLeast(catalog.release, INITIAL_EVENTS_SINCE)
      ? queryBoolean('sendInitialEvents', ctx.param('sendInitialEvents'))
      : undefined,
  };
  queryBoolean('watch', ctx.param('watch'));
  if (options.match === '' && options.initialEvents === undefined) return options;
  const errors = new FieldErrors();
  if (watch && isAtLeast(catalog.release, INITIAL_EVENTS_SINCE)) checkWatch(errors, options, catalog.feature('WatchList'));
  else checkList(errors, options, watch);
  if (!errors.empty) throw invalid(optionsKind(catalog, 'ListOptions'), '', errors.list);
  return options;
}

const matchPath = Path.of('resourceVersionMatch');
const initialPath = Path.of('sendInitialEvents');

function checkWatch(errors: FieldErrors, { match, initialEvents, ...options }: ReadOptions, isOn: boolean): void {
  if (initialEvents !== undefined) {
    if (match !== 'NotOlderThan') errors.forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    if (!isOn) errors.forbidden(initialPath, 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled');
  }
  if (match === '') return;
  if (initialEvents === undefined)
    errors.forbidden(matchPath, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  if (match !== 'NotOlderThan') errors.notSupported(matchPath, match, ['NotOlderThan']);
  if (options.continue !== '') errors.forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided');
}

/** Of lists, and of the watches of releases that know no initial events. */
function checkList(errors: FieldErrors, options: ReadOptions, watch: boolean): void {
  const { match, resourceVersion, initialEvents } = options;
  if (match !== '') {
    if (watch) errors.forbidden(matchPath, 'resourceVersionMatch is forbidden for watch');
    if (resourceVersion === '') errors.forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (options.continue !== '') errors.forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']);
    if (match === 'Exact' && resourceVersion === '0')
      errors.forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (initialEvents !== undefined) errors.forbidden(initialPath, 'sendInitialEvents is forbidden for list');
}
const optionsKind = (catalog: Catalog, kind: string) => ({ group: groupName(catalog.identity, 'meta'), resource: kind });

/** The objects that the path and the selectors select. `name`: the path itself names one (old watch paths). */
export function selectionOf(ctx: Context, resource: Resource, namespace: string, name = ''): Selection {
  if (ctx.search === '' && name === '') return select(resource, namespace);
  const labelText = ctx.param('labelSelector') ?? '';
  const fieldText = ctx.param('fieldSelector') ?? '';
  const labels = labelText === '' ? everyLabel : parseLabelSelector(labelText);
  let fields = fieldText === '' ? everyField : parseFieldSelector(fieldText);
  if (!fields.everything) {
    const namespaced = !resource.custom || resource.kind.scope === 'Namespaced';
    checkFieldSelector(fields, selectableFields(resource), resource.definition.unknownField, namespaced);
  }
  if (name !== '') {
    const nameInSelector = fields.exact('metadata.name');
    if (nameInSelector !== undefined && nameInSelector !== name)
      throw badRequest("fieldSelector metadata.name doesn't match requested name");
    if (nameInSelector === undefined) fields = fields.and({ field: 'metadata.name', operator: '=', value: name });
  }
  return select(resource, namespace, labels, fields);
}

/** The fields of a kind, by the names that its own clients use. */
function selectableFields({
  kind: { fields, fieldNames },
  definition: { selectable },
}: Resource): Readonly<Record<string, unknown>> | undefined {
  if (selectable !== undefined) return Object.fromEntries([...selectable].map((name) => [name, true]));
  return fieldNames === undefined ? fields : Object.fromEntries(Object.values(fieldNames).map((name) => [name, true]));
}

export const noWriteOptions: WriteOptions = { dryRun: false, fieldManager: '', fieldValidation: '', force: undefined, json: {} };

const keptOptions = new WeakMap<Catalog, TextCache<WriteOptions>>();

/** The write options of a query. Requests share the result. */
export function writeOptions(ctx: Context, catalog: Catalog, kind: OptionsKind, apply = false): WriteOptions {
  const { route } = ctx;
  const { noted } = route;
  if (noted !== undefined && noted.kind === kind && noted.apply === apply) return noted.options;
  const options = optionsIn(ctx, catalog, kind, apply);
  route.noted = { kind, apply, options };
  return options;
}
function optionsIn(ctx: Context, catalog: Catalog, kind: OptionsKind, apply: boolean): WriteOptions {
  let catalogOptions = keptOptions.get(catalog);
  if (catalogOptions === undefined) {
    catalogOptions = new TextCache();
    keptOptions.set(catalog, catalogOptions);
  }
  return catalogOptions.get(`${apply ? 'apply ' : ''}${kind} ${ctx.search}`, () => frozen(readWriteOptions(ctx, catalog, kind, apply)));
}

function readWriteOptions(ctx: Context, catalog: Catalog, kind: OptionsKind, apply: boolean): WriteOptions {
  const type = { kind, apiVersion: joinApiVersion(groupName(catalog.identity, 'meta'), 'v1') };
  if (ctx.search === '' && !apply) return { dryRun: false, fieldManager: '', fieldValidation: '', force: undefined, json: type };
  const errors = new FieldErrors();
  const force = kind === 'PatchOptions' ? queryBoolean('force', ctx.param('force')) : undefined;
  if (force !== undefined && !apply) errors.forbidden(Path.of('force'), 'may not be specified for non-apply patch');
  const fieldManager = ctx.param('fieldManager') ?? '';
  validateFieldManager(fieldManager, apply, errors);
  const dryRun = dryRunIn(ctx, catalog.identity);
  checkDryRun(dryRun, errors);
  const fieldValidation = ctx.param('fieldValidation') ?? '';
  if (fieldValidation !== '' && !['Ignore', 'Warn', 'Strict'].includes(fieldValidation))
    errors.notSupported(Path.of('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']);
  if (!errors.empty) throw invalid(optionsKind(catalog, kind), '', errors.list);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation,
    force,
    json: {
      ...type,
      ...(dryRun.length > 0 && { dryRun }),
      ...(force !== undefined && { force }),
      ...(fieldManager !== '' && { fieldManager }),
      ...(fieldValidation !== '' && { fieldValidation }),
    },
  };
}

/** The values of `dryRun` in a query. */
export function dryRunIn({ query }: Context, { emptyDryRun }: Identity): string[] {
  const values = query.getAll('dryRun');
  return emptyDryRun === 'refused' ? values : values.filter((value) => value !== '');
}
function checkDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.every((v) => v === 'All')) return;
  const valuesText = `[]string{${values.map((v) => JSON.stringify(v)).join(', ')}}`;
  errors.add('FieldValueNotSupported', 'dryRun', `Unsupported value: ${valuesText}: supported values: "All"`);
}

/** Refuses delete options that are contradictory or invalid. */
export function checkDeleteOptions(
  catalog: Catalog,
  options: { readonly orphanDependents?: boolean; readonly propagationPolicy?: string; readonly dryRun?: readonly string[] },
): void {
  const { orphanDependents, propagationPolicy, dryRun = [] } = options;
  const errors = new FieldErrors();
  const at = Path.of('propagationPolicy');
  if (orphanDependents !== undefined && propagationPolicy !== undefined)
    errors.invalid(at, propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set');
  if (propagationPolicy !== undefined && !['Orphan', 'Background', 'Foreground'].includes(propagationPolicy))
    errors.notSupported(at, propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']);
  checkDryRun(dryRun, errors);
  if (!errors.empty) throw invalid(optionsKind(catalog, 'DeleteOptions'), '', errors.list);
}

/** The field manager of this write. */
export const managerOf = (ctx: Context, options: { fieldManager: string }): string =>
  managerName(options.fieldManager, ctx.header('user-agent') ?? '');
