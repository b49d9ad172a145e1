/**
 * The URLs of the page. A URL says everything that is shown.
 *
 *   /console/                                         the overview
 *   /console/ns/default/graph                         a page, within a namespace
 *   /console/pods?labels=app%3Dweb&sort=-Age          a table of all namespaces
 *   /console/ns/default/pods                          a table of one namespace
 *   /console/ns/default/apps/v1/deployments/web       an object
 *   /console/v1/nodes                                 the table of a core kind whose short path is that of a page
 */
import type { KindReference } from '../api/kinds.ts';

export const pageNames = ['overview', 'graph', 'now', 'access', 'nodes', 'create'] as const;
export type PageName = (typeof pageNames)[number];

interface Place {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
}
export interface PageRoute extends Place {
  readonly page: PageName;
}
export interface TableRoute extends Place {
  readonly page: 'table';
  readonly kind: KindReference;
}
export interface ObjectRoute extends Place {
  readonly page: 'object';
  readonly kind: KindReference;
  readonly name: string;
}
export type Route = PageRoute | TableRoute | ObjectRoute | (Place & { readonly page: 'unknown' });

export const BASE = '/console/';
const versionName = /^v\d+((alpha|beta)\d+)?$/;
const isPageName = (text: string | undefined): text is PageName => pageNames.some((name) => name === text);

export function parseRoute(pathname: string, search: string): Route {
  const query = new URLSearchParams(search);
  const parts = partsOf(pathname);
  if (parts === undefined) return { page: 'unknown', namespace: undefined, query };
  const namespace = parts[0] === 'ns' ? parts[1] : undefined;
  const place = { namespace, query };
  const rest = namespace === undefined ? parts : parts.slice(2);
  const [first] = rest;
  if (first === undefined) return { page: 'overview', ...place };
  if (rest.length === 1 && isPageName(first)) return { page: first, ...place };
  return ofKind(rest, place) ?? { page: 'unknown', ...place };
}

/** The decoded parts of a path; undefined where it is none of the page's. */
function partsOf(pathname: string): string[] | undefined {
  if (!`${pathname}/`.startsWith(BASE)) return undefined;
  try {
    return pathname.slice(BASE.length).split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function ofKind(rest: readonly string[], place: Place): Route | undefined {
  const [kind, names] = kindOf(rest);
  if (kind === undefined || names.length > 1) return undefined;
  const [name] = names;
  return name === undefined ? { page: 'table', kind, ...place } : { page: 'object', kind, name, ...place };
}

/** The kind that parts begin with, and what follows. */
function kindOf(parts: readonly string[]): [KindReference | undefined, readonly string[]] {
  const [first = '', second = '', third] = parts;
  if (third !== undefined && versionName.test(second)) return [{ group: first, version: second, resource: third }, parts.slice(3)];
  if (second !== '' && versionName.test(first)) return [{ group: '', version: first, resource: second }, parts.slice(2)];
  return [{ group: '', version: 'v1', resource: first }, parts.slice(1)];
}

export type QueryParts = Readonly<Record<string, string | undefined>>;

export function pageHref(page: PageName, namespace?: string, query?: QueryParts): string {
  return hrefOf([...placeParts(namespace), ...(page === 'overview' ? [] : [page])], query);
}

export function tableHref(kind: KindReference, namespace?: string, query?: QueryParts): string {
  return hrefOf([...placeParts(namespace), ...kindParts(kind)], query);
}

export function objectHref(kind: KindReference, namespace: string | undefined, name: string, query?: QueryParts): string {
  return hrefOf([...placeParts(namespace), ...kindParts(kind), name], query);
}

/** The same place with other parameters: those that are undefined or empty are removed. */
export function withQueryParts(pathname: string, query: URLSearchParams, changes: QueryParts): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  return next.size === 0 ? pathname : `${pathname}?${next}`;
}

const placeParts = (namespace: string | undefined): string[] => (namespace === undefined ? [] : ['ns', namespace]);

function kindParts({ group, version, resource }: KindReference): string[] {
  if (group !== '') return [group, version, resource];
  return version === 'v1' && !isPageName(resource) ? [resource] : [version, resource];
}

function hrefOf(parts: readonly string[], query?: QueryParts): string {
  const path = `${BASE}${parts.map(encodeURIComponent).join('/')}`;
  return query === undefined ? path : withQueryParts(path, new URLSearchParams(), query);
}
