/** Random changes of objects of several kinds: undo of any of them restores what was there before. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../packages/lib/src/random.ts';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const group = 'example.com';
const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T;
const some = (random: Random, prefix: string): Loose =>
  Object.fromEntries(Array.from({ length: random.below(4) }, (_, i) => [`${prefix}${i}`, String(random.below(3))]));

/** A kind with a generator of what its objects have besides metadata, in a form that the server accepts as an update of any other. */
interface RandomKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  content(random: Random): Loose;
  /** What a controller reports; undefined: it has no status. */
  status?(random: Random): Loose;
}
const kinds: readonly RandomKind[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', content: (random) => ({ data: some(random, 'd') }) },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    content: (random) => ({
      spec: {
        replicas: random.below(4),
        ...(random.below(2) === 0 && { paused: true }),
        strategy: pick<Loose>(random, [{ type: 'Recreate' }, { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%' } }]),
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web', ...some(random, 't') } },
          spec: {
            containers: Array.from({ length: 1 + random.below(2) }, (_, i) => ({
              name: `c${i}`,
              image: `web:${random.below(3)}`,
              env: Object.entries(some(random, 'E')).map(([name, value]) => ({ name, value })),
              ports: Array.from({ length: random.below(2) }, () => ({ containerPort: 80 + random.below(3) })),
            })),
            ...(random.below(2) === 0 && { nodeSelector: some(random, 'n') }),
          },
        },
      },
    }),
    status: (random) => ({ replicas: random.below(3), observedGeneration: 1 }),
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    content: (random) => ({
      spec: {
        type: pick(random, ['ClusterIP', 'NodePort', 'LoadBalancer']),
        selector: some(random, 's'),
        sessionAffinity: pick(random, ['None', 'ClientIP']),
        ports: Array.from({ length: 1 + random.below(2) }, (_, i) => ({
          name: `p${i}`,
          port: 80 + i,
          targetPort: pick<Loose>(random, [8080, 'http']),
        })),
      },
    }),
    status: (random) => ({ loadBalancer: { ingress: [{ ip: `192.0.2.${1 + random.below(9)}` }] } }),
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'Seed',
    plural: 'seeds',
    content: (random) => ({
      spec: { size: random.below(5), tags: Object.values(some(random, 't')), deep: { ...some(random, 'd'), more: [some(random, 'm')] } },
      ...(random.below(2) === 0 && { extra: some(random, 'x') }),
    }),
    status: (random) => ({ ready: random.below(2) }),
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    content: (random) => ({
      type: 'Opaque',
      data: Object.fromEntries(
        Object.entries(some(random, 'd')).map(([name, text]) => [name, Buffer.from(String(text)).toString('base64')]),
      ),
    }),
  },
];

/** What an undo restores. */
function content({ apiVersion: _, kind: __, metadata: { labels = {}, annotations = {} }, status: ___, ...fields }: Loose): Loose {
  return { labels, annotations, ...fields };
}

