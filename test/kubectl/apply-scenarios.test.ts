/**
 * The stock client and plat called as kubectl do the same: one scenario of apply and its kin, run by each in a namespace of its
 * own on the same server. Standard output, exit codes and the objects at the end are compared.
 */

import { describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { kubectlBefore, kubectlFixture, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { platFor } from '../support/plat.ts';
import type { Loose } from '../support/server.ts';

interface Line {
  readonly args: readonly string[];
  readonly input?: unknown;
  /** What the clients print differs by design: directories in the output of diff. */
  readonly anyOutput?: boolean;
}

const configMap = (name: string, data: object, labels: object = { app: 'x' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});
const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
const deployment = (image: string, extra: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image, env: [{ name: 'A', value: '1' }] }], ...extra },
    },
  },
});
const secret = (type: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type });
const apply = (input: unknown, ...flags: string[]): Line => ({ args: ['apply', '-f', '-', ...flags], input });

const scenario: readonly Line[] = [
  apply(configMap('a', { x: '1', html: '<&>' }), '--dry-run=client'),
  apply(configMap('a', { x: '1', html: '<&>' }), '--dry-run=server'),
  apply(configMap('a', { x: '1', html: '<&>' })),
  apply(configMap('a', { x: '1', html: '<&>' })),
  { args: ['diff', '-f', '-'], input: configMap('a', { x: '2' }), anyOutput: true },
  { args: ['diff', '-f', '-'], input: configMap('a', { x: '1', html: '<&>' }) },
  apply(configMap('a', { x: '2' }), '-o', 'name'),
  { args: ['apply', 'view-last-applied', 'cm/a'] },
  { args: ['apply', 'view-last-applied', 'cm/a', '-o', 'json'] },
  { args: ['apply', 'set-last-applied', '-f', '-'], input: configMap('a', { x: '3' }) },
  { args: ['apply', 'view-last-applied', 'cm', '-l', 'app=x'] },
  apply(deployment('i:1', { dnsPolicy: 'Default' })),
  apply(deployment('i:2')),
  apply(list(configMap('b', {}), configMap('c', {}), secret('one'))),
  apply(secret('two')),
  apply(secret('two'), '--force'),
  apply(list(configMap('a', { x: '2' }), configMap('b', {})), '--prune', '-l', 'app=x'),
  apply(configMap('s', { x: '1' }, {}), '--server-side'),
  apply(configMap('s', { x: '2' }, {}), '--server-side'),
  { args: ['apply', '--force-conflicts', '-f', '-'], input: configMap('s', {}) },
  { args: ['replace', '-f', '-'], input: configMap('b', { y: '1' }) },
  { args: ['replace', '-f', '-', '--force'], input: configMap('b', { y: '2' }) },
  { args: ['replace', '-f', '-', '--save-config'], input: configMap('b', { y: '3' }) },
  { args: ['replace', '-f', '-'], input: configMap('none', {}) },
  { args: ['edit', 'cm/b'] },
  { args: ['edit', 'cm/b', '--output-patch'] },
  { args: ['delete', 'cm', 'a', '--dry-run=client'] },
  { args: ['delete', 'cm', 'a', '--dry-run=server'] },
  { args: ['delete', 'cm/a', 'cm/none'] },
  { args: ['delete', 'cm', 'none', '--ignore-not-found'] },
  { args: ['delete', 'deployment', 'web', '--cascade=foreground', '-o', 'name'] },
  { args: ['delete', '-f', '-', '--now'], input: secret('two') },
  { args: ['delete', 'cm', '-l', 'app=none'] },
];

describe.skipIf(kubectlMissing !== undefined)(`apply and its kin${kubectlMissing === undefined ? '' : ` (${kubectlMissing})`}`, () => {
  const fixture = kubectlFixture();

  // Some thirty programs, one after another: on a busy machine they take long.
  test.skipIf(kubectlBefore(24))('the stock client and plat called as kubectl', { timeout: 600_000 }, async () => {
    const { server } = fixture;
    // Each edit changes the first digit that it finds: 3 becomes 4, then nothing is left to change.
    const env = { KUBE_EDITOR: 'sed -i \'s/"3"/"4"/\'', PATH: process.env.PATH ?? '' };
    const clients = [kubectlFor(server, env), platFor(server, env, undefined, 'kubectl')];
    const results: unknown[][] = [];
    const objects: unknown[] = [];
    for (const client of clients) {
      const ns = await server.namespace();
      const lines: unknown[] = [];
      for (const { args, input, anyOutput } of scenario) {
        const { code, stdout } = await client.run([...args, '-n', ns], input);
        lines.push({ args, code, ...(anyOutput !== true && { stdout: stdout.replaceAll(ns, 'NS') }) });
      }
      results.push(lines);
      const { items } = await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps`);
      objects.push(items.filter((item: Loose) => !item.metadata.name.endsWith('.crt')).map((item: Loose) => withoutServerFields(item, ns)));
    }
    expect(results[1]).toEqual(results[0]);
    expect(objects[1]).toEqual(objects[0]);
  });
});

/** What a client wrote: the annotation and the managers, too. */
function withoutServerFields({ metadata, ...item }: Loose, ns: string): unknown {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, managedFields, ...rest } = metadata;
  const managers = managedFields.map(({ manager, operation }: Loose) => `${manager} ${operation}`).sort();
  return JSON.parse(jsonText({ ...item, metadata: rest, managers }).replaceAll(ns, 'NS'));
}
