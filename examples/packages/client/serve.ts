/**
 * Serves the page, and hands its requests on to the server of a configuration file: a browser has no certificates of its own.
 * node built/serve.js KUBECONFIG
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fromConfigFile } from '@plat-dev/client/node';

const http = await fromConfigFile(process.argv[2] as string, { env: process.env });
const page = '<!doctype html><title>config maps</title><script type="module" src="/browser.js"></script>';

async function handOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url: path = '/', headers } = request;
  const sent = Object.fromEntries(['accept', 'content-type'].flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));
  if (/[?&]watch=/.test(path)) {
    const sink = { data: (chunk: Uint8Array) => response.write(chunk), end: () => response.end() };
    const stream = await http.stream({ path, headers: sent }, sink);
    response.on('close', () => stream.close());
    response.flushHeaders();
    return;
  }
  const body = await text(request);
  const answer = await http.request({ method, path, headers: sent, ...(body !== '' && { body }) });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
}

const server = createServer((request, response) => {
  if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  else if (request.url === '/browser.js')
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(new URL('browser.js', import.meta.url)));
  else handOn(request, response).catch((error: Error) => response.writeHead(502).end(error.message));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
