// A real etcd for benches, with durable writes, on free loopback ports (Debian: etcd-server; ETCD_BINARY names another).
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { endWithBench, stop, temporary } from './tools.mjs';

export async function startEtcd() {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    ['--name', 'bench', '--data-dir', temporary(`etcd-${randomUUID()}`)],
    ['--listen-client-urls', client, '--advertise-client-urls', client],
    ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `bench=${peer}`],
    ['--log-level', 'error', '--logger', 'zap'],
  ];
  const child = endWithBench(spawn(process.env.ETCD_BINARY ?? 'etcd', args.flat(), { stdio: ['ignore', 'ignore', 'pipe'] }));
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = (output + chunk).slice(-4_000);
  });
  child.on('error', (error) => {
    output = String(error);
  });
  for (let tries = 0; !(await healthy(client)); tries++) {
    if (tries === 600 || child.exitCode !== null || child.pid === undefined) throw new Error(`etcd did not start: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { endpoint: client, pid: child.pid, stop: () => stop(child) };
}

/**
 * Sums of metrics of an etcd, by name.
 * @template {string} Key
 * @param {{ endpoint: string }} etcd
 * @param {Record<Key, string>} names
 */
export async function etcdMetrics({ endpoint }, names) {
  const text = await (await fetch(`${endpoint}/metrics`)).text();
  const sumOf = (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  const sums = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, sumOf(name)]));
  return /** @type {Record<Key, number>} */ (sums);
}

async function healthy(endpoint) {
  try {
    return (await (await fetch(`${endpoint}/health`)).text()).includes('true');
  } catch {
    return false;
  }
}

function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
