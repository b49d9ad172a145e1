/**
 * Commands that no other test compares, by the stock kubectl and by plat called as kubectl against the same server: standard
 * output and exit codes are equal, but for the differences that a row names with their reason.
 */

import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pack } from '../../packages/cli/src/cp/pack.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { newAuthority } from '../../packages/pki/src/index.ts';
import { makeRequest } from '../../packages/pki/src/request.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket, type Peer } from '../connect/websocket.ts';
import { type Kubectl, type KubectlResult, kubectlBefore, kubectlFor, kubectlMinor, kubectlMissing } from '../support/kubectl.ts';
import { type Plat, platFor } from '../support/plat.ts';
import type { Loose } from '../support/server.ts';
import { comparedIn, notCompared } from './compared.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every command of kubectl 1.24 is compared, or has a reason why not', () => {
  const { commands } = JSON.parse(read('test/cli/kubectl-1.24.json')) as { commands: Record<string, unknown> };
  expect([...comparedIn.keys(), ...notCompared.keys()].sort()).toEqual(Object.keys(commands).sort());
});

test('each command stands in the file that compares it', () => {
  const aliases: Record<string, string> = { 'create poddisruptionbudget': 'create pdb' };
  for (const [name, file] of comparedIn) {
    // As a line, `'get pods'`, or as words: `['get', 'pods']`.
    const words = (aliases[name] ?? name).split(' ');
    expect(read(file), `${name} in ${file}`).toMatch(new RegExp(`['"\`]${words.join(`(?: |', ')`)}[ '"\`]`));
  }
});

const release = kubectlMinor ?? 0;
/** Earlier releases speak SPDY to containers, which the node of this test does not: it has a test of its own in test/connect. */
const speaksWebSockets = release >= 31;

interface Row {
  readonly line: string;
  readonly input?: unknown;
  /** What releases from `from` on call it. */
  readonly later?: { readonly from: number; readonly line: string };
  /** What differs for a good reason is taken out of both outputs. */
  readonly without?: { readonly text: RegExp; readonly why: string };
}

