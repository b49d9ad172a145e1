// A server with the probe of bench/worst-probe.mjs in it, and raw calls to it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';

const root = process.env.WORST_ROOT ?? fileURLToPath(new URL('..', import.meta.url));
const probe = fileURLToPath(new URL('worst-probe.mjs', import.meta.url));
const token = 'worst-token';
/** Of a user who may do what the role `edit` allows, in the namespaces of the cases. */
const editToken = 'edit-token';
const EDITOR = 'editor';
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 128 });

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const nodeFlags = ['--expose-gc', '--import', probe];

/** `more`: flags of the server. `isEditor`: the requests that are measured are those of a user with the role `edit`. */
export async function startProbed(more = [], isEditor = false) {
  const directory = mkdtempSync(join(tmpdir(), 'plat-worst-'));
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, `${token},worst,worst-uid,"system:masters"\n${editToken},${EDITOR},editor-uid\n`, { mode: 0o600 });
  const flags = ['--identity', 'kubernetes', '--secure-port', '0', '--data-dir', join(directory, 'data'), '--token-auth-file', tokens];
  // History and questions why, which other identities have.
  flags.push('--runtime-config', 'explain.k8s.io/v1alpha1=true');
  const args = [...nodeFlags, 'dist/plat.js', 'server', ...flags, ...more, ...(process.env.WORST_FLAGS?.split(' ') ?? [])];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  process.on('exit', () => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  let output = '';
  const address = await new Promise((resolve, reject) => {
    const look = (chunk) => {
      output = (output + chunk).slice(-4000);
      const found = /ready at (https:\/\/\S+)/.exec(output);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', () => reject(new Error(`the server ended: ${output}`)));
  });
  child.once('exit', (code, signal) => {
    if (!stopping) console.error(`the server ended: ${code ?? signal} ${output}`);
  });
  let stopping = false;
  const server = {
    address,
    /** Credential of the requests that are measured. */
    measured: { authorization: `Bearer ${isEditor ? editToken : token}` },
    pid: child.pid,
    ask: (ask, profile) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send({ ask, profile });
      }),
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
  const { pid } = await server.ask('begin');
  server.pid = pid;
  return server;
}

/** A WebSocket of channels: sends the messages of `input`, and ends when the server closes it, or after `seconds`. */
function converse(server, { path, input, seconds = 10, headers = {}, protocols = ['v4.channel.k8s.io'], isReading = true }) {
  return new Promise((resolve) => {
    const options = { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}`, ...headers } };
    const socket = new WebSocket(server.address.replace('https', 'wss') + path, protocols, options);
    const chunks = [];
    let bytes = 0;
    let status = 101;
    const end = setTimeout(() => socket.terminate(), seconds * 1000);
    socket.on('open', () => {
      for (const message of input) socket.send(message);
      if (!isReading) socket.pause();
    });
    socket.on('message', (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes < 2_000) chunks.push(chunk);
    });
    socket.on('unexpected-response', (_request, response) => {
      status = response.statusCode;
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => socket.terminate());
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(end);
      resolve({ status, bytes, text: Buffer.concat(chunks).toString('utf8', 0, 400) });
    });
  });
}

/** Sends bytes as they are. `until` ends a watch when that many bytes came, `seconds` after that time; `input` makes it a WebSocket. */
export function send(server, one) {
  return one.input === undefined ? request(server, one) : converse(server, one);
}
/** The same as the user whose requests are measured. */
export function sendMeasured(server, one) {
  return send(server, { ...one, headers: { ...server.measured, ...one.headers } });
}
/** Lets that user do what the role `edit` allows in a namespace. */
export function allowEdit(server, namespace) {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: EDITOR }];
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;
  return must(server, 'POST', path, { metadata: { name: 'edit' }, roleRef, subjects });
}
function request(
  server,
  { method = 'GET', path, headers = {}, body = undefined, keep = false, until = undefined, seconds = undefined, isReading = true },
) {
  return new Promise((resolve, reject) => {
    const asked = https.request(server.address + path, {
      method,
      agent: until === undefined ? agent : false,
      rejectUnauthorized: false,
      maxHeaderSize: 128 * 1024,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-length': body.length }), ...headers },
    });
    asked.on('response', (response) => {
      const chunks = [];
      let bytes = 0;
      const done = () => {
        const whole = Buffer.concat(chunks);
        resolve({ status: response.statusCode, headers: response.headers, bytes, body: whole, text: whole.toString('utf8', 0, 400) });
      };
      const end = () => {
        done();
        asked.destroy();
      };
      if (seconds !== undefined) setTimeout(end, seconds * 1000).unref();
      if (!isReading) return;
      response.on('data', (chunk) => {
        if (keep || bytes < 500) chunks.push(chunk);
        bytes += chunk.length;
        if (until !== undefined && bytes >= until) end();
      });
      response.on('end', done);
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

export const asJson = { 'content-type': 'application/json' };

export async function must(server, method, path, value, headers = asJson) {
  const body = value === undefined ? undefined : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const answer = await send(server, { method, path, headers, body, keep: true });
  if (answer.status >= 300) throw new Error(`${method} ${path.slice(0, 100)}: ${answer.status} ${answer.text}`);
  return answer;
}
