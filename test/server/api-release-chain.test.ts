/**
 * One store, opened with each release of the API up and down again: what is stored stays readable, and can be written, in every
 * version that is served. Objects of all kinds are written in the oldest version that the first release has.
 */

import { expect, test } from 'vitest';
import { kindsOf } from '../../packages/compose/src/api-release.ts';
import { defaultRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import type { ServerOptions } from '../../packages/compose/src/config/server-options.ts';
import { composeServer } from '../../packages/compose/src/server.ts';
import type { ApiObject, Kind } from '../../packages/kinds/src/kind.ts';
import { fromHub, read, toHub } from '../../packages/kinds/src/older.testing.ts';
import { lifetimeOf, servedByDefault } from '../../packages/kinds/src/releases.ts';
import { type ServedKind, serve } from '../../packages/kinds/src/served-kind.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { expectEqual } from '../../packages/lib/src/testing/expect-equal.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type ApiRelease, apiReleases } from '../../packages/lib/src/version.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { startTestServer } from '../../packages/testing/src/index.ts';
import { KeepAlive } from '../../packages/testing/src/keep-alive.ts';
import { TestTransport } from '../../packages/testing/src/transport.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { type Example, readExamples } from '../support/examples.ts';
import { provideSigningKey } from '../support/signing-key.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
type Send = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Steps over several releases, for stores other than memory: what is stored and how it is read is the same there. */
const long: readonly ApiRelease[] = ['1.15', '1.27', '1.15'];
/** Releases in which objects are written: those that removed versions. */
const written: readonly ApiRelease[] = ['1.15', '1.16', '1.22', '1.25', '1.26', '1.27'];
/** Up to the newest release, and back over those that serve other versions than the one after them. */
const chain: readonly ApiRelease[] = [...apiReleases, '1.26', '1.25', '1.24', '1.22', '1.21', '1.16', '1.15'];

const kinds = await kindsOf(kubernetes, { apiRelease: '1.15', runtimeConfig: defaultRuntimeConfig });
const ownerOf = (kind: Kind): Kind => {
  const store = kind.sharesStoreOf;
  return kinds.find(({ group, plural }) => group === store?.group && plural === store.plural) ?? kind;
};
/** All versions, of all groups, in which the objects of a kind are shown. */
const viewsOf = (owner: Kind): ServedKind[] =>
  kinds.filter((kind) => ownerOf(kind) === owner).flatMap((kind) => serve(kind, kubernetes, { all: true, store: owner }));
const isServedIn = ({ kind, version }: ServedKind, release: string): boolean =>
  servedByDefault(lifetimeOf(kind.group, version, kind.plural), release);

/** An example object, and what is known of it. */
class Follower {
  readonly example: Example;
  private readonly views: readonly ServedKind[];
  private uid = '';
  private path = '';
  /** What each version shows of the object, but for its metadata and status, which the server sets in its own time. */
  private readonly shown = new Map<string, unknown>();
  /** What each version showed in a release when that was the newest so far. */
  private readonly shownIn = new Map<string, object>();
  /** Versions that were not read since the last write: it may have added what the release of the write has by default. */
  private readonly unreadViews = new Set<string>();

  constructor(example: Example) {
    this.example = example;
    const { group, plural } = example.served.kind;
    const kind = kinds.find((one) => one.group === group && one.plural === plural) as Kind;
    this.views = viewsOf(ownerOf(kind));
  }
  get exists(): boolean {
    return this.uid !== '';
  }
  servedIn(release: string): ServedKind[] {
    return this.views.filter((view) => isServedIn(view, release));
  }

