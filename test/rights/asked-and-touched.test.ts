/**
 * What the authorizer is asked is what is touched. Every resource, method and form of path is sent to a whole server, with
 * and without tricks; the authorizer's questions are recorded, what the store was changed by is read from its history, and
 * what was shown is found by marks in the answers, whatever their form. What was touched must be exactly what was asked for.
 */

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { decode } from '../../packages/schema/src/json/index.ts';
import { encodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import type { Attributes, Authorizer } from '../../packages/server/src/auth/types.ts';
import { RECHECK_MS } from '../../packages/server/src/streams/open-streams.ts';
import type { ChangeRecord, Engine } from '../../packages/storage/src/engine.ts';
import { startWorld as startExtensions } from '../aggregation/support.ts';
import type { Client, Loose, OpenAnswer } from '../support/client.ts';
import { define, definitionOf } from '../support/custom.ts';
import { kinds, readExamples, servedVersions } from '../support/examples.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const asked: Attributes[] = [];
const recording = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  authorize: (attributes) => {
    asked.push(attributes);
    return authorizer.authorize(attributes);
  },
});

/** Watches that are open are not checked again from time to time: the question would be taken for one of the next request. */
const withoutRechecks: Clock = {
  ...systemClock,
  every: (millis, call) => (millis === RECHECK_MS ? () => {} : systemClock.every(millis, call)),
};

/** A resource as paths name it, and where its objects stand in the store. */
interface Subject {
  readonly root: string;
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
  readonly prefix: string;
  readonly object: Loose;
  readonly name: string;
  /** Absent for custom kinds, which have no binary form. */
  readonly schema: MessageType | undefined;
  /** The version of its kind with which everything is tried. */
  readonly preferred: boolean;
}
interface Stored {
  readonly prefix: string;
  readonly namespace: string;
  readonly name: string;
}

/** The server itself acts on changes of these: kinds would go and come back, statuses follow. Their writes have a test of their own. */
const unquiet = new Set(['customresourcedefinitions', 'apiservices', 'flowschemas', 'prioritylevelconfigurations']);
const CUSTOM = 'rights.example.com';
const NAMESPACES = ['alpha', 'beta'] as const;
/** Verbs that show objects, and those that change them. */
const shows = new Set(['get', 'list', 'watch']);

class Case {
  readonly server: TestServer;
  readonly engine: Engine;
  readonly subjects: Subject[] = [];
  private readonly values = new Map<string, Buffer>();
  private readonly prefixes = new Map<string, boolean>();
  private readonly seeded = new Map<string, readonly Stored[]>();
  /** What keys stand for, once it was found. */
  private readonly places = new Map<string, Stored>();

  constructor(server: TestServer) {
    this.server = server;
    this.engine = server.engine;
  }

  /** Makes an object of every kind in both namespaces, each marked with where it is. */
  async seed(everyVersion: boolean): Promise<void> {
    const { admin } = this.server;
    for (const name of NAMESPACES)
      await admin.ok('POST', '/api/v1/namespaces', { metadata: { name, annotations: { mark: mark('core/namespaces/', '', name) } } });
    await this.seedBuiltin(everyVersion);
    await this.seedCustom();
    const { entries } = await this.engine.range({ prefix: '' });
    for (const { key, value } of entries) this.values.set(key, value);
  }