/** Objects of one kind in a namespace, and random changes of the one that is named `a`. */
class Subject {
  readonly path: string;
  readonly kind: RandomKind;
  private readonly server: TestServer;
  private readonly random: Random;
  constructor(server: TestServer, namespace: string, kind: RandomKind, random: Random) {
    const { apiVersion, plural } = kind;
    this.path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/namespaces/${namespace}/${plural}`;
    this.server = server;
    this.kind = kind;
    this.random = random;
  }
  private object(): Loose {
    const { apiVersion, kind } = this.kind;
    const metadata = { name: 'a', labels: some(this.random, 'l'), annotations: some(this.random, 'n') };
    return { apiVersion, kind, metadata, ...this.kind.content(this.random) };
  }
  async live(): Promise<Loose | undefined> {
    const { status, json } = await this.server.admin.get(`${this.path}/a`);
    return status === 404 ? undefined : json;
  }
  /** Makes a change of what an undo restores. One that the server refuses is none, and neither is the same object again. */
  async change(): Promise<void> {
    const { admin } = this.server;
    const live = await this.live();
    if (live === undefined) {
      await admin.ok('POST', this.path, this.object());
      return;
    }
    const way = this.random.below(5);
    if (way === 0) await admin.ok('DELETE', `${this.path}/a`);
    else if (way === 1) await admin.ok('PUT', `${this.path}/a`, this.update(live));
    else if (way === 2)
      await this.patched({ metadata: { labels: some(this.random, 'l'), annotations: { n0: null, ...some(this.random, 'm') } } });
    else if (way === 3) await this.patched(this.kind.content(this.random));
    else {
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      const answer = await admin.send('PATCH', `${this.path}/a?fieldManager=m${this.random.below(2)}&force=true`, {
        headers,
        body: this.object(),
      });
      expect([200, 422], answer.text).toContain(answer.status);
    }
  }
  /** An update of a custom object names its version, and one of a service its addresses. */
  private update({ metadata: { resourceVersion }, spec: { clusterIP, clusterIPs } = {} as Loose }: Loose): Loose {
    const { metadata, ...object } = this.object();
    const addresses = this.kind.kind === 'Service' && { spec: { ...object.spec, clusterIP, clusterIPs } };
    return { ...object, metadata: { ...metadata, resourceVersion }, ...addresses };
  }
  private async patched(body: Loose): Promise<void> {
    const { status, text } = await this.server.admin.patch(`${this.path}/a`, body);
    expect([200, 422], text).toContain(status);
  }
  async writeStatus(): Promise<void> {
    if (this.kind.status === undefined || (await this.live()) === undefined) return;
    const { status, text } = await this.server.admin.patch(`${this.path}/a/status`, { status: this.kind.status(this.random) });
    expect(status, text).toBe(200);
  }
}

onStores(['memory', 'lmdb', 'etcd'], { historyRules: ['secrets=1d,values', 'secrets@hidden=novalues'] }, (server) => {
  let plat: Plat;
  beforeAll(async () => {
    plat = platFor(server());
    const schema = { type: 'object', [`${server().identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    await define(server(), definitionOf(server(), group, 'Seed', [{ schema, subresources: { status: {} } }]));
    await server().admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'hidden' } });
  });

  describe.each(kinds.map((kind) => [kind.plural, kind] as const))('%s', (plural, kind) => {
    const seeds = Array.from({ length: rounds(2) }, (_, i) => testSeed + i);

    test.each(seeds)('undo takes back the last change, whatever it was (seed %i)', async (seed) => {
      const namespace = await server().namespace();
      const random = seededRandom(seed);
      const subject = new Subject(server(), namespace, kind, random);
      for (let i = 0; i < 8; i++) {
        const before = await subject.live();
        await subject.change();
        const after = await subject.live();
        if (before !== undefined && after !== undefined && JSON.stringify(content(before)) === JSON.stringify(content(after))) continue;
        if (random.below(2) === 0) await subject.writeStatus();
        await plat.ok(['undo', `${plural}/a`, '-n', namespace, '--yes']);
        const undone = await subject.live();
        expect(undone && content(undone)).toEqual(before && content(before));
        await subject.change();
      }
    });

    test.each(seeds)('undo --to goes back to any state (seed %i)', async (seed) => {
      const namespace = await server().namespace();
      const subject = new Subject(server(), namespace, kind, seededRandom(seed));
      const states: Loose[] = [];
      for (let i = 0; i < 8; i++) {
        await subject.change();
        const live = await subject.live();
        if (live !== undefined) states.push(live);
        await subject.writeStatus();
      }
      for (const state of states) {
        await plat.ok(['undo', `${plural}/a`, '-n', namespace, '--to', state.metadata.resourceVersion, '--yes']);
        const live = (await subject.live()) as Loose;
        const isService = live.metadata.uid !== state.metadata.uid && plural === 'services';
        // A service that was made anew has addresses of its own.
        const addresses = isService && { clusterIP: live.spec.clusterIP, clusterIPs: live.spec.clusterIPs };
        expect(content(live)).toEqual(content(isService ? { ...state, spec: { ...state.spec, ...addresses } } : state));
      }
    });
  });

  test('secrets whose values are not kept: undo refuses, and changes nothing', async () => {
    const subject = new Subject(server(), 'hidden', kinds.find(({ plural }) => plural === 'secrets') as RandomKind, seededRandom(testSeed));
    await subject.change();
    for (let i = 0; i < 6; i++) {
      const before = await subject.live();
      await subject.change();
      const after = await subject.live();
      if (before === undefined) continue;
      expect(await plat.run(['undo', 'secret/a', '-n', 'hidden', '--yes'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('its values are not kept in history'),
      });
      expect(await subject.live()).toEqual(after);
    }
  });
});