  /** Makes the object in the oldest version that the release has, if it has one. */
  async create(send: Send, release: ApiRelease): Promise<void> {
    const views = this.servedIn(release);
    const view = views.find(({ version }) => version.includes('beta')) ?? views[0];
    if (view === undefined) return;
    const { served, object } = this.example;
    const { status, body } = await send('POST', this.folder(view), fromHub(view, toHub(served, read(served, object))));
    expect(status, `${this.example.file} in ${view.apiVersion}: ${jsonText(body)}`).toBe(201);
    const { uid = '', name = '' } = (body as ApiObject).metadata;
    this.uid = uid;
    this.path = name;
  }
  /** Reads it in every version of the release, and in some releases writes it in one of them. */
  async check(send: Send, release: ApiRelease): Promise<void> {
    for (const view of this.servedIn(release)) {
      const { status, body } = await send('GET', `${this.folder(view)}/${this.path}`);
      const at = `${this.example.file} in ${view.apiVersion} of ${release}`;
      expect(status, at).toBe(200);
      const { metadata, status: _, ...rest } = body as ApiObject & { status?: unknown };
      expect(metadata.uid, at).toBe(this.uid);
      const shownBefore = this.shown.get(view.apiVersion);
      const inRelease = `${view.apiVersion} of ${release}`;
      const ofRelease = this.shownIn.get(inRelease);
      if (ofRelease !== undefined) {
        // An older release again has all that it had.
        this.unreadViews.delete(view.apiVersion);
        expect(rest, at).toMatchObject(ofRelease);
      } else if (this.unreadViews.delete(view.apiVersion)) expect(rest, at).toMatchObject(shownBefore as object);
      else if (shownBefore !== undefined) expectEqual(rest, shownBefore, at);
      this.shown.set(view.apiVersion, rest);
      this.shownIn.set(inRelease, ofRelease ?? rest);
    }
    const [first] = this.servedIn(release);
    if (first === undefined || !written.includes(release)) return;
    const patch = { metadata: { annotations: { 'example.com/release': release } } };
    const { status, body } = await send('PATCH', `${this.folder(first)}/${this.path}`, patch);
    expect(status, `${this.example.file} in ${first.apiVersion} of ${release}: ${jsonText(body)}`).toBe(200);
    for (const apiVersion of this.shown.keys()) this.unreadViews.add(apiVersion);
  }

  private folder({ group, version, apiVersion, kind }: ServedKind): string {
    const root = group === '' ? `/api/${version}` : `/apis/${apiVersion}`;
    return kind.namespaced ? `${root}/namespaces/${this.example.object.metadata.namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  }
}

/** Each release is looked at with a server that `open` makes of what the one before left. */
async function follow(open: (release: ApiRelease) => Promise<Send>, releases: readonly ApiRelease[]): Promise<Follower[]> {
  const followers = readExamples()
    .filter(({ served }) => served.kind.virtual !== true)
    .map((example) => new Follower(example));
  for (const release of releases) {
    const send = await open(release);
    for (const one of followers) {
      if (!one.exists) await one.create(send, release);
      if (one.exists) await one.check(send, release);
    }
  }
  return followers;
}
/** For a busy machine; a few seconds are enough. */
const LONGEST_MS = 300_000;
const merge = { 'content-type': 'application/merge-patch+json' };

test(
  'in memory, by snapshots',
  async () => {
    let server = await startTestServer({ identity: 'kubernetes', apiRelease: '1.15' });
    const followers = await follow(async (release) => {
      const snapshot = await server.snapshot();
      await server.close();
      server = await snapshot.fork({ apiRelease: release });
      return async (method, path, body) => server.request(method, path, { body, ...(method === 'PATCH' && { headers: merge }) });
    }, chain);
    await server.close();
    expect(followers.filter(({ exists }) => !exists).map(({ example }) => example.file)).toEqual([]);
    expect(followers.length).toBeGreaterThan(40);
  },
  LONGEST_MS,
);

/** Servers on one store, each with the release of the API that is asked for. */
async function followOn(store: Partial<ServerOptions>, releases: readonly ApiRelease[]): Promise<void> {
  const settings = { identity: 'kubernetes', controllers: ['-*'], disableAdmissionPlugins: ['ServiceAccount'], ...store };
  provideSigningKey(settings.dataDir as string);
  let close = async (): Promise<void> => {};
  try {
    await follow(async (release) => {
      await close();
      const server = await composeServer({ ...settings, apiRelease: release }, { log: silentLog }, false);
      const transport = new TestTransport(server.requests.handlerForClients(), new KeepAlive());
      close = async () => {
        transport.close();
        await server.close();
      };
      return async (method, path, body) => transport.request(method, path, { body, ...(method === 'PATCH' && { headers: merge }) });
    }, releases);
  } finally {
    await close();
  }
}

test('in a data directory', () => followOn({ dataDir: temporaryDirectory('plat-releases') }, long), LONGEST_MS);

test.skipIf(etcdMissing !== undefined)(
  `in etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`,
  async () => {
    const etcd = await startEtcd();
    try {
      await followOn({ dataDir: temporaryDirectory('plat-releases'), store: 'etcd', etcdServers: [etcd.endpoint] }, long);
    } finally {
      await etcd.stop();
    }
  },
  LONGEST_MS,
);
