import { parseFieldSelector } from '@plat-dev/meta/fields';
import { type Selectors, selectorsIn } from '../auth/selectors.ts';
import { isWatch } from './query-boolean.ts';

/**
 * The attributes of a path. Authorizers and handlers use this value and nothing else of the path, so that exactly what was
 * authorized is executed.
 *
 *   /apis/apps/v1/namespaces/shop/deployments/web/status
 *        group version        namespace resource   name subresource
 *   /api/v1/watch/namespaces/shop/pods          the deprecated watch path
 */
export interface RequestInfo {
  /** False for paths such as `/healthz`, which have only a path and a verb. */
  readonly resourceRequest: boolean;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; lower-case method for other paths. */
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** Of the path. A namespace itself counts as in itself, for authorization: `inNamespace` is then false. */
  readonly namespace: string;
  /** The resource is below a namespace in the path: `namespaces/shop/pods`, and not `namespaces/shop`. */
  readonly inNamespace: boolean;
  readonly resource: string;
  readonly subresource: string;
  /** Empty if the path names none (a field selector may then name one, for authorization). */
  readonly name: string;
  /** Segments after the subresource (proxied paths). */
  readonly rest: readonly string[];
  readonly legacyWatch: boolean;
  /** The path itself contains a name. */
  readonly named: boolean;
  /** Too many segments for any resource. */
  readonly tooLong: boolean;
  /** Of a list, a watch or the deletion of a collection. */
  readonly selectors?: Selectors | undefined;
}

const verbs: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const selecting: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);
/** Second segments below a namespace that belong to the namespace itself. */
const ofNamespace = new Set(['status', 'finalize']);

/** `query` reads a parameter; it is called only if needed. */
export function requestInfo(method: string, path: string, query: (name: string) => string | undefined): RequestInfo {
  const parts = segments(path);
  // `parts[0]` is the empty text before the first slash; one trailing slash is ignored.
  if (parts.length > 2 && parts[parts.length - 1] === '') parts.pop();
  const root = parts[1];
  const named = root === 'apis';
  const first = named ? 4 : 3;
  if ((root !== 'api' && !named) || parts.length <= first || (!named && parts[2] !== 'v1')) return plain(method, path);
  const group = named ? (parts[2] as string) : '';
  const version = parts[named ? 3 : 2] as string;
  let i = first;
  const legacyWatch = parts[i] === 'watch' && parts.length > i + 1;
  if (legacyWatch) i++;
  let namespace = '';
  let inNamespace = false;
  if (parts[i] === 'namespaces' && parts.length > i + 1) {
    namespace = parts[i + 1] as string;
    // A namespace by itself, or its own subresource, is a cluster-scoped object.
    if (parts.length > i + 2 && !ofNamespace.has(parts[i + 2] as string)) {
      i += 2;
      inNamespace = namespace !== '';
    }
  }
  const resource = parts[i] as string;
  const name = parts[i + 1] ?? '';
  const subresource = parts[i + 2] ?? '';
  const verb = verbOf(method, name, legacyWatch, query);
  const selectors = selecting.has(verb) ? selectorsIn(query) : undefined;
  return {
    resourceRequest: true,
    verb,
    path,
    group,
    version,
    namespace,
    inNamespace,
    resource,
    subresource,
    name: name === '' && (verb === 'list' || verb === 'watch') ? nameInSelector(query) : name,
    rest: parts.length > i + 3 ? parts.slice(i + 3) : [],
    legacyWatch,
    named: name !== '',
    tooLong: parts.length > i + 3,
    ...(selectors && { selectors }),
  };
}

/** `path.split('/')`, which takes up to twice as long for a path that was split before: it looks for it in a cache. */
function segments(path: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', start)) {
    parts.push(path.slice(start, end));
    start = end + 1;
  }
  parts.push(path.slice(start));
  return parts;
}

function plain(method: string, path: string): RequestInfo {
  return {
    resourceRequest: false,
    verb: method.toLowerCase(),
    path,
    group: '',
    version: '',
    namespace: '',
    inNamespace: false,
    resource: '',
    subresource: '',
    name: '',
    rest: [],
    legacyWatch: false,
    named: false,
    tooLong: false,
  };
}

function verbOf(method: string, name: string, legacyWatch: boolean, query: (name: string) => string | undefined): string {
  const verb = verbs.get(method) ?? '';
  if (legacyWatch && verb === 'get') return 'watch';
  if (name !== '') return verb;
  if (verb === 'get') return isWatch(query('watch')) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** The one name that a selector requires, parsed as the selection parses it: an escaped comma begins no requirement. */
function nameInSelector(query: (name: string) => string | undefined): string {
  const selector = query('fieldSelector');
  if (selector === undefined || !selector.includes('metadata.name')) return '';
  try {
    return parseFieldSelector(selector).exact('metadata.name') ?? '';
  } catch {
    // The handler refuses it.
    return '';
  }
}
