/**
 * Charts are installed, upgraded, rolled back and removed, in each of three ways. An upgrade must lead to the same objects as a fresh
 * installation of the new release, and a rollback to those of the old one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caBundle, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { platFor } from '../support/plat.ts';
import type { TestServer } from '../support/server.ts';
import { onStores } from '../support/stores.ts';
import type { Chart, Values } from './chart.ts';
import { HelmRelease } from './helm.ts';
import { discover, type Manifest, objectsOf, type Resources, stateOf } from './objects.ts';
import { charts } from './sets/index.ts';

let webhook: TestWebhook;
beforeAll(async () => {
  // Fills a field in, as webhooks of operators do.
  webhook = await startWebhook(({ request }) => {
    const patch = [{ op: 'add', path: '/metadata/annotations/operator.example.com~1seen', value: 'true' }];
    const object = request.object as { metadata: { annotations?: object } };
    if (object.metadata.annotations === undefined) patch.unshift({ op: 'add', path: '/metadata/annotations', value: {} as never });
    return { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
  });
});
afterAll(() => webhook.close());

/** One way to bring manifests to a server. */
interface Way {
  install(objects: readonly Manifest[]): Promise<void>;
  upgrade(before: readonly Manifest[], after: readonly Manifest[]): Promise<void>;
  remove(objects: readonly Manifest[]): Promise<void>;
  /** Whether an upgrade removes objects of a kind that the new release no longer has. */
  prunes(kind: string): boolean;
}

function applying(server: TestServer, chart: Chart, isPruning: boolean): Way {
  const plat = platFor(server);
  const flags = isPruning ? ['--prune', '-l', `app.kubernetes.io/instance=${chart.name}`, '--server-side=false'] : [];
  const list = (objects: readonly Manifest[]) => ({ apiVersion: 'v1', kind: 'List', items: objects });
  const apply = async (objects: readonly Manifest[]): Promise<void> => {
    await plat.ok(['apply', '-f', '-', ...flags], list(objects));
    // Patches made by clients name what the server filled in within lists, as those of kubectl do.
    if (isPruning) return;
    const again = await plat.ok(['apply', '-f', '-', ...flags], list(objects));
    expect(again.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'))).toEqual([]);
  };
  return {
    install: apply,
    upgrade: (_, after) => apply(after),
    remove: async (objects) => void (await plat.ok(['delete', '-f', '-', '--ignore-not-found'], list(objects))),
    // Others must be named, as with kubectl.
    prunes: (kind) => isPruning && kind !== 'PodDisruptionBudget',
  };
}
function asHelm(server: TestServer, chart: Chart, resources: Resources, namespace: string): Way {
  const release = new HelmRelease(server, resources, chart.name, namespace);
  return {
    install: (objects) => release.install(objects),
    upgrade: (before, after) => release.upgrade(before, after),
    remove: (objects) => release.uninstall(objects),
    prunes: () => true,
  };
}
const ways = {
  apply: (server: TestServer, chart: Chart) => applying(server, chart, false),
  'apply with pruning': (server: TestServer, chart: Chart) => applying(server, chart, true),
  Helm: asHelm,
} satisfies Record<string, (server: TestServer, chart: Chart, resources: Resources, namespace: string) => Way>;

/** Objects that only the release before has. */
function leftOf(before: readonly Manifest[], after: readonly Manifest[]): Manifest[] {
  const names = new Set(after.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  return before.filter(({ kind, metadata }) => !names.has(`${kind} ${metadata.name}`));
}

onStores(['lmdb', 'memory', 'etcd'], { identity: 'kubernetes', allowPrivileged: true }, (server) => {
  describe.each(charts)('$name', (chart) => {
    beforeAll(async () => {
      if (chart.definitions === undefined) return;
      const plat = platFor(server());
      await plat.ok(['apply', '-f', '-'], chart.definitions);
      const names = objectsOf(chart.definitions).map(({ metadata }) => `customresourcedefinition/${metadata.name}`);
      await plat.ok(['wait', '--for=condition=Established', ...names]);
    });

    test.each(Object.keys(ways) as (keyof typeof ways)[])('%s: install, upgrade, roll back, remove', async (name) => {
      const namespace = await server().namespace();
      const objects = (version: Values['version']): Manifest[] =>
        objectsOf(chart.manifests({ version, namespace, webhook: { url: webhook.url, caBundle } }));
      const [first, second] = [objects(1), objects(2)];
      const every = [...first, ...second];
      const resources = await discover(server(), every);
      const way = ways[name](server(), chart, resources, namespace);
      const left = async (removed: readonly Manifest[]): Promise<string[]> =>
        [...(await stateOf(server(), resources, removed))].filter(([, object]) => object !== undefined).map(([path]) => path);
      const gone = (removed: readonly Manifest[]): Promise<void> => expect.poll(() => left(removed)).toEqual([]);

      await way.install(second);
      const secondFresh = await stateOf(server(), resources, second);
      await way.remove(second);
      await gone(second);

      await way.install(first);
      const firstFresh = await stateOf(server(), resources, first);
      expect([...firstFresh.values()]).not.toContain(undefined);

      await way.upgrade(first, second);
      expect(await stateOf(server(), resources, second)).toEqual(secondFresh);
      await gone(leftOf(first, second).filter(({ kind }) => way.prunes(kind)));

      await way.upgrade(second, first);
      expect(await stateOf(server(), resources, first)).toEqual(firstFresh);

      await gone(leftOf(second, first).filter(({ kind }) => way.prunes(kind)));
      await way.remove(name === 'Helm' ? first : every);
      await gone(every);
    });
  });
});
