/** A server, and servers behind it: real HTTPS servers on loopback, each with an APIService that leads to it. */
import type http from 'node:http';
import { type Authority, issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import type { Namesakes } from '../../packages/pki/src/namesakes.testing.ts';
import { type Backend, startBackend } from '../connect/support.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions, unique } from '../support/server.ts';

export const APIS = '/apis/apiregistration.k8s.io/v1/apiservices';

export interface World {
  readonly server: TestServer;
  /** Signs the certificates of the servers behind. */
  readonly authority: Authority;
  readonly ns: string;
  extend(options?: ExtensionOptions): Promise<Extension>;
  close(): Promise<void>;
}

interface ExtensionOptions {
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Names in its certificate; that of its service when absent. */
  readonly names?: readonly string[];
  readonly resources?: readonly object[];
  /** Makes a CA and a certificate for its name, in place of one of the world's CA. */
  readonly certificates?: (dns: string) => Namesakes;
  /** Do not wait until it is available. */
  readonly unavailable?: boolean;
}

export interface Extension {
  readonly group: string;
  /** `/apis/<group>/v1` */
  readonly base: string;
  /** Name of its APIService. */
  readonly name: string;
  readonly backend: Backend;
  readonly service: string;
  /** What is answered to anything but discovery. */
  answer: http.RequestListener;
  /** Requests that were passed on: those of clients. */
  seen(): Backend['seen'];
  condition(): Promise<Loose>;
  until(status: string, reason?: string): Promise<Loose>;
  /** Has the server look again, as changes of the service do. */
  touch(): Promise<void>;
}

const thing = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list', 'watch', 'create'] };

export async function startWorld(options: TestServerOptions = {}): Promise<World> {
  const authority = readAuthority(newAuthority('extensions', Date.now()));
  const server = await startTestServer({ identity: 'kubernetes', controllers: [], ...options });
  const ns = await server.namespace();
  const backends: Backend[] = [];
  return {
    server,
    authority,
    ns,
    async extend(wanted = {}) {
      const service = unique('s');
      const dns = wanted.names ?? [`${service}.${ns}.svc`];
      const own = wanted.certificates?.(dns[0] as string);
      const { certificate, key } = own?.server ?? issueServing(authority, { commonName: 'extension', dns, addresses: [] }, Date.now());
      const backend = await startBackend({ cert: certificate, key, ca: await proxyAuthority(server) }, 'localhost');
      backends.push(backend);
      const extension = extensionOf(server, ns, service, backend, wanted.resources ?? [thing]);
      await server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, {
        metadata: { name: service },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      });
      const caBundle = Buffer.from(own?.authority.certificate ?? authority.certificate.toString()).toString('base64');
      const spec = { group: extension.group, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10, caBundle };
      const leads = { service: { name: service, namespace: ns, port: backend.port } };
      await server.admin.ok('POST', APIS, { metadata: { name: extension.name }, spec: { ...spec, ...leads, ...wanted.spec } });
      if (!wanted.unavailable) await extension.until('True');
      return extension;
    },
    async close() {
      await server.close();
      for (const backend of backends) await backend.close();
    },
  };
}

/** Whose certificates servers behind this one believe, where they read it. */
async function proxyAuthority(server: TestServer): Promise<string> {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  return (await server.admin.ok('GET', path)).data['requestheader-client-ca-file'];
}

function extensionOf(server: TestServer, ns: string, service: string, backend: Backend, resources: readonly object[]): Extension {
  const group = `${service}.example.com`;
  const base = `/apis/${group}/v1`;
  const extension: Extension = {
    group,
    base,
    name: `v1.${group}`,
    backend,
    service,
    answer: (_req, res) => void res.end('hello'),
    seen: () => backend.seen.filter(({ headers }) => !/^system:(kube-)?aggregator$/.test(String(headers['x-remote-user']))),
    condition: async () => {
      const { status } = await server.admin.ok('GET', `${APIS}/v1.${group}`);
      return status.conditions?.find((one: Loose) => one.type === 'Available') ?? {};
    },
    async until(status, reason) {
      for (;;) {
        const condition = await extension.condition();
        if (condition.status === status && (reason === undefined || condition.reason === reason)) return condition;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    touch: async () => {
      const change = { metadata: { annotations: { touched: unique() } } };
      await server.admin.patch(`/api/v1/namespaces/${ns}/services/${service}`, change);
    },
  };
  backend.answer = (req, res) => {
    if (req.url === base) res.setHeader('Content-Type', 'application/json').end(JSON.stringify(discoveryOf(group, resources)));
    else if (req.url?.startsWith('/openapi/')) res.writeHead(404).end();
    else extension.answer(req, res);
  };
  return extension;
}

export const discoveryOf = (group: string, resources: readonly object[] = [thing]): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/v1`,
  resources,
});

/** Waits for something that is not announced. The time limit of the test bounds it. */
export async function eventuallyTrue(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