  private async seedBuiltin(everyVersion: boolean): Promise<void> {
    const examples = readExamples().filter(({ file }) => !file.startsWith('requests'));
    const prefixOf = ({ sharesStoreOf, group, plural }: (typeof kinds)[number]): string =>
      sharesStoreOf === undefined
        ? `${group === '' ? 'core' : group}/${plural}/`
        : `${sharesStoreOf.group || 'core'}/${sharesStoreOf.plural}/`;
    for (const { object, path, served } of examples) {
      if (served.kind.plural === 'namespaces') continue;
      for (const namespace of served.kind.namespaced ? NAMESPACES : ['']) await this.make(path, object, prefixOf(served.kind), namespace);
    }
    for (const kind of kinds) {
      const prefix = prefixOf(kind);
      if (!kind.virtual) this.prefixes.set(prefix, kind.namespaced);
      const example = examples.find(({ served }) => served.kind.group === kind.group && served.kind.plural === kind.plural);
      const object = kind.plural === 'namespaces' ? { metadata: { name: 'alpha' } } : example?.object;
      for (const [i, served] of servedVersions(kind)
        .slice(0, everyVersion ? undefined : 1)
        .entries()) {
        const root = served.group === '' ? `/api/${served.version}` : `/apis/${served.group}/${served.version}`;
        const name = object?.metadata.name ?? 'nobody';
        const subresources = Object.keys(kind.subresources);
        this.subjects.push({
          root,
          group: served.group,
          plural: kind.plural,
          namespaced: kind.namespaced,
          subresources,
          prefix,
          object,
          name,
          schema: served.schema,
          preferred: i === 0,
        });
      }
    }
  }

  /** Among them kinds whose names are words of paths. */
  private async seedCustom(): Promise<void> {
    for (const [kind, scope] of [
      ['Crate', 'Namespaced'],
      ['Yard', 'Cluster'],
      ['Namespace', 'Namespaced'],
      ['Watch', 'Cluster'],
    ] as const) {
      const definition = definitionOf(
        this.server,
        CUSTOM,
        kind,
        [{ schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, subresources: { status: {} } }],
        { scope },
      );
      await define(this.server, definition);
      const { plural } = definition.spec.names;
      const prefix = `~${CUSTOM}/${plural}/`;
      const namespaced = scope === 'Namespaced';
      this.prefixes.set(prefix, namespaced);
      const object = { apiVersion: `${CUSTOM}/v1`, kind, metadata: { name: 'alpha' } };
      const root = `/apis/${CUSTOM}/v1`;
      for (const namespace of namespaced ? NAMESPACES : [''])
        await this.make(`${root}/${namespaced ? 'namespaces/x/' : ''}${plural}`, object, prefix, namespace);
      this.subjects.push({
        root,
        group: CUSTOM,
        plural,
        namespaced,
        subresources: ['status'],
        prefix,
        object,
        name: 'alpha',
        schema: undefined,
        preferred: true,
      });
    }
  }

  private async make(path: string, given: Loose, prefix: string, namespace: string): Promise<void> {
    const object = JSON.parse(jsonText(given).replaceAll('"namespace":"shop"', `"namespace":"${namespace || 'shop'}"`));
    object.metadata.annotations = { ...object.metadata.annotations, mark: mark(prefix, namespace, object.metadata.name) };
    if (namespace !== '') object.metadata.namespace = namespace;
    const answer = await this.server.admin.post(path.replace(/namespaces\/[^/]+/, `namespaces/${namespace}`), object);
    expect(answer.status, `${path}: ${answer.text}`).toBe(201);
  }

