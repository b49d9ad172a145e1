/**
 * Valid requests that the property starts from. Endpoints come from discovery and from the list of paths that the server
 * gives, bodies from `examples/` and from requests of recorded conversations (`corpus.json`, made by `distill.mjs`).
 */

import { readFileSync } from 'node:fs';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import { serve } from '../../packages/kinds/src/served-kind.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import type { Identity } from '../../packages/meta/src/identity.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import type { Loose } from '../support/client.ts';
import { readExamples } from '../support/examples.ts';
import type { TestServer } from '../support/server.ts';

export interface Base {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Loose;
  /** The resource has no such verb: it is refused whatever else it says. */
  readonly refused?: boolean;
  /** The binary form of the body; absent for kinds that have none. */
  readonly schema?: MessageType | undefined;
}

/** A resource as discovery describes it. */
export interface Endpoint {
  /** `/apis/apps/v1` */
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly { readonly name: string; readonly verbs: readonly string[]; readonly kind: string }[];
  readonly kind: string;
  readonly apiVersion: string;
}

/** Texts of a stock server in the names of another identity. */
export function inIdentity<T>(value: T, identity: Identity): T {
  if (identity.name === 'kubernetes') return value;
  const text = jsonText(value)
    .replaceAll('x-kubernetes-', identity.schemaExtensionPrefix)
    .replaceAll('kubernetes.io', identity.domain)
    .replaceAll('k8s.io', identity.groupSuffix)
    .replaceAll('application/vnd.kubernetes.protobuf', identity.protobufMediaType)
    .replaceAll('kube-system', identity.namespaces.system)
    .replaceAll('kube-public', identity.namespaces.public);
  return JSON.parse(text) as T;
}

/** Everything that discovery lists. */
export async function endpointsOf({ admin }: TestServer): Promise<Endpoint[]> {
  const groups = (await admin.ok('GET', '/apis')).groups as Loose[];
  const versions: string[] = groups.flatMap((group: Loose) => group.versions.map((one: Loose) => one.groupVersion));
  const found: Endpoint[] = [];
  for (const apiVersion of ['v1', ...versions]) {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const answer = await admin.get(root);
    // Nobody answers for a group whose server is away.
    if (answer.status !== 200) continue;
    const resources = answer.json.resources as Loose[];
    for (const { name, namespaced, verbs, kind } of resources) {
      if (name.includes('/')) continue;
      const subresources = resources
        .filter((one) => one.name.startsWith(`${name}/`))
        .map((one) => ({ name: one.name.slice(name.length + 1), verbs: one.verbs, kind: one.kind }));
      found.push({ root, plural: name, namespaced, verbs, kind, apiVersion, subresources });
    }
  }
  return found;
}

/** Schemas of built-in kinds, by version and kind. */
export function schemasOf(identity: Identity): ReadonlyMap<string, MessageType> {
  const kinds = builtinKinds(identity);
  const schemas = new Map<string, MessageType>();
  for (const kind of kinds) {
    const owner = kinds.find((other) => other.group === kind.sharesStoreOf?.group && other.plural === kind.sharesStoreOf.plural);
    for (const { apiVersion, schema } of serve(kind, identity, owner === undefined ? {} : { store: owner }))
      schemas.set(`${apiVersion} ${kind.kind}`, schema);
  }
  return schemas;
}

/** What can be sent to a server where it dials others, or waits for them. Such paths have a run of their own. */
export const dials = /\/(proxy|log|exec|attach|portforward)(\/|$)/;

const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };

/** Bodies of subresources that are kinds of their own. */
function bodyOf(kind: string, object: Loose, identity: Identity): Loose {
  const { name, namespace } = object.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  if (kind === 'Scale') return { apiVersion: 'autoscaling/v1', kind, metadata, spec: { replicas: 2 } };
  if (kind === 'Eviction') return { apiVersion: 'policy/v1', kind, metadata, deleteOptions: { gracePeriodSeconds: 1 } };
  if (kind === 'Binding') return { apiVersion: 'v1', kind, metadata, target: { kind: 'Node', name: 'one' } };
  if (kind === 'TokenRequest')
    return { apiVersion: `authentication.${identity.groupSuffix}/v1`, kind, spec: { audiences: [], expirationSeconds: 600 } };
  return object;
}

