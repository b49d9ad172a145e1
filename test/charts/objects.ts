/** Objects of manifests: their paths, and their state without what every write or server decides anew. */
import { parseAllDocuments } from 'yaml';
import type { Loose, TestServer } from '../support/server.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export const objectsOf = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** The path of each kind, by version and kind. */
export type Resources = ReadonlyMap<string, { readonly base: string; readonly plural: string; readonly namespaced: boolean }>;

/** Asked of the server, as Helm does: kinds are not known beforehand. */
export async function discover(server: TestServer, objects: readonly Manifest[]): Promise<Resources> {
  const resources = new Map<string, { base: string; plural: string; namespaced: boolean }>();
  for (const version of new Set(objects.map(({ apiVersion }) => apiVersion))) {
    const base = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
    const list = await server.admin.ok('GET', base);
    for (const { name, kind, namespaced } of list.resources)
      if (!name.includes('/')) resources.set(`${version} ${kind}`, { base, plural: name, namespaced });
  }
  return resources;
}

export function pathOf(resources: Resources, { apiVersion, kind, metadata }: Manifest): string {
  const resource = resources.get(`${apiVersion} ${kind}`);
  if (resource === undefined) throw new Error(`the server has no ${kind} of ${apiVersion}`);
  const { base, plural, namespaced } = resource;
  return `${base}/${namespaced ? `namespaces/${metadata.namespace}/` : ''}${plural}/${metadata.name}`;
}

/** The objects as they are stored, by path; what is not there is undefined. */
export async function stateOf(
  server: TestServer,
  resources: Resources,
  objects: readonly Manifest[],
): Promise<Map<string, Loose | undefined>> {
  const state = new Map<string, Loose | undefined>();
  for (const object of objects) {
    const path = pathOf(resources, object);
    const answer = await server.admin.get(path);
    state.set(path, answer.status === 404 ? undefined : comparable(answer.json));
  }
  return state;
}

/** Assigned by the server, or counted by it. */
const ASSIGNED = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'finalizers'];
const BOOKKEEPING = ['kubectl.kubernetes.io/last-applied-configuration', 'deprecated.daemonset.template.generation'];

function comparable(object: Loose): Loose {
  const { status: _, ...rest } = structuredClone(object);
  for (const name of ASSIGNED) delete rest.metadata[name];
  for (const name of BOOKKEEPING) delete rest.metadata.annotations?.[name];
  if (Object.keys(rest.metadata.annotations ?? {}).length === 0) delete rest.metadata.annotations;
  if (rest.kind === 'Service') {
    const { clusterIP } = rest.spec;
    if (clusterIP !== 'None') {
      delete rest.spec.clusterIP;
      delete rest.spec.clusterIPs;
    }
    delete rest.spec.healthCheckNodePort;
    for (const port of rest.spec.ports ?? []) delete port.nodePort;
  }
  // The labels by which a job finds its pods hold its uid.
  if (rest.kind === 'Job') {
    delete rest.spec.selector;
    delete rest.spec.template.metadata.labels['controller-uid'];
  }
  // Of a pod without a controller, names of its token's volume are random.
  if (rest.kind === 'Pod') return { ...rest, spec: { image: rest.spec.containers[0].image, restartPolicy: rest.spec.restartPolicy } };
  return rest;
}