  /** Sends a request; answers what was asked, what was shown and what was changed, and undoes the change. */
  async run(client: Client, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Outcome> {
    const before = this.engine.revision;
    asked.length = 0;
    const patch: Record<string, string> = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const open = await client.open(method, path, { headers: { ...patch, ...headers }, ...(body !== undefined && { body }) });
    const questions = asked.filter(({ verb }) => verb !== 'impersonate');
    const expected = questions[0] === undefined ? [] : this.covered(questions[0]);
    const text = await readAnswer(open, questions[0]?.verb === 'watch', expected.map(markOf).filter((one) => marked.has(one)).length);
    // A stream goes on by itself; the connection of any other answer serves the next request.
    if (questions[0]?.verb === 'watch') open.destroy();
    const changes = (await this.engine.changes({ after: before, prefix: '' })).filter(({ key }) => this.storedAt(key) !== undefined);
    await this.undo(changes);
    const changed = [...new Set(changes.map(({ key }) => key))].map((key) => this.storedAt(key) as Stored);
    return { status: open.status, text, questions: [...asked], shown: marks(text), changed, expected };
  }

  /** Every stored object that a question is about. */
  covered({ group, resource, namespace, name, resourceRequest }: Attributes): Stored[] {
    const subject = resourceRequest ? this.subjects.find((one) => one.group === group && one.plural === resource) : undefined;
    if (subject === undefined) return [];
    const all = this.seededBelow(subject.prefix);
    // Rights in a namespace reach that namespace itself, and no other.
    const inside = (one: Stored): boolean =>
      namespace === '' || (resource === 'namespaces' && group === '' ? one.name : one.namespace) === namespace;
    return all.filter((one) => inside(one) && (name === '' || one.name === name));
  }

  /** What was there before the first request. */
  private seededBelow(prefix: string): readonly Stored[] {
    let all = this.seeded.get(prefix);
    if (all === undefined) {
      all = [...this.values.keys()].flatMap((key) => (key.startsWith(prefix) ? [this.storedAt(key) as Stored] : []));
      this.seeded.set(prefix, all);
    }
    return all;
  }

  private storedAt(key: string): Stored | undefined {
    let place = this.places.get(key);
    if (place === undefined) {
      place = this.placeOf(key);
      if (place !== undefined) this.places.set(key, place);
    }
    return place;
  }
  private placeOf(key: string): Stored | undefined {
    for (const [prefix, namespaced] of this.prefixes) {
      if (!key.startsWith(prefix)) continue;
      const [namespace = '', name = ''] = namespaced ? key.slice(prefix.length).split('/') : ['', key.slice(prefix.length)];
      return { prefix, namespace, name };
    }
    return undefined;
  }

  private async undo(changes: readonly ChangeRecord[]): Promise<void> {
    const keys = [...new Set(changes.map(({ key }) => key))];
    if (keys.length === 0) return;
    await this.engine.commit(
      keys.map((key) => {
        const value = this.values.get(key);
        return value === undefined ? { type: 'delete', key } : { type: 'put', key, value };
      }),
    );
  }
}

/** A watch goes on: what it begins with comes in one piece. */
async function readAnswer({ status, body }: OpenAnswer, isWatch: boolean, expected: number): Promise<string> {
  let text = '';
  if (isWatch && status === 200 && expected === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    return String(body.read() ?? '');
  }
  for await (const chunk of body) {
    text += (chunk as Buffer).toString('latin1');
    if (isWatch && status === 200 && marks(text).length >= expected) break;
  }
  return text;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly questions: readonly Attributes[];
  readonly shown: readonly string[];
  readonly changed: readonly Stored[];
  readonly expected: readonly Stored[];
}

const mark = (prefix: string, namespace: string, name: string): string => `mark<${prefix}|${namespace}|${name}>`;
const markOf = ({ prefix, namespace, name }: Stored): string => mark(prefix, namespace, name);
/** Marks in an answer of any form; JSON writes the brackets in its own way. */
const marks = (text: string): string[] =>
  [
    ...new Set(
      text
        .replace(/\\u003c/g, '<')
        .replace(/\\u003e/g, '>')
        .match(/mark<[^>]*>/g) ?? [],
    ),
  ].sort();

/** The first of `pathsOf` are without tricks. */
const GOOD_PATHS = 4;
/** Forms of paths to a resource, good and bad. */
function pathsOf({ root, plural, name, namespaced }: Subject): string[] {
  const below = `${root}/namespaces/alpha/${plural}`;
  const other = namespaced ? 'beta' : 'default';
  const good = [`${root}/${plural}`, `${root}/${plural}/${name}`, below, `${below}/${name}`];
  const tricks = [
    `${root}/namespaces/${other}/${plural}/${name}`,
    `${root}/namespaces//${plural}`,
    `${root}//${plural}`,
    `${below}/`,
    `${below}/${name}/`,
    `${below}//${name}`,
    `${root}/${plural}/${name}//x`,
    `${root}/${plural}/${name}/x/y`,
    `${root}/namespaces/alpha%2F${plural}/${name}`,
    `${root}/namespaces/alpha/${plural}%2F${name}`,
    `${root}/%6eamespaces/alpha/${plural}/${name}`,
    `${root}/namespaces/alpha/../beta/${plural}`,
    `${root}/namespaces/alpha%2f..%2fbeta/${plural}`,
    `${root}/namespaces/./${plural}/${name}`,
    `${root}/namespaces/alpha/namespaces/beta/${plural}/${name}`,
    `${root}/namespaces/alpha/namespaces/beta`,
    `${root}/namespaces/alpha/status/${plural}`,
    `${root}/proxy/${plural}/${name}`,
  ];
  return [...good, ...tricks];
}
/** Forms that are only read. */
function readsOf({ root, plural, name }: Subject): string[] {
  const below = `${root}/namespaces/alpha/${plural}`;
  const named = `metadata.name%3D${name}`;
  return [
    `${root}/watch/${plural}`,
    `${root}/watch/${plural}/${name}`,
    `${root}/watch/namespaces/alpha/${plural}`,
    `${root}/watch/namespaces/alpha/${plural}/${name}`,
    `${root}/watch/namespaces/alpha/${plural}/${name},metadata.namespace!=x`,
    `${root}/watch/namespaces/alpha`,
    `${root}/${plural}?watch=1`,
    `${below}?watch=true&watch=false`,
    `${below}?watch=false&watch=true`,
    `${root}/${plural}?fieldSelector=${named}`,
    `${below}?fieldSelector=${named}`,
    `${below}?fieldSelector=metadata.namespace%3Dbeta`,
    `${root}/${plural}?fieldSelector=${named},metadata.name%3Dother`,
    // An escaped comma begins no requirement: what follows is part of a value.
    `${root}/${plural}?fieldSelector=metadata.namespace!%3Dx%5C,${named}`,
    `${below}?fieldSelector=metadata.namespace!%3Dx%5C,${named}&watch=1`,
    `${root}/${plural}?fieldSelector=metadata.name!%3Dx&fieldSelector=${named}`,
  ];
}

/** As `expect(value).toEqual(wanted)`, with a message that is made where they differ: very much is compared here. */
function same(value: unknown, wanted: unknown, where: () => string): void {
  if (!isDeepStrictEqual(value, wanted)) expect(value, where()).toEqual(wanted);
}

function check(outcome: Outcome, method: string, path: string): void {
  const { status, questions, shown, changed, expected } = outcome;
  const where = (): string => `${method} ${path} → ${status}, asked ${JSON.stringify(questions.map(({ user: _, ...rest }) => rest))}`;
  // No request here is the server's fault.
  same(status === 500, false, () => `${where()}: ${outcome.text.slice(0, 500)}`);
  const question = questions.find(({ verb }) => verb !== 'impersonate');
  if (question === undefined) {
    same([shown, changed], [[], []], where);
    return;
  }
  const covered = expected.map(markOf).sort();
  const isRead = shows.has(question.verb);
  if (isRead) same(changed, [], where);
  // A namespace stands in for itself; anything else that is asked for in a namespace is of that namespace.
  for (const one of changed) {
    same(one.prefix, prefixOfQuestion(question), where);
    const inside = question.resource === 'namespaces' && question.group === '' ? one.name : one.namespace;
    if (question.namespace !== '') same(inside, question.namespace, where);
    if (question.name !== '') same(one.name, question.name, where);
  }
  // A selector may leave out more than the authorizer was told of.
  const narrowed = path.includes('fieldSelector') && !/fieldSelector=metadata\.name%3D[^,&]*$/.test(path);
  if (status === 200 && isRead && method === 'GET' && question.subresource === '' && !narrowed)
    same(
      shown,
      covered.filter((one) => marked.has(one)),
      where,
    );
  else for (const one of shown) same(covered.includes(one) || changed.map(markOf).includes(one), true, () => `${where()}: shows ${one}`);
  if (status === 200 && question.verb === 'deletecollection') same(changed.map(markOf).sort(), covered, where);
  if (question.verb !== 'deletecollection' && question.verb !== 'create') same(changed.length <= 1, true, where);
}

let world: Case;
/** Objects that carry their mark: those that were there before do not. */
let marked: ReadonlySet<string>;
const prefixOfQuestion = ({ group, resource }: Attributes): string | undefined =>
  world.subjects.find((one) => one.group === group && one.plural === resource)?.prefix;

describe.each(['memory', 'lmdb'] as const)('on %s', { timeout: 120_000 }, (store) => {
  beforeAll(async () => {
    const server = await startTestServer({
      identity: 'kubernetes',
      // With a connection on the other store, whose paths Node takes apart first.
      direct: store === 'memory',
      store,
      controllers: [],
      clock: withoutRechecks,
      wrapAuthorizer: recording,
      disableAdmissionPlugins: ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook', 'ResourceQuota', 'LimitRanger', 'ServiceAccount'],
    });
    world = new Case(server);
    await world.seed(store === 'memory');
    const { entries } = await server.engine.range({ prefix: '' });
    marked = new Set(marks(entries.map(({ value }) => value.toString('latin1')).join('\n')));
  });
  afterAll(() => world.server.close());
  // Above the store all is the same: there a part of the kinds will do.
  const isSampled = ({ plural, group }: Subject, i: number): boolean =>
    store === 'memory' || group === CUSTOM || plural === 'namespaces' || i % 9 === 0;

  /** Paths are taken apart before their kind is known, so that tricks with them are tried with some of the kinds: custom ones, and each fifth. */
  const triedPaths = (subject: Subject): string[] => {
    const { group, plural, preferred } = subject;
    const preferredOnes = world.subjects.filter((one) => one.preferred);
    const isTricked = preferred && (group === CUSTOM || plural === 'namespaces' || preferredOnes.indexOf(subject) % 5 === 0);
    return pathsOf(subject).slice(0, isTricked ? undefined : GOOD_PATHS);
  };

  test('there is something to touch', () => {
    expect(world.subjects.length).toBeGreaterThan(50);
    expect(marked.size).toBeGreaterThan(70);
  });

  test('reads show what was asked for', async () => {
    const { admin } = world.server;
    for (const subject of world.subjects.filter(isSampled))
      for (const path of [...triedPaths(subject), ...(subject.preferred ? readsOf(subject) : [])])
        check(await world.run(admin, 'GET', path), 'GET', path);
  });

  test('writes change what was asked for', async () => {
    const { admin } = world.server;
    for (const subject of world.subjects.filter(isSampled)) {
      if (unquiet.has(subject.plural)) continue;
      for (const [i, path] of triedPaths(subject).entries()) {
        // Every good path with every method; of tricks each with two, in turn.
        const methods = i < GOOD_PATHS ? ['POST', 'PUT', 'PATCH', 'DELETE'] : i % 2 === 0 ? ['POST', 'PATCH'] : ['PUT', 'DELETE'];
        for (const method of methods) {
          const made = { ...subject.object, metadata: { ...subject.object?.metadata, ...(method === 'POST' && { name: 'made' }) } };
          const change = { metadata: { annotations: { changed: 'yes' } } };
          const body = method === 'DELETE' ? undefined : method === 'PATCH' ? change : made;
          check(await world.run(admin, method, path, body), method, path);
        }
      }
    }
  });

  test('writes in the binary form change what was asked for', async () => {
    const { admin } = world.server;
    let done = 0;
    for (const { schema, object, root, plural, name, namespaced, preferred } of world.subjects.filter(isSampled)) {
      if (schema === undefined || object === undefined || !preferred || unquiet.has(plural)) continue;
      const at = `${root}/${namespaced ? 'namespaces/alpha/' : ''}${plural}`;
      const inside = namespaced ? { namespace: 'alpha' } : {};
      for (const [method, path, metadata] of [
        ['POST', at, { ...inside, name: 'made' }],
        ['PUT', `${at}/${name}`, { ...inside, name }],
        // What the body says of its place is not where it goes.
        ['POST', at, { name: 'made', namespace: 'beta' }],
        ['PUT', `${at}/${name}`, { ...inside, name: 'other' }],
      ] as const) {
        const message = decode(schema, JSON.parse(jsonText({ ...object, metadata: { ...object.metadata, ...metadata } })));
        const body = encodeObject(schema, message as { kind?: string; apiVersion?: string });
        const outcome = await world.run(admin, method, path, body, { 'content-type': 'application/vnd.kubernetes.protobuf' });
        check(outcome, method, path);
        if (outcome.changed.length > 0) done++;
      }
    }
    expect(done).toBeGreaterThan(store === 'memory' ? 40 : 3);
  });

  test('subresources, real ones and others', async () => {
    const { admin } = world.server;
    const others = ['status', 'scale', 'proxy', 'log', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'é'];
    for (const subject of world.subjects.filter(isSampled)) {
      const base = `${subject.root}/${subject.namespaced ? 'namespaces/alpha/' : ''}${subject.plural}/${subject.name}`;
      for (const sub of new Set([...subject.subresources, ...others])) {
        const path = `${base}/${encodeURIComponent(sub)}`;
        const isOwn = subject.subresources.includes(sub);
        for (const method of isOwn ? ['GET', 'PATCH', 'PUT', 'POST'] : ['GET']) {
          // Streams and proxies lead elsewhere, and have tests of their own.
          if (['exec', 'attach', 'portforward', 'proxy', 'log'].includes(sub) && isOwn) continue;
          const body =
            method === 'GET' ? undefined : method === 'PATCH' ? { metadata: { annotations: { changed: 'yes' } } } : subject.object;
          const outcome = await world.run(admin, method, path, body);
          check(outcome, method, path);
          if (!isOwn) expect(outcome.status, path).toBe(404);
        }
      }
    }
  });

  test('the binary form, YAML and Tables show the same; impersonation asks for the other user', async () => {
    const { admin } = world.server;
    const forms = ['application/vnd.kubernetes.protobuf', 'application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io'];
    for (const subject of world.subjects.filter(isSampled).filter(({ group }) => group !== CUSTOM)) {
      for (const accept of forms) {
        const path = `${subject.root}/${subject.plural}`;
        check(await world.run(admin, 'GET', path, undefined, { accept }), 'GET', path);
      }
      const path = subject.namespaced ? `${subject.root}/namespaces/beta/${subject.plural}` : `${subject.root}/${subject.plural}`;
      const { questions } = await world.run(admin, 'GET', path, undefined, {
        'impersonate-user': 'alice',
        'impersonate-group': 'system:masters',
      });
      expect(questions.map(({ user, verb, resource }) => [user.name, verb, resource])).toEqual([
        ['admin', 'impersonate', 'users'],
        ['admin', 'impersonate', 'groups'],
        ['alice', expect.stringMatching(/^(get|list)$/), subject.plural],
      ]);
    }
  });

  // The last: what the server does of itself goes on for a moment.
  test('writes of kinds that the server itself acts on', async () => {
    const { admin, engine } = world.server;
    const group = 'acted.example.com';
    const definition = definitionOf(world.server, group, 'Act', [{ schema: { type: 'object' } }], { scope: 'Cluster' });
    const rules = [
      {
        subjects: [{ kind: 'Group', group: { name: 'nobody' } }],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/nowhere'] }],
      },
    ];
    const level = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };
    const service = {
      group: 'other.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
    };
    const objects: Record<string, Loose> = {
      customresourcedefinitions: definition,
      apiservices: { metadata: { name: 'v1.other.example.com' }, spec: { ...service, service: { name: 's', namespace: 'alpha' } } },
      flowschemas: { metadata: { name: 'acted' }, spec: { priorityLevelConfiguration: { name: 'exempt' }, rules } },
      prioritylevelconfigurations: { metadata: { name: 'acted' }, spec: level },
    };
    for (const subject of world.subjects.filter(({ plural, preferred }) => preferred && unquiet.has(plural))) {
      const object = objects[subject.plural];
      const { name } = object.metadata;
      const at = `${subject.root}/${subject.plural}`;
      const send = async (method: string, path: string, body?: unknown): Promise<[number, string[]]> => {
        const before = engine.revision;
        asked.length = 0;
        const headers: Record<string, string> = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
        const answer = await admin.send(method, path, { headers, ...(body !== undefined && { body }) });
        const changes = await engine.changes({ after: before, prefix: subject.prefix });
        const questions = asked.map(({ verb, resource, subresource }) => [verb, resource, subresource].join(' ').trim());
        expect(answer.status, `${method} ${path}: ${answer.text}`).not.toBe(500);
        // What the server does of itself it does to what changed, and to what hangs on it.
        for (const { key } of changes) expect(key.slice(subject.prefix.length), `${method} ${path}`).toBe(name);
        return [answer.status, questions];
      };
      const note = { metadata: { annotations: { changed: 'yes' } } };
      expect(await send('POST', at, object)).toEqual([201, [`create ${subject.plural}`]]);
      expect(await send('PATCH', `${at}/${name}`, note)).toEqual([200, [`patch ${subject.plural}`]]);
      expect(await send('PATCH', `${at}/${name}/status`, note)).toEqual([200, [`patch ${subject.plural} status`]]);
      const now = await admin.ok('GET', `${at}/${name}`);
      const [status, questions] = await send('PUT', `${at}/${name}`, { ...now, metadata: { ...now.metadata, labels: { acted: 'yes' } } });
      // Its status may have been written in between.
      expect([[200, 409].includes(status), questions]).toEqual([true, [`update ${subject.plural}`]]);
      for (const method of ['PATCH', 'DELETE', 'PUT'])
        for (const path of [
          `${subject.root}/namespaces/alpha/${subject.plural}/${name}`,
          `${at}/${name}/nothing`,
          `${at}/x%2F..%2F${name}`,
        ])
          expect((await send(method, path, method === 'DELETE' ? undefined : object))[0], `${method} ${path}`).toBeGreaterThanOrEqual(400);
      await admin.patch(`${at}/${name}`, { metadata: { labels: { acted: 'yes' } } });
      expect(await send('DELETE', `${at}?labelSelector=acted%3Dyes`)).toEqual([200, [`deletecollection ${subject.plural}`]]);
    }
  });
});

