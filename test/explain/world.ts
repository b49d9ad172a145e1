/** A server without controllers, in which tests construct the states that are to be explained. */
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { type Client, type Loose, startTestServer, type TestServer, type TestServerOptions, unique } from '../support/server.ts';

const apis: Readonly<Record<string, string>> = {
  deployments: 'apps/v1',
  replicasets: 'apps/v1',
  statefulsets: 'apps/v1',
  daemonsets: 'apps/v1',
  jobs: 'batch/v1',
  ingresses: 'networking.k8s.io/v1',
  ingressclasses: 'networking.k8s.io/v1',
  poddisruptionbudgets: 'policy/v1',
  storageclasses: 'storage.k8s.io/v1',
  volumeattachments: 'storage.k8s.io/v1',
  apiservices: 'apiregistration.k8s.io/v1',
  customresourcedefinitions: 'apiextensions.k8s.io/v1',
  validatingwebhookconfigurations: 'admissionregistration.k8s.io/v1',
  mutatingwebhookconfigurations: 'admissionregistration.k8s.io/v1',
  rolebindings: 'rbac.authorization.k8s.io/v1',
  roles: 'rbac.authorization.k8s.io/v1',
  clusterroles: 'rbac.authorization.k8s.io/v1',
  clusterrolebindings: 'rbac.authorization.k8s.io/v1',
  leases: 'coordination.k8s.io/v1',
};
const clusterScoped = new Set([
  'namespaces',
  'nodes',
  'persistentvolumes',
  'storageclasses',
  'volumeattachments',
  'apiservices',
  'customresourcedefinitions',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'ingressclasses',
  'clusterroles',
  'clusterrolebindings',
]);

export interface Question {
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

/** A constructed state, and the cause that is named first. */
export interface Case {
  readonly title: string;
  /** Constructs the state and answers what to ask about; `why pending` asks about the pod `web`. */
  readonly make: (world: World) => Promise<Question>;
  readonly reason: string;
  readonly message: RegExp;
  readonly command: RegExp;
  /** Another cause that is named. */
  readonly also?: string;
  /** `deployments/web → replicasets/web-1 → pods/web-1-x`: from the object of the question to that of the cause. */
  readonly chain?: string;
  /** Without the built-in scheduler. */
  readonly isAlone?: boolean;
  /** By a user who has only the rights that the case grants. */
  readonly isAskedByAlice?: boolean;
}

export class World {
  readonly server: TestServer;
  readonly ns: string;
  private readonly created: string[] = [];

  constructor(server: TestServer, ns: string) {
    this.server = server;
    this.ns = ns;
  }
  path(plural: string, name = '', group?: string): string {
    const api = group ?? apis[plural] ?? 'v1';
    const root = api === 'v1' ? '/api/v1' : `/apis/${api}`;
    const place = clusterScoped.has(plural) ? '' : `/namespaces/${this.ns}`;
    return `${root}${place}/${plural}${name === '' ? '' : `/${name}`}`;
  }
  /** Creates an object, with its status if that is given. */
  async put(plural: string, { status, ...object }: Loose, api?: string): Promise<Loose> {
    const { admin } = this.server;
    let stored = await admin.ok('POST', this.path(plural, '', api), object);
    const path = this.path(plural, stored.metadata.name, api);
    if (status !== undefined) stored = await admin.ok('PUT', `${path}/status`, { ...stored, status });
    if (clusterScoped.has(plural)) this.created.push(path);
    return stored;
  }
  async remove(plural: string, name: string, options: object = {}, api?: string): Promise<void> {
    await this.server.admin.ok('DELETE', this.path(plural, name, api), options);
  }
  /** Rights of alice in all namespaces, besides that to ask. */
  async grantCluster(name: string, rules: readonly object[]): Promise<void> {
    const asking = { verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] };
    await this.put('clusterroles', { metadata: { name }, rules: [asking, ...rules] });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    await this.put('clusterrolebindings', { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
  }
  /** Objects without a namespace would be causes in the next case. */
  async close(): Promise<void> {
    const { admin } = this.server;
    for (const path of this.created.reverse()) {
      await admin.send('PATCH', path, {
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { finalizers: null } },
      });
      await admin.send('DELETE', path);
    }
  }
  name(prefix: string): string {
    return unique(prefix);
  }
}

export const startWorldServer = (options: TestServerOptions = {}): Promise<TestServer> =>
  startTestServer({
    identity: 'kubernetes',
    runtimeConfig: readRuntimeConfig(['explain.k8s.io/v1alpha1=true']),
    controllers: ['-*'],
    disableAdmissionPlugins: ['ServiceAccount', 'TaintNodesByCondition'],
    direct: true,
    ...options,
  });

/** The status of the answer. */
export async function askWhy(client: Client, plural: string, spec: Question): Promise<Loose> {
  const { status, json } = await client.post(`/apis/explain.k8s.io/v1alpha1/${plural}`, { spec });
  if (status !== 201) throw new Error(`${status} ${json.message}`);
  return json.status;
}

export const container = { name: 'main', image: 'registry.test/app:1' };
export const pod = (name: string, spec: object = {}, metadata: object = {}): Loose => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
});
export const owner = ({ kind, apiVersion, metadata }: Loose, more: object = {}): object => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
});