/** All verbs and forms of paths of a resource. */
export function basesOf(endpoint: Endpoint, object: Loose, identity: Identity, schemas: ReadonlyMap<string, MessageType>): Base[] {
  const { root, plural, namespaced, subresources, apiVersion, kind } = endpoint;
  const schema = schemas.get(`${apiVersion} ${kind}`);
  const name = object.metadata?.name ?? 'one';
  const all = `${root}/${plural}`;
  const collection = namespaced ? `${root}/namespaces/shop/${plural}` : all;
  const one = `${collection}/${name}`;
  const fresh = { ...object, metadata: { ...object.metadata, name: 'fresh' } };
  const labels = { metadata: { labels: { a: 'b', c: null } } };
  const operations = [
    { op: 'test', path: '/metadata/name', value: name },
    { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
  ];
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', gracePeriodSeconds: 0 };
  const watches = [`${all}?watch=1`, `${collection}?watch=1&resourceVersion=0`, `${root}/watch/${plural}`, `${one}?watch=1`];
  const plain = (method: string, path: string): Base => ({ method, path, headers: {} });
  const bases: Base[] = [
    plain('GET', all),
    plain('GET', collection),
    plain('GET', `${collection}?limit=1`),
    plain('GET', one),
    ...watches.map((path) => plain('GET', path)),
    { method: 'POST', path: collection, headers: {}, body: fresh, schema },
    { method: 'POST', path: collection, headers: {}, body: object, schema },
    { method: 'PUT', path: one, headers: {}, body: object, schema },
    { method: 'PATCH', path: one, headers: merge, body: labels },
    { method: 'PATCH', path: one, headers: merge, body: object },
    { method: 'PATCH', path: one, headers: strategic, body: labels },
    { method: 'PATCH', path: one, headers: strategic, body: object },
    { method: 'PATCH', path: one, headers: jsonPatch, body: operations },
    { method: 'PATCH', path: `${one}?fieldManager=property`, headers: apply, body: object },
    { method: 'PATCH', path: `${one}?fieldManager=property&force=true`, headers: apply, body: object },
    plain('DELETE', one),
    { method: 'DELETE', path: one, headers: {}, body: options },
    plain('DELETE', collection),
    { method: 'DELETE', path: `${collection}?labelSelector=app%3Dx`, headers: {}, body: options },
  ];
  const marked = bases.map((base) => (endpoint.verbs.includes(verbOf(base, one)) ? base : { ...base, refused: true }));
  for (const sub of subresources) {
    const path = `${one}/${sub.name}`;
    const body = bodyOf(sub.kind, object, identity);
    const forms: Base[] = [
      plain('GET', path),
      { method: 'POST', path, headers: {}, body, schema: schemas.get(`${body.apiVersion} ${body.kind}`) },
      { method: 'PUT', path, headers: {}, body, schema: schemas.get(`${body.apiVersion} ${body.kind}`) },
      { method: 'PATCH', path, headers: merge, body },
      { method: 'PATCH', path, headers: strategic, body },
      { method: 'PATCH', path, headers: jsonPatch, body: operations },
      { method: 'PATCH', path: `${path}?fieldManager=property`, headers: apply, body },
    ];
    marked.push(...forms.map((base) => (sub.verbs.includes(verbOf(base, path)) ? base : { ...base, refused: true })));
  }
  return marked;
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };
function verbOf({ method, path }: Base, one: string): string {
  const named = path.startsWith(one);
  if (method === 'GET') return /[?&/]watch/.test(path) ? 'watch' : named ? 'get' : 'list';
  return method === 'DELETE' ? (named ? 'delete' : 'deletecollection') : (verbs[method] as string);
}

/** Paths that lead to no resource. */
export async function otherPaths({ admin }: TestServer): Promise<Base[]> {
  const listed = (await admin.ok('GET', '/')).paths as string[];
  const documents = Object.keys((await admin.ok('GET', '/openapi/v3')).paths).map((path) => `/openapi/v3/${path}`);
  const more = [
    '/',
    '/index.html',
    '/version/',
    '/apis/',
    '/openapi/v3/',
    '/healthz?verbose',
    '/readyz?exclude=etcd',
    '/livez/nope',
    '/nope',
  ];
  const dumps = ['dump_queues', 'dump_requests', 'dump_priority_levels'].map((name) => `/debug/api_priority_and_fairness/${name}`);
  return [...listed, ...documents, ...more, ...dumps, '/store/backup', '/api/v2', '/apis/nope', '/apis/nope/v1/things'].flatMap((path) => [
    { method: 'GET', path, headers: {} },
    { method: 'POST', path, headers: {}, body: {} },
  ]);
}

/** Requests of recorded conversations. */
export function recordedBases(identity: Identity, schemas: ReadonlyMap<string, MessageType>): Base[] {
  const recorded = JSON.parse(readFileSync(new URL('./corpus.json', import.meta.url), 'utf8')) as (Omit<Base, 'headers'> &
    Partial<Pick<Base, 'headers'>>)[];
  return inIdentity(recorded, identity)
    .filter(({ path }) => path.startsWith('/') && !dials.test(path))
    .map((one) => ({ headers: {}, ...one, schema: one.body && schemas.get(`${one.body.apiVersion} ${one.body.kind}`) }));
}

/** An object of every kind that there is an example of, by version and kind; requests that are not kept among them. */
export function objectsOf(identity: Identity): { readonly path: string; readonly object: Loose; readonly kept: boolean }[] {
  return readExamples().map(({ file, path, object }) => ({
    ...inIdentity({ path, object }, identity),
    kept: !file.startsWith('requests'),
  }));
}
