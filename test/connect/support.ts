/** A server with a node, pods and what they lead to: small real servers on loopback. */

import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type Authority, issueClient, issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Common name of the certificate that was shown. */
  readonly caller: string | undefined;
}

/** A server that remembers what it was asked; tests say what it answers. */
export interface Backend {
  readonly port: number;
  readonly seen: Seen[];
  /** Connections that are open now. */
  readonly sockets: Set<Socket>;
  answer: http.RequestListener;
  upgrade: (req: http.IncomingMessage, socket: Socket, head: Buffer) => void;
  close(): Promise<void>;
}

export interface BackendTls {
  readonly key: string;
  readonly cert: string;
  readonly ca?: string;
}

export async function startBackend(secure?: BackendTls, host = '127.0.0.1'): Promise<Backend> {
  const sockets = new Set<Socket>();
  const seen: Seen[] = [];
  const note = (req: http.IncomingMessage): void => {
    const peer = (req.socket as tls.TLSSocket).getPeerCertificate?.();
    seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, caller: peer?.subject?.CN as string | undefined });
  };
  const server =
    secure === undefined ? http.createServer() : https.createServer({ ...secure, requestCert: true, rejectUnauthorized: false });
  const backend: Backend = {
    port: 0,
    seen,
    sockets,
    answer: (_req, res) => void res.end('hello'),
    upgrade: (_req, socket) => void socket.destroy(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('request', (req, res) => {
    note(req);
    backend.answer(req, res);
  });
  server.on('upgrade', (req, socket: Socket, head) => {
    note(req);
    socket.on('error', () => {});
    backend.upgrade(req, socket, head);
  });
  server.on(secure === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return Object.assign(backend, { port: (server.address() as AddressInfo).port });
}

export interface World {
  readonly server: TestServer;
  /** The agent of the node `n1`. */
  readonly agent: Backend;
  readonly authority: Authority;
  readonly ns: string;
  /** Makes a pod, on the node unless told otherwise. */
  pod(name: string, spec?: object, status?: object): Promise<void>;
  close(): Promise<void>;
}

/** `more` changes the options of the server, for which files of certificates stand in the directory. */
export async function startWorld(more: (directory: string) => TestServerOptions = () => ({})): Promise<World> {
  const directory = temporaryDirectory('plat-connect');
  const now = Date.now();
  const issued = newAuthority('nodes', now);
  const authority = readAuthority(issued);
  const client = issueClient(authority, 'the-server', [], now);
  for (const [name, text] of Object.entries({ 'ca.crt': issued.certificate, 'client.crt': client.certificate, 'client.key': client.key }))
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  const agent = await startBackend(servingFor(authority));
  const server = await startTestServer({
    identity: 'kubernetes',
    controllers: [],
    kubeletCertificateAuthority: join(directory, 'ca.crt'),
    kubeletClientCertificate: join(directory, 'client.crt'),
    kubeletClientKey: join(directory, 'client.key'),
    proxyToLocalAddresses: true,
    ...more(directory),
  });
  const ns = await server.namespace();
  await addNode(server, 'n1', agent.port);
  await server.admin.send('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
  return {
    server,
    agent,
    authority,
    ns,
    async pod(name, spec = { nodeName: 'n1' }, status) {
      const pods = `/api/v1/namespaces/${ns}/pods`;
      await server.admin.ok('POST', pods, { metadata: { name }, spec: { containers: [{ name: 'main', image: 'i' }], ...spec } });
      if (status !== undefined) {
        const answer = await server.admin.patch(`${pods}/${name}/status`, { status });
        if (answer.status !== 200) throw new Error(answer.text);
      }
    },
    async close() {
      await server.close();
      await agent.close();
    },
  };
}

export function servingFor(authority: Authority, addresses: readonly string[] = ['127.0.0.1']): BackendTls {
  const { certificate, key } = issueServing(authority, { commonName: 'agent', dns: [], addresses }, Date.now());
  return { cert: certificate, key, ca: authority.certificate.toString() };
}

export async function addNode(server: TestServer, name: string, port: number, address = '127.0.0.1'): Promise<void> {
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name } });
  const status = { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  const answer = await server.admin.patch(`/api/v1/nodes/${name}/status`, { status });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** A raw connection to the server over which `request` was sent. */
export async function rawConnection(server: TestServer, request: string): Promise<RawConnection> {
  const half = { allowHalfOpen: true };
  const socket = tls.connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...half });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const connection = new RawConnection(socket);
  socket.write(request);
  return connection;
}

export class RawConnection {
  readonly socket: Socket;
  text = '';
  ended = false;
  closed = false;
  private waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    const wake = (): void => {
      for (const go of this.waiting.splice(0)) go();
    };
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
      wake();
    });
    socket.on('end', () => {
      this.ended = true;
      wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      wake();
    });
  }
  /** Waits until what was received so far satisfies the condition. */
  async until(wanted: (connection: RawConnection) => boolean): Promise<void> {
    while (!wanted(this)) {
      if (this.closed) throw new Error(`the connection was closed after ${JSON.stringify(this.text)}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }
}

/** Waits for something that is not announced. The time limit of the test bounds it. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
