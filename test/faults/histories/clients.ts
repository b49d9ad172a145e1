/** Clients that use a few objects through all servers, and record what they asked and what they were answered. */
import type { Random } from '../../../packages/lib/src/random.ts';
import type { Loose } from '../../support/client.ts';
import { type Api, type ApiAnswer, type ApiRequest, sleep } from '../api.ts';
import type { Operation, Outcome } from './checker.ts';
import type { Server } from './cluster.ts';
import type { ListRecord, Objects, WriteRecord } from './rules.ts';

export const NAMESPACE = 'histories';
export const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Objects of the histories; others in the namespace are not ours. */
const PREFIX = 'k';
const TIMEOUT_MS = 3_000;
/** Objects that are used at a time, and operations on one before another takes its place. */
const KEYS = 4;
const OPERATIONS = 80;

export interface ObjectHistory {
  readonly name: string;
  readonly operations: Operation[];
  started: number;
  pending: number;
}

const now = (): number => performance.now();
export const tokenOf = (object: Loose): string => object?.data?.token ?? '';
const revisionOf = (object: Loose): number => Number(object.metadata.resourceVersion);
export const isOurs = (name: string): boolean => name.startsWith(PREFIX);
export function objectsOf(list: Loose): Objects {
  const ours = list.items.filter((item: Loose) => isOurs(item.metadata.name));
  return new Map(ours.map((item: Loose) => [item.metadata.name, { token: tokenOf(item), revision: revisionOf(item) }]));
}

export class Histories {
  readonly lists: ListRecord[] = [];
  readonly writes: WriteRecord[] = [];
  /** Where each token was seen written. */
  readonly revisions = new Map<string, number>();
  operations = 0;
  unknown = 0;
  /** Those that are used now, and those whose last operations are under way. */
  readonly active: ObjectHistory[] = [];
  readonly closing = new Set<ObjectHistory>();
  #next = 0;
  #token = 0;

  constructor() {
    while (this.active.length < KEYS) this.active.push(this.#fresh());
  }
  token(): string {
    return `t${(this.#token++).toString(36)}`;
  }
  pick(random: Random): ObjectHistory {
    const index = random.below(KEYS);
    const history = this.active[index] as ObjectHistory;
    if (++history.started >= OPERATIONS) {
      this.active[index] = this.#fresh();
      this.closing.add(history);
    }
    return history;
  }
  record(history: ObjectHistory, operation: Operation): void {
    history.operations.push(operation);
    this.operations++;
    const { outcome, token } = operation;
    if (outcome.type === 'unknown') this.unknown++;
    if (outcome.type === 'found') this.revisions.set(outcome.token, outcome.revision);
    if (outcome.type !== 'done' || token === undefined) return;
    this.revisions.set(token, outcome.revision);
    this.writes.push({ name: history.name, token, revision: outcome.revision, start: operation.start, end: operation.end });
  }
  /** A list is a read of every object that is used. */
  recordList(list: ListRecord): void {
    this.lists.push(list);
    this.operations++;
    for (const { token, revision } of list.objects.values()) this.revisions.set(token, revision);
    if (!list.consistent) return;
    for (const history of [...this.active, ...this.closing]) {
      const found = list.objects.get(history.name);
      const outcome: Outcome = found === undefined ? { type: 'missing' } : { type: 'found', ...found };
      history.operations.push({ kind: 'get', start: list.start, end: list.end, outcome });
    }
  }
  #fresh(): ObjectHistory {
    return { name: `${PREFIX}${this.#next++}`, operations: [], started: 0, pending: 0 };
  }
}

export interface ClientOptions {
  readonly histories: Histories;
  readonly servers: readonly Server[];
  readonly random: Random;
  readonly stop: AbortSignal;
  readonly pauseMs: number;
}

export async function runClient(options: ClientOptions): Promise<void> {
  const { servers, random, stop, pauseMs, histories } = options;
  /** Revisions that this client has seen, for its guards. */
  const seen = new Map<string, number>();
  while (!stop.aborted) {
    const server = servers[random.below(servers.length)] as Server;
    const { api, name } = server;
    if (api === undefined) {
      await sleep(20);
      continue;
    }
    const dice = random.below(100);
    if (dice < 14) await list(histories, api, name, dice < 9);
    else {
      const history = histories.pick(random);
      history.pending++;
      await operate(histories, api, history, dice, seen).finally(() => history.pending--);
    }
    await sleep(random.below(2 * pauseMs));
  }
}

async function list(histories: Histories, api: Api, server: string, consistent: boolean): Promise<void> {
  const start = now();
  const answer = await ask(api, 'GET', consistent ? COLLECTION : `${COLLECTION}?resourceVersion=0`);
  if (answer?.status !== 200) return;
  const end = now();
  histories.recordList({ server, consistent, start, end, revision: revisionOf(answer.body), objects: objectsOf(answer.body) });
}

async function operate(histories: Histories, api: Api, history: ObjectHistory, dice: number, seen: Map<string, number>): Promise<void> {
  const { name } = history;
  const path = `${COLLECTION}/${name}`;
  const known = seen.get(name);
  const start = now();
  const finish = (operation: Omit<Operation, 'start' | 'end'>) => {
    const { outcome } = operation;
    // A delete tells no revision: the guard that is out of date then is tried as well.
    if ((outcome.type === 'found' || outcome.type === 'done') && outcome.revision > 0) seen.set(name, outcome.revision);
    histories.record(history, { ...operation, start, end: now() });
  };
  if (dice < 40) {
    const answer = await ask(api, 'GET', path);
    finish({ kind: 'get', outcome: outcomeOf(answer, false) });
  } else if (dice < 60) {
    const token = histories.token();
    const answer = await ask(api, 'POST', COLLECTION, { body: objectOf(name, token) });
    const exists = answer?.status === 409 && answer.body?.reason === 'AlreadyExists';
    finish({ kind: 'create', token, outcome: exists ? { type: 'exists' } : outcomeOf(answer, true) });
  } else if (dice < 85) {
    const token = histories.token();
    // One in five does not mind what is there.
    const guard = dice < 80 ? known : undefined;
    if (dice < 80 && guard === undefined) return;
    const answer = await ask(api, 'PUT', path, { body: objectOf(name, token, guard) });
    finish({ kind: 'update', token, guard, outcome: outcomeOf(answer, true) });
  } else {
    const guard = dice < 92 ? known : undefined;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { resourceVersion: String(guard) } };
    const answer = await ask(api, 'DELETE', path, guard === undefined ? {} : { body });
    const outcome = outcomeOf(answer, true);
    finish({ kind: 'delete', guard, outcome });
  }
}

const objectOf = (name: string, token: string, revision?: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(revision !== undefined && { resourceVersion: String(revision) }) },
  data: { token },
});

/** Undefined: there was no answer. */
const ask = (api: Api, method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer | undefined> =>
  api.send(method, path, { ...request, timeoutMs: TIMEOUT_MS }).catch(() => undefined);

/** A server that answers with an error of its own may have done it nevertheless. */
function outcomeOf(answer: ApiAnswer | undefined, write: boolean): Outcome {
  if (answer === undefined) return { type: 'unknown' };
  const { status, body } = answer;
  if (status < 300)
    return write
      ? { type: 'done', revision: Number(body?.metadata?.resourceVersion ?? 0) }
      : { type: 'found', token: tokenOf(body), revision: revisionOf(body) };
  if (status === 404) return { type: 'missing' };
  return status === 409 ? { type: 'conflict' } : { type: 'unknown' };
}
