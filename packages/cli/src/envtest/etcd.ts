/**
 * What the launcher `etcd` runs: it answers health checks on the client URL, and stores nothing. The drop-in for
 * kube-apiserver has its state in memory, but Go's envtest starts an etcd first and waits until it is healthy. A program of
 * its own, without imports of this project, so that it starts at once and stays small.
 */

import { createServer } from 'node:http';
import { own } from '@plat-dev/lib/own';

const DEFAULT_CLIENT_URL = 'http://localhost:2379';

/** The values of `--listen-client-urls`; every other flag is accepted without effect. */
export function listenUrls(args: readonly string[]): readonly URL[] {
  let value = DEFAULT_CLIENT_URL;
  for (const [i, arg] of args.entries()) {
    const match = /^--?listen-client-urls(?:=(.*))?$/.exec(arg);
    if (match !== null) value = match[1] ?? args[i + 1] ?? '';
  }
  return value.split(',').map((text) => {
    if (!URL.canParse(text)) throw new Error(`--listen-client-urls: ${JSON.stringify(text)} is not a URL such as ${DEFAULT_CLIENT_URL}`);
    const url = new URL(text);
    if (url.protocol !== 'http:') throw new Error(`--listen-client-urls: ${text}: only http is served in envtest mode`);
    return url;
  });
}

const answers: Readonly<Record<string, string>> = {
  '/health': '{"health":"true","reason":""}',
  '/version': '{"etcdserver":"3.5.0","etcdcluster":"3.5.0"}',
};

export function main(args: readonly string[]): void {
  process.once('SIGTERM', () => process.exit(0));
  for (const url of listenUrls(args)) {
    const server = createServer(({ url: path = '' }, response) => {
      const body = own(answers, path.split('?')[0] as string);
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(body ?? '{"error":"not found"}');
    });
    server.on('error', (error) => fail(`cannot listen on ${url.origin}: ${error.message}`));
    server.listen(Number(url.port || 2379), url.hostname.replace(/^\[|\]$/g, ''));
  }
}

export function fail(message: string): void {
  process.stderr.write(`etcd: ${message}\n`);
  process.exit(1);
}
