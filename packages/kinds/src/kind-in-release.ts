/** A kind as a release of the API has it: its schemas, subresources and columns, and whatever says `since`, `until` or `from`. */
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { existsIn, schemaIn } from '@plat-dev/schema/releases';
import type { Column, Kind, KindDefinition, KindVersion, Subresource } from './kind.ts';

const kindsByRelease = new Map<ApiRelease, WeakMap<Kind, Kind>>();

/** The kind itself where nothing in it differs. `whole` has what all releases have. */
export function kindIn(release: ApiRelease, whole: Kind): Kind {
  const kinds = kindsByRelease.get(release) ?? new WeakMap<Kind, Kind>();
  kindsByRelease.set(release, kinds);
  const cachedKind = kinds.get(whole);
  if (cachedKind !== undefined) return cachedKind;
  const kind = projectedKind(release, whole);
  kinds.set(whole, kind);
  kinds.set(kind, kind);
  return kind;
}

function projectedKind(release: ApiRelease, whole: Kind): Kind {
  const changedKind = withChanges(release, whole);
  const parts = { ...columnsIn(release, changedKind), ...subresourcesIn(release, changedKind), ...gatedIn(release, changedKind) };
  const versions = mapValues(changedKind.versions, (version) => versionIn(release, version));
  if (versions !== changedKind.versions) Object.assign(parts, { versions });
  return Object.keys(parts).length === 0 ? changedKind : { ...changedKind, ...parts };
}

function withChanges(release: ApiRelease, whole: Kind): Kind {
  const { from, ...kind } = whole;
  if (from === undefined) return whole;
  const changes = Object.entries(from).filter(([since]) => isAtLeast(release, since));
  return Object.fromEntries([...Object.entries(kind), ...changes.flatMap(([, change]) => Object.entries(change))]) as unknown as Kind;
}

function versionIn(release: ApiRelease, version: KindVersion): KindVersion {
  const schema = schemaIn(release, version.schema);
  const own = version.own === undefined ? undefined : { ...columnsIn(release, version.own), ...subresourcesIn(release, version.own) };
  if (own === undefined || Object.keys(own).length === 0) return schema === version.schema ? version : { ...version, schema };
  return { ...version, schema, own: { ...version.own, ...own } };
}

function subresourcesIn(release: ApiRelease, { subresources }: Pick<KindDefinition, 'subresources'>): Pick<KindDefinition, 'subresources'> {
  if (subresources === undefined) return {};
  const entries = Object.entries(subresources).filter(([, sub]) => existsIn(release, sub));
  const existing = entries.length === Object.keys(subresources).length ? subresources : Object.fromEntries(entries);
  const projected = mapValues(existing, (sub) => subresourceIn(release, sub));
  return projected === subresources ? {} : { subresources: projected };
}
function subresourceIn(release: ApiRelease, sub: Subresource): Subresource {
  if (sub.type === 'object' || sub.schema === undefined) return sub;
  const schema = schemaIn(release, sub.schema);
  return schema === sub.schema ? sub : ({ ...sub, schema } as Subresource);
}

function gatedIn(release: ApiRelease, { gated }: Pick<KindDefinition, 'gated'>): Pick<KindDefinition, 'gated'> {
  const existing = gated?.filter((rule) => existsIn(release, rule));
  return existing === undefined || existing.length === gated?.length ? {} : { gated: existing };
}

type Table = Pick<KindDefinition, 'columns' | 'cells'>;
function columnsIn(release: ApiRelease, { columns, cells }: Table): Table {
  if (columns === undefined || cells === undefined) return {};
  const hasColumn = columns.map((column: Column) => existsIn(release, column));
  if (!hasColumn.includes(false)) return {};
  return {
    columns: columns.filter((_, i) => hasColumn[i]),
    cells: (object, env) => cells(object, env).filter((_, i) => hasColumn[i]),
  };
}

/** The record itself if no value changes. */
function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Readonly<Record<string, T>> {
  const entries = Object.entries(record);
  const changedEntries = entries.map(([key, value]): [string, T] => [key, change(value)]);
  return changedEntries.every(([, value], i) => value === entries[i]?.[1]) ? record : Object.fromEntries(changedEntries);
}
