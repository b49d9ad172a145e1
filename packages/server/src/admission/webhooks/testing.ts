/** Webhooks for tests: real HTTPS servers on loopback, well-behaved or not. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { jsonText } from '@plat-dev/lib/json-text';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { type Issued, issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject } from '@plat-dev/schema/types';

const now = Date.now();
export const authority = newAuthority('webhook tests', now);
export const caBundle = Buffer.from(authority.certificate).toString('base64');
export const otherAuthority = newAuthority('another authority', now);

interface Review {
  readonly apiVersion: string;
  readonly request: JsonObject & { uid: string; object: JsonObject | null };
}
interface Call {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly peer: string | undefined;
  readonly review: Review;
}
/** Returns the response of a review, or takes the connection over. */
export type Reply = (review: Review, res: ServerResponse) => MaybePromise<JsonObject | undefined>;

export interface TestWebhook {
  readonly port: number;
  readonly url: string;
  /** Its own, PEM. */
  readonly certificate: string;
  readonly calls: Call[];
  /** Connections that were ever opened. */
  readonly connections: () => number;
  /** Closes idle connections, as servers do after a while. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface TestWebhookOptions {
  readonly dns?: readonly string[];
  readonly addresses?: readonly string[];
  readonly signedBy?: typeof authority;
  /** In place of one that is made here. */
  readonly pair?: Issued;
  readonly clientCA?: string;
}

export async function startWebhook(reply: Reply, options: TestWebhookOptions = {}): Promise<TestWebhook> {
  const { dns = [], addresses = ['127.0.0.1'], signedBy = authority, clientCA } = options;
  const { certificate, key } = options.pair ?? issueServing(readAuthority(signedBy), { commonName: 'webhook', dns, addresses }, now);
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer(
    { cert: certificate, key, ...(clientCA !== undefined && { ca: clientCA, requestCert: true, rejectUnauthorized: false }) },
    (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', async () => {
        const review = parseExact(Buffer.concat(chunks).toString()) as Review;
        const peer = (req.socket as TLSSocket).getPeerCertificate()?.subject?.CN as string | undefined;
        calls.push({ path: req.url ?? '', headers: req.headers, peer, review });
        const response = await reply(review, res);
        if (response === undefined) return;
        res.setHeader('content-type', 'application/json');
        res.end(jsonText({ apiVersion: review.apiVersion, kind: 'AdmissionReview', response: { uid: review.request.uid, ...response } }));
      });
    },
  );
  server.on('secureConnection', (socket) => {
    opened++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    certificate,
    calls,
    connections: () => opened,
    dropConnections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        dropConnections();
      }),
  };
}

/** A JSON patch as webhooks send it. */
export const patched = (...operations: JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(jsonText(operations)).toString('base64'),
});