describe.skipIf(kubectlMissing !== undefined)(`kubectl and plat called as kubectl (${kubectlMissing ?? 'found'})`, () => {
  let world: World;
  let kubectl: Kubectl;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    world = await startWorld();
    ({ ns } = world);
    const plugins = temporaryDirectory('kubectl-plugins');
    writeFileSync(join(plugins, 'kubectl-greet'), '#!/bin/sh\n');
    chmodSync(join(plugins, 'kubectl-greet'), 0o755);
    const env = { PATH: `${plugins}:${process.env.PATH}` };
    kubectl = kubectlFor(world.server, env);
    plat = platFor(world.server, env, undefined, 'kubectl');
  });
  afterAll(() => world.close());

  /** Names that the server or the clients make, and times. */
  const plain = (text: string): string =>
    text
      .replaceAll(ns, 'NS')
      .replace(/\b(?:\d+[ydhms])+\b/g, 'AGE')
      .replace(/AGE +/g, 'AGE ')
      .replace(/(debugger-(?:n1-)?)[a-z0-9]{5}\b/g, '$1NAME');
  const words = (line: string): string[] => line.split(' ').map((word) => word.replace('NS', ns));
  async function same({ line, input, later, without }: Row): Promise<string> {
    const shown = ({ code, stdout }: KubectlResult) => ({ line, code, stdout: plain(stdout).replace(without?.text ?? /$^/, '') });
    const stock = later !== undefined && release >= later.from ? later.line : line;
    const [theirs, ours] = await Promise.all([kubectl.run(words(stock), input), plat.run(words(line), input)]);
    expect(shown(ours), `${theirs.stderr}${ours.stderr}`).toEqual(shown(theirs));
    return ours.stdout;
  }

  test.skipIf(kubectlBefore(24))('what the server is and has', async () => {
    const client = { text: /"clientVersion": \{[^}]*\},\s*"kustomizeVersion": "[^"]*",/, why: 'the clients have versions of their own' };
    const rows: readonly Row[] = [
      { line: 'version -o json', without: client },
      { line: 'api-versions' },
      { line: 'api-resources' },
      { line: 'api-resources -o name --verbs=list --namespaced' },
      { line: 'cluster-info', without: { text: /\p{Cc}\[(?:[\d;]*m|AGE)/gu, why: '1.24 writes colours into files and pipes, too' } },
      { line: 'plugin list' },
    ];
    for (const row of rows) expect(await same(row), row.line).not.toBe('');
  });

  test('a dump', async () => {
    // Kubectl prints the fields in the order of its types, and empty lists of these as null.
    const documents = (text: string): Loose[] => {
      const lists = text.split(/^(?=\{)/m).map((one) => JSON.parse(one) as Loose);
      return lists.map(({ kind, items }) => ({ kind, items: items ?? [] }));
    };
    const args = words('cluster-info dump --namespaces=NS');
    const [theirs, ours] = await Promise.all([kubectl.ok(args), plat.ok(args)]);
    expect(documents(ours)).toEqual(documents(theirs));
    expect(documents(ours).map(({ kind }) => kind)).toContain('PodList');
  });

  test('rights and certificates', async () => {
    await same({ line: 'auth can-i list pods/log -n NS' });
    await same({ line: 'auth can-i --list --as nobody -n NS' });
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const request = Buffer.from(makeRequest({ commonName: 'dora', organizations: [] }, keys)).toString('base64');
    const spec = { request, signerName: 'example.com/own', usages: ['client auth'] };
    for (const line of ['certificate approve', 'certificate deny']) {
      const found: unknown[] = [];
      for (const client of [kubectl, plat]) {
        const { metadata } = await world.server.admin.ok('POST', requests, { metadata: { generateName: 'request-' }, spec });
        const { code, stdout } = await client.run([...words(line), metadata.name]);
        const { status } = (await world.server.admin.ok('GET', `${requests}/${metadata.name}`)) as Loose;
        const conditions = status.conditions.map(({ type, status: value, reason, message }: Loose) => [type, value, reason, message]);
        found.push({ line, code, stdout: stdout.replace(metadata.name, 'REQUEST'), conditions });
      }
      expect(found[1]).toEqual(found[0]);
    }
    await same({ line: 'certificate approve absent' });
  });

  test('objects from flags', async () => {
    const dry = '--dry-run=client -o yaml';
    const directory = temporaryDirectory('kubectl-tls');
    const { certificate, key } = newAuthority('served', Date.now());
    writeFileSync(join(directory, 'tls.crt'), certificate);
    writeFileSync(join(directory, 'tls.key'), key);
    const rows: readonly string[] = [
      `create clusterrole r --verb=get --resource=pods --non-resource-url=/x ${dry}`,
      `create clusterrolebinding b --clusterrole=r --user=ann --serviceaccount=team:robot ${dry}`,
      `create namespace team ${dry}`,
      `create priorityclass high --value=10 --preemption-policy=Never --description=text ${dry}`,
      `create quota q --hard=pods=2,cpu=1 --scopes=BestEffort ${dry}`,
      `create service externalname e --external-name=example.com --tcp=80 ${dry}`,
      `create service loadbalancer l --tcp=80:8080 ${dry}`,
      `create serviceaccount robot ${dry}`,
      `create secret tls t --cert=${directory}/tls.crt --key=${directory}/tls.key ${dry}`,
      'create token absent -n NS',
    ];
    for (const line of rows) await same({ line });
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    const input = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
    const empty = { text: /^ *(?:creationTimestamp: null|(?:strategy|resources|status): \{\})\n/gm, why: 'its types have these fields' };
    await same({ line: 'set serviceaccount -f - robot --local -o yaml', input, without: empty });
  });

  test.skipIf(kubectlBefore(24))('waiting and events', async () => {
    await world.server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'there' }, data: { a: 'b' } });
    await same({ line: 'wait configmap/there -n NS --for=jsonpath={.data.a}=b' });
    await same({ line: 'wait configmap/absent -n NS --for=condition=Ready --timeout=1s' });
    const stamp = '2024-01-01T00:00:00Z';
    for (const [name, type] of [
      ['a', 'Normal'],
      ['b', 'Warning'],
    ])
      await world.server.admin.ok('POST', `/api/v1/namespaces/${ns}/events`, {
        metadata: { name },
        type,
        reason: 'Tested',
        message: `message ${name}`,
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'there', namespace: ns },
        firstTimestamp: stamp,
        lastTimestamp: name === 'a' ? stamp : '2024-01-02T00:00:00Z',
      });
    await same({ line: 'alpha events -n NS', later: { from: 26, line: 'events -n NS' } });
    const about = '-n NS --for configmap/there';
    await same({ line: `alpha events ${about}`, later: { from: 26, line: `events ${about}` } });
  });

  // ---- containers -------------------------------------------------------------------------------------------------

  const say = (peer: Peer, channel: number, bytes: Buffer | string): void =>
    peer.send(Buffer.concat([Buffer.from([channel]), Buffer.from(bytes as Buffer)]));
  const end = (peer: Peer, code = 0): void => {
    const causes = [{ reason: 'ExitCode', message: `${code}` }];
    say(
      peer,
      3,
      JSON.stringify(code === 0 ? { status: 'Success' } : { status: 'Failure', reason: 'NonZeroExitCode', details: { causes } }),
    );
    peer.close();
  };
  /** The node answers connections of both clients; `program` gets the command and what it reads. */
  function agent(program: (command: readonly string[], peer: Peer) => void): void {
    world.agent.upgrade = (req, socket, head) => {
      const url = new URL(req.url ?? '', 'http://x');
      const [protocol] = String(req.headers['sec-websocket-protocol']).split(/, */);
      const peer = acceptWebSocket(req, socket, head, protocol);
      const run = (): void => program(url.searchParams.getAll('command'), peer);
      if (url.searchParams.get('input') === null && url.searchParams.get('stdin') === null) run();
      else peer.onFrame = (payload) => void (payload[0] === 255 && run());
    };
  }

  test.skipIf(kubectlBefore(24))('logs, exec, attach and copies', async () => {
    await world.pod(
      'web',
      {
        nodeName: 'n1',
        containers: [
          { name: 'main', image: 'i' },
          { name: 'side', image: 'i' },
        ],
      },
      { phase: 'Running' },
    );
    world.agent.answer = (req, res) => void res.end(`line of ${req.url?.split('/').at(-1)?.replace(/\?.*/, '')}\n`);
    await same({ line: 'logs web -n NS' });
    await same({ line: 'logs pod/web -n NS -c side --prefix' });
    await same({ line: 'logs web -n NS -c none' });
    agent((command, peer) => {
      say(peer, 1, `ran ${command.join(' ')}\n`);
      end(peer, command.length > 1 ? 7 : 0);
    });
    if (!speaksWebSockets) return;
    await same({ line: 'exec web -n NS -- date' });
    await same({ line: 'exec web -n NS -c side -- sh -c x' });
    await same({ line: 'attach web -n NS -c main' });
    const from = temporaryDirectory('kubectl-cp');
    writeFileSync(join(from, 'file'), 'content');
    const archive: Buffer[] = [];
    for await (const bytes of pack(join(from, 'file'), 'etc/file')) archive.push(bytes);
    agent((_command, peer) => {
      say(peer, 1, Buffer.concat(archive));
      end(peer);
    });
    const copies = [join(from, 'theirs'), join(from, 'ours')] as const;
    const theirs = await kubectl.run(['cp', '-c', 'main', `${ns}/web:/etc/file`, copies[0]]);
    const ours = await plat.run(['cp', '-c', 'main', `${ns}/web:/etc/file`, copies[1]]);
    expect([ours.code, ours.stdout]).toEqual([theirs.code, theirs.stdout]);
    expect(copies.map((path) => readFileSync(path, 'utf8'))).toEqual(['content', 'content']);
    await same({ line: 'cp NS/web:/etc/file' });
  });

  test('a forwarded port, and a proxy', async () => {
    await world.pod('forwarded', undefined, { phase: 'Running' });
    agent(() => {});
    const forwarding = /^Forwarding from 127\.0\.0\.1:\d+ -> 80$/;
    const forward = ['port-forward', 'forwarded', ':80', '-n', ns, '--address=127.0.0.1'];
    const ours = plat.start(forward);
    await ours.io.said('Forwarding from');
    expect(ours.io.stdout.trimEnd()).toMatch(forwarding);
    if (speaksWebSockets) {
      const theirs = kubectl.start(forward);
      expect(await theirs.line(/Forwarding/)).toMatch(forwarding);
      theirs.process.kill('SIGKILL');
    }
    ours.io.send('SIGINT');
    await ours.code;
    await same({ line: 'port-forward absent 80 -n NS' });
    const stock = kubectl.start(['proxy', '--port=0']);
    const own = plat.start(['proxy', '--port=0']);
    await own.io.said('\n');
    const line = /^Starting to serve on (127\.0\.0\.1:\d+)$/;
    const addresses = [line.exec(await stock.line(/Starting/)), line.exec(own.io.stdout.trimEnd())].map((found) => found?.[1]);
    const [one, other] = await Promise.all(addresses.map(async (at) => (await fetch(`http://${at}/api/v1/namespaces/${ns}`)).json()));
    expect(other).toEqual(one);
    stock.process.kill('SIGKILL');
    own.io.send('SIGINT');
    await own.code;
  });

  test.skipIf(kubectlBefore(24))('debugging', async () => {
    const pods = `/api/v1/namespaces/${ns}/pods`;
    await world.pod('a');
    await world.pod('b');
    const both = async (line: string) => {
      const of = (name: string): string[] => words(line.replaceAll('POD', name));
      const theirs = await kubectl.run(of('a'));
      const ours = await plat.run(of('b'));
      expect([ours.code, plain(ours.stdout)], `${theirs.stderr}${ours.stderr}`).toEqual([theirs.code, plain(theirs.stdout)]);
    };
    await both('debug POD -n NS --image=busybox -c dbg --target=main');
    await both('debug POD -n NS --image=busybox --copy-to=POD-copy -c dbg --same-node -- sleep 1');
    await both('debug node/n1 -n NS --image=busybox');
    const specs = await Promise.all(
      ['a', 'b', 'a-copy', 'b-copy'].map(async (name) => {
        const { containers, ephemeralContainers, nodeName } = ((await world.server.admin.ok('GET', `${pods}/${name}`)) as Loose).spec;
        return jsonText({ containers, ephemeralContainers, nodeName }).replace(/kube-api-access-\w{5}/g, 'TOKEN');
      }),
    );
    expect([specs[1], specs[3]]).toEqual([specs[0], specs[2]]);
  });

  test.skipIf(kubectlBefore(24))('usage, by custom resources that stand in for a metrics server', async () => {
    const group = 'metrics.k8s.io';
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ name: 'v1beta1', served: true, storage: true, schema }];
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const [plural, kind, scope] of [
      ['nodes', 'NodeMetrics', 'Cluster'],
      ['pods', 'PodMetrics', 'Namespaced'],
    ])
      await world.server.admin.ok('POST', definitions, {
        metadata: { name: `${plural}.${group}`, annotations },
        spec: { group, scope, names: { plural, kind }, versions },
      });
    const send = async (path: string, body: object): Promise<void> => {
      // The definition is served a moment after it was made.
      for (;;) if ((await world.server.admin.send('POST', `/apis/${group}/v1beta1${path}`, { body })).status === 201) return;
    };
    const times = { timestamp: '2024-01-01T00:00:00Z', window: '30s' };
    const usage = (cpu: string, memory: string) => ({ usage: { cpu, memory } });
    const typed = (kind: string, name: string) => ({ apiVersion: `${group}/v1beta1`, kind, metadata: { name }, ...times });
    await send('/nodes', { ...typed('NodeMetrics', 'n1'), ...usage('500m', '1Gi') });
    const containers = [
      { name: 'a', ...usage('5m', '3Mi') },
      { name: 'b', ...usage('6m', '2Mi') },
    ];
    await send(`/namespaces/${ns}/pods`, { ...typed('PodMetrics', 'web'), containers });
    const status = { allocatable: { cpu: '2', memory: '4Gi' }, capacity: { cpu: '4', memory: '8Gi' } };
    await world.server.admin.patch('/api/v1/nodes/n1/status', { status });
    const headers = { text: /[()% ]+/g, why: 'later releases have brackets in the headers' };
    await same({ line: 'top node --use-protocol-buffers=false', without: headers });
    await same({ line: 'top node n1 --show-capacity --no-headers --use-protocol-buffers=false', without: headers });
    await same({ line: 'top pod -n NS --use-protocol-buffers=false' });
    await same({ line: 'top pod web -n NS --containers --sort-by=cpu --use-protocol-buffers=false' });
  });

  test.skipIf(kubectlBefore(24))('the configuration, each on a copy of one file', async () => {
    const directory = temporaryDirectory('kubectl-config');
    const copies = ['theirs', 'ours'].map((name) => {
      mkdirSync(join(directory, name));
      const path = join(directory, name, 'config');
      copyFileSync(world.server.running.adminConfigPath, path);
      return path;
    });
    const own = platFor(world.server, {}, [], 'kubectl');
    const lines = [
      'config get-contexts',
      'config current-context',
      'config set-cluster other --server=https://127.0.0.1:1 --tls-server-name=x',
      'config set-credentials me --token=secret',
      'config set-context new --cluster=other --user=me --namespace=team',
      'config use-context new',
      'config rename-context new renamed',
      'config set contexts.renamed.namespace third',
      'config unset contexts.renamed.namespace',
      'config get-clusters',
      'config get-users',
      'config view',
      'config delete-user me',
      'config delete-cluster other',
      'config delete-context renamed',
    ];
    for (const line of lines) {
      const [theirs, ours] = await Promise.all([
        kubectl.run([...line.split(' '), '--kubeconfig', copies[0] as string]),
        own.run([...line.split(' '), '--kubeconfig', copies[1] as string]),
      ]);
      // Kubectl lists clusters in an order that changes from one run to the next.
      const lines = (text: string): string[] =>
        text
          .replace(/\/(theirs|ours)\/config/g, '/config')
          // Later releases say the same of certificates and keys of users as of those of clusters.
          .replace(/(client-\w+-data): (REDACTED|DATA\+OMITTED)/g, release > 24 ? '$1: HIDDEN' : '$&')
          .split('\n');
      const shown = ({ code, stdout }: KubectlResult) => ({
        line,
        code,
        lines: line.startsWith('config get-') ? lines(stdout).sort() : lines(stdout),
      });
      expect(shown(ours), `${theirs.stderr}${ours.stderr}`).toEqual(shown(theirs));
    }
    const [theirs, ours] = copies.map((path) => parseYaml(readFileSync(path, 'utf8')));
    expect(ours).toEqual(theirs);
  });
});
