/** Writers that change objects of their own as fast as they are answered, and record what was answered. */
import type { Random } from '../../../packages/lib/src/random.ts';
import type { Loose } from '../../support/client.ts';
import { type Api, Unanswered } from '../api.ts';
import { type Ledger, type SeenEvent, type Tracked, tokenOf } from './ledger.ts';

export interface Collection {
  readonly path: string;
  make(name: string, token: string, random: Random): Loose;
}
const PADDING = ['', 'x'.repeat(600), 'y'.repeat(9_000)];
const metadata = (name: string, token: string) => ({ name, annotations: { token } });

/** Services are among them because a commit of theirs has several keys: the object and its address. */
export const collections: readonly Collection[] = [
  ...['crash-a', 'crash-b'].map((namespace) => ({
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    make: (name: string, token: string, random: Random) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata(name, token),
      data: { padding: PADDING[random.below(PADDING.length)] },
    }),
  })),
  {
    path: '/api/v1/namespaces/crash-a/secrets',
    make: (name, token) => ({ apiVersion: 'v1', kind: 'Secret', metadata: metadata(name, token), stringData: { value: token } }),
  },
  {
    path: '/api/v1/namespaces/crash-b/services',
    make: (name, token) => ({ apiVersion: 'v1', kind: 'Service', metadata: metadata(name, token), spec: { ports: [{ port: 80 }] } }),
  },
];

/** Events have a time to live: they must stay that long, and once gone never come back. */
export const EVENTS = '/api/v1/namespaces/crash-a/events';
export class EventLedger {
  readonly ttlMs: number;
  readonly events = new Map<string, { readonly begun: number; readonly answered: boolean; gone: boolean }>();
  constructor(ttlMs: number) {
    this.ttlMs = ttlMs;
  }
  /** `now`: when the list had been answered. */
  check(ledger: Ledger, list: Loose, now: number): void {
    const listed = new Set<string>(list.items.map((item: Loose) => item.metadata.name));
    for (const [name, event] of this.events) {
      if (listed.has(name)) {
        if (event.gone) ledger.fault('resurrected', `event ${name}`);
        continue;
      }
      if (event.answered && !event.gone && now < event.begun + this.ttlMs) ledger.fault('lost', `event ${name}`);
      event.gone = true;
    }
  }
}

export interface LoadOptions {
  readonly api: Api;
  readonly ledger: Ledger;
  readonly events: EventLedger;
  readonly random: Random;
  readonly writers: number;
  /** Ends the load when it is aborted; so does a server that does not answer. */
  readonly stop: AbortSignal;
}
/** Objects of one writer in one collection. */
const OBJECTS = 3;
let serial = 0;
const freshToken = (): string => `t${(serial++).toString(36)}`;

export async function load(options: LoadOptions): Promise<void> {
  await Promise.all([
    ...Array.from({ length: options.writers }, (_, writer) => write(options, writer).catch(ignoreUnanswered)),
    writeEvents(options).catch(ignoreUnanswered),
  ]);
}
function ignoreUnanswered(error: unknown): void {
  if (!(error instanceof Unanswered)) throw error;
}

async function write(options: LoadOptions, writer: number): Promise<void> {
  const { ledger, random, stop } = options;
  while (!stop.aborted) {
    const collection = collections[random.below(collections.length)] as Collection;
    const tracked = ledger.tracked(collection.path, `w${writer}-${random.below(OBJECTS)}`);
    if (tracked.pending === undefined) await change(options, collection, tracked);
  }
}

/** One write, chosen at random among those that fit the object's state. */
export async function change({ api, ledger, random }: LoadOptions, collection: Collection, tracked: Tracked): Promise<void> {
  const token = freshToken();
  const path = `${tracked.collection}/${tracked.name}`;
  if (tracked.known === undefined) {
    const before = ledger.begin(tracked, 'create', token);
    const request = { body: collection.make(tracked.name, token, random) };
    return settle(ledger, tracked, 'POST', await api.send('POST', tracked.collection, request), before);
  }
  const dice = random.below(100);
  if (dice < 20) {
    const before = ledger.begin(tracked, 'delete', tracked.known.token);
    return settle(ledger, tracked, 'DELETE', await api.send('DELETE', path), before);
  }
  const before = ledger.begin(tracked, 'update', token);
  if (dice < 45) {
    const body = { metadata: { annotations: { token } } };
    return settle(ledger, tracked, 'PATCH', await api.send('PATCH', path, { body, type: 'application/merge-patch+json' }), before);
  }
  const body = structuredClone(tracked.object);
  body.metadata.annotations.token = token;
  // A guard that is out of date must keep the write out, whatever else happens.
  const stale = dice >= 95;
  if (stale) body.metadata.resourceVersion = String(Math.max(1, tracked.known.revision - 1));
  const answer = await api.send('PUT', path, { body });
  if (stale && answer.status === 409) return ledger.withdraw(tracked);
  if (stale) ledger.fault('revision', `${path}: an update guarded by an old revision was answered with ${answer.status}`);
  settle(ledger, tracked, 'PUT', answer, before);
}

function settle(ledger: Ledger, tracked: Tracked, method: string, { status, body }: { status: number; body: Loose }, before: number): void {
  if (status < 300) ledger.acknowledge(tracked, body, before);
  else {
    // A server that has too much to do says so, and has done nothing.
    if (status !== 429) ledger.fault('refused', `${method} ${tracked.collection}/${tracked.name}: ${status} ${body?.message}`);
    ledger.withdraw(tracked);
  }
}

async function writeEvents({ api, ledger, events, random, stop }: LoadOptions): Promise<void> {
  while (!stop.aborted) {
    const name = `e${freshToken()}`;
    const entry = { begun: Date.now(), answered: false, gone: false };
    events.events.set(name, entry);
    const about = { kind: 'ConfigMap', namespace: 'crash-a', name: 'none' };
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      involvedObject: about,
      reason: 'Test',
      message: 'x'.repeat(random.below(300)),
    };
    const answer = await api.send('POST', EVENTS, { body });
    if (answer.status === 201) {
      events.events.set(name, { ...entry, answered: true });
      ledger.acknowledged++;
    } else if (answer.status !== 429) ledger.fault('refused', `POST ${EVENTS}: ${answer.status} ${answer.body?.message}`);
  }
}

export const seen = ({ type, object }: Loose): SeenEvent => ({
  type,
  name: object.metadata.name,
  token: tokenOf(object),
  revision: Number(object.metadata.resourceVersion),
});
