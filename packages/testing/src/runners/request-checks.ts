/**
 * Checks which requests a server has had, by a pattern. A message names the nearest requests and how they differ.
 *
 *   checkSeen(server.requests, { verb: 'create', resource: 'deployments', name: 'web', code: 201 })
 */
import { ASSERTING_USER } from '../users.ts';
import { type Check, checked } from './check.ts';
import { valueText } from './partial-match.ts';

/** A request that was answered, as far as these checks read it. */
export interface SeenRequest {
  readonly user: string;
  readonly verb: string;
  readonly path?: string | undefined;
  readonly group?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly code: number;
  /** Fields that the request changed, as JSON paths. */
  readonly changed?: readonly string[] | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A value, several of which one must match, a regular expression, or a function that returns whether the value matches. */
type Wanted<T> = T | readonly T[] | RegExp | ((value: T | undefined) => boolean);

/** A pattern of a request. Fields that are left out match any value; `undefined` matches a request without that field. */
export interface RequestPattern {
  readonly user?: Wanted<string> | undefined;
  readonly verb?: Wanted<string> | undefined;
  /** The path without its query. */
  readonly path?: Wanted<string> | undefined;
  /** The group, empty for the core one. */
  readonly group?: Wanted<string> | undefined;
  /** The plural: `deployments`; with its subresource, `deployments/status`. */
  readonly resource?: Wanted<string> | undefined;
  readonly subresource?: Wanted<string> | undefined;
  readonly namespace?: Wanted<string> | undefined;
  readonly name?: Wanted<string> | undefined;
  readonly code?: Wanted<number> | undefined;
  /** Fields that it changed, among others: `['spec.replicas']`. A field stands for all below it. */
  readonly changed?: readonly string[] | undefined;
  readonly dryRun?: Wanted<boolean> | undefined;
}

/** Limit of requests that a message names. */
const NEAREST = 5;
const fields = ['verb', 'group', 'resource', 'subresource', 'namespace', 'name', 'path', 'user', 'code', 'changed', 'dryRun'] as const;
type Field = (typeof fields)[number];

/** Whether a server has had such a request; with `times`, exactly so many. */
export function checkRequests(requests: Iterable<SeenRequest>, pattern: RequestPattern, times?: number): Check {
  const split = splitResource(pattern);
  for (const name of Object.keys(split))
    if (!fields.includes(name as Field)) throw new TypeError(`unknown field of a request: ${name} (known: ${fields.join(', ')})`);
  const all = [...requests].filter(({ user }) => user !== ASSERTING_USER);
  const matchingRequests = all.filter((request) => differing(request, split).length === 0);
  const pass = times === undefined ? matchingRequests.length > 0 : matchingRequests.length === times;
  const patternText = patternShown(split);
  const instead = () => (matchingRequests.length > 0 ? list(matchingRequests.slice(-NEAREST)) : nearest(all, split));
  return checked(
    pass,
    () =>
      `the server has ${times === undefined ? 'not seen' : 'seen'} ${patternText}${times === undefined ? '' : ` ${timesText(matchingRequests.length)}, not ${timesText(times)}`}:\n${instead()}`,
    () => `the server has seen ${patternText} ${timesText(matchingRequests.length)}:\n${list(matchingRequests.slice(-NEAREST))}`,
    undefined,
    undefined,
  );
}

const timesText = (times: number): string => (times === 0 ? 'never' : times === 1 ? 'once' : `${times} times`);

/** `deployments/status` names a resource and its subresource. */
function splitResource(pattern: RequestPattern): RequestPattern {
  const { resource } = pattern;
  if (typeof resource !== 'string' || !resource.includes('/')) return pattern;
  const slash = resource.indexOf('/');
  return { ...pattern, resource: resource.slice(0, slash), subresource: resource.slice(slash + 1) };
}

const differing = (request: SeenRequest, pattern: RequestPattern): Field[] =>
  fields.filter((field) => field in pattern && !fits(field, request[field], pattern[field]));

function fits(field: Field, value: unknown, wantedValue: unknown): boolean {
  if (typeof wantedValue === 'function') return wantedValue(value) === true;
  if (wantedValue instanceof RegExp) return value !== undefined && new RegExp(wantedValue).test(String(value));
  if (field === 'changed') return asList(wantedValue).every((path) => asList(value).some((each) => isWithin(each, path)));
  // Parts that a request does not have are empty or absent.
  return asList(wantedValue).some((each) => (each || false) === (value || false));
}
const asList = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [value as string]);

/** Whether a path is one, or is below it. Paths may begin with a dot. */
const isWithin = (path: string | undefined, above: string): boolean => {
  if (path === undefined) return false;
  const [inner, outer] = [path.replace(/^\./, ''), above.replace(/^\./, '')];
  return inner === outer || (inner.startsWith(outer) && (inner[outer.length] === '.' || inner[outer.length] === '['));
};

function nearest(requests: readonly SeenRequest[], pattern: RequestPattern): string {
  if (requests.length === 0) return '  it has seen no requests';
  const ranked = requests.map((request, index) => ({ request, index, wrong: differing(request, pattern) }));
  ranked.sort((a, b) => a.wrong.length - b.wrong.length || b.index - a.index);
  const lines = ranked.slice(0, NEAREST).map(({ request, wrong }) => `${requestLine(request)}   differs in ${differences(request, wrong)}`);
  return [`  the nearest of ${requests.length} requests:`, ...lines].join('\n');
}

const differences = (request: SeenRequest, wrong: readonly Field[]): string =>
  wrong.map((field) => `${field} (${valueText(request[field] === '' ? undefined : request[field])})`).join(', ');

const list = (requests: readonly SeenRequest[]): string => requests.map(requestLine).join('\n');

/** `  update deployments/status default/web by alice → 409`. */
export function requestLine({ verb, resource, subresource, namespace, name, user, code, changed, dryRun }: SeenRequest): string {
  const place = [namespace, name].filter((part) => part !== undefined && part !== '').join('/');
  const what = [verb, `${resource ?? ''}${subresource === undefined || subresource === '' ? '' : `/${subresource}`}`, place];
  const fields = changed === undefined || changed.length === 0 ? '' : ` (${changed.slice(0, NEAREST).join(', ')})`;
  return `  ${what.filter((part) => part !== '').join(' ')} by ${user} → ${code}${dryRun === true ? ' (dry run)' : ''}${fields}`;
}

const patternShown = (pattern: RequestPattern): string =>
  `{ ${fields
    .filter((field) => field in pattern)
    .map((field) => `${field}: ${pattern[field] instanceof RegExp ? String(pattern[field]) : valueText(pattern[field])}`)
    .join(', ')} }`;