test('a server behind this one is sent the path that was asked for', async () => {
  const extensions = await startExtensions({ wrapAuthorizer: recording });
  const extension = await extensions.extend();
  const { base, group } = extension;
  const seen: string[] = [];
  extension.answer = (req, res) => {
    seen.push(req.url ?? '');
    res.end('{}');
  };
  const paths = [
    'things',
    'things/a',
    'namespaces/alpha/things',
    'namespaces/alpha/things/a',
    'namespaces/alpha/things/a/status',
    'namespaces/alpha',
    'watch/namespaces/alpha/things',
    'namespaces/alpha%2Fthings',
    'namespaces/alpha%2f..%2fbeta/things',
    'namespaces/alpha/../beta/things',
    'namespaces/%2e%2e/things',
    'namespaces/alpha%252fthings/a',
    'namespaces/alpha/things/a%3Fwatch=1',
    'namespaces/alpha/things/a%23b',
    'namespaces//things',
    'namespaces/alpha//things',
    '__proto__/constructor',
    'namespaces/alpha/things;x=y/a',
    'namespaces/alpha/things\\..\\x',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'DELETE', 'POST']) {
      asked.length = 0;
      seen.length = 0;
      const answer = await extensions.server.admin.send(method, `${base}/${path}`);
      const question = asked.find((one) => one.group === group || one.path.startsWith(base)) as Attributes;
      expect(question, path).toBeDefined();
      if (answer.status >= 400) {
        expect(seen, path).toEqual([]);
        continue;
      }
      expect(seen, path).toHaveLength(1);
      // Read as a server that takes paths apart before it decodes them.
      const parts = (seen[0] as string)
        .split('?')[0]
        ?.slice(base.length + 1)
        .split('/')
        .map(decodeURIComponent) as string[];
      expect(
        parts.some((part) => part === '.' || part === '..'),
        path,
      ).toBe(false);
      const rest = parts[0] === 'watch' ? parts.slice(1) : parts;
      const inside = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] as string);
      const [resource, name = '', sub = ''] = inside ? rest.slice(2) : rest;
      expect([question.resource, question.name, question.subresource], path).toEqual([resource, name, sub]);
      if (inside) expect(question.namespace, path).toBe(rest[1]);
    }
  }
  await extensions.close();
});
