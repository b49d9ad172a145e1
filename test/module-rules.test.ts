/**
 * What no module may take from the process behind the back of whoever starts a server: time, chance, the environment, and
 * state that outlives a server. Each exception stands here with its reason.
 */
import { expect, test } from 'vitest';
import { codeOnly } from './support/code-only.ts';
import { moduleState } from './support/module-state.ts';
import { productFiles, readSource } from './support/sources.ts';

type Exceptions = Readonly<Record<string, string>>;
interface Source {
  readonly file: string;
  readonly text: string;
  /** Without comments, texts and regular expressions. */
  readonly code: string;
}
const source = (file: string, text: string): Source => ({ file, text, code: codeOnly(text) });

const sources = productFiles.map((file) => source(file, readSource(file)));

/** `lib/x.ts:3 Date.now` for each match of a rule: in the code, or where it names a module in the imports. */
function offences({ file, text, code }: Source, rule: Rule): string[] {
  const found = rule.code === undefined ? [] : [...code.matchAll(rule.code)];
  if (rule.module !== undefined) found.push(...text.matchAll(new RegExp(`(?<=\\bfrom |\\bimport\\()'(?:${rule.module.source})'`, 'g')));
  const line = (index: number): number => text.slice(0, index).split('\n').length;
  return found.map((match) => `${file}:${line(match.index)} ${match[0]}`);
}
interface Rule {
  readonly code?: RegExp;
  readonly module?: RegExp;
}
/** A name that ends with a slash stands for all files of a folder. */
const isException = (exceptions: Exceptions, file: string): boolean =>
  Object.keys(exceptions).some((name) => (name.endsWith('/') ? file.startsWith(name) : file === name));

function holds(rule: Rule, exceptions: Exceptions): void {
  expect(sources.filter(({ file }) => !isException(exceptions, file)).flatMap((one) => offences(one, rule))).toEqual([]);
  const needed = (name: string): boolean => sources.some((one) => isException({ [name]: '' }, one.file) && offences(one, rule).length > 0);
  expect(
    Object.keys(exceptions).filter((name) => !needed(name)),
    'exceptions that nothing needs any more',
  ).toEqual([]);
}

/** Clocks and timers of the machine. `socket.setTimeout` is none: it is the silence of a connection, which no clock can pass. */
const rawTime: Rule = {
  code: /(?<![.\w])set(?:Timeout|Interval|Immediate)\b(?= *[(,;)])|\bDate\.now\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bAbortSignal\.timeout\b|\bnew Date\(\)/g,
  module: /(?:node:)?timers(?:\/promises)?/,
};
test('time comes from a clock that is passed in', () => {
  holds(rawTime, {
    'lib/clock.ts': 'the clock of the machine is made here',
    'lib/next-turn.ts': 'turns of the event loop, in which no time need pass',
  });
});

const rawChance: Rule = { code: /\bMath\.random\b|(?<![.\w])(?:randomBytes|randomUUID|randomInt|randomFill|getRandomValues)\b/g };
test('chance comes from a source that is passed in', () => {
  holds(rawChance, {
    'lib/random.ts': 'the randomness of the machine is made here',
    'client/connect.ts': 'spreads the retries of a client that is given no source, also where there is no node:crypto',
    'pki/certificate.ts': 'serial numbers of certificates: never made of a seed',
    'pki/files.ts': 'names of temporary files, which nobody may guess',
    'server/auth/secret.ts': 'the salt of hashes of secrets: never made of a seed',
  });
});

/** The values that stand for the machine are for whoever starts something; all others are given theirs. */
const machineValues: Rule = { code: /\b(?:systemClock|commandClock|systemRandom)\b/g };
test('the clock and the randomness of the machine are named where something is started', () => {
  holds(machineValues, {
    'cli/': 'a command starts things',
    'console/main.tsx': 'the page starts here',
    'testing/': 'a test server is started by whoever tests',
    'compose/server.ts': 'of a server that is given none',
    'compose/store/store-tools.ts': 'a tool is started by a command',
    'compose/store/store-export.ts': 'a tool is started by a command',
    'compose/store/reencrypt.ts': 'a tool is started by a command',
    'client/connect.ts': 'of a client that is given none',
    'client/node.ts': 'whoever reads a configuration file starts a client',
    'storage/engines/memory.ts': 'of a store that is given none',
    'storage/engines/lmdb.ts': 'of a store that is given none',
    'storage/engines/lmdb/lock.ts': 'servers wait for each other by the clock of the machine, under names that none of them chooses',
    'storage/engines/lmdb/tables.ts': 'of a store that is given none',
    'storage/engines/etcd.ts': 'of a store that is given none; and deadlines of calls to etcd pass by the clock of the machine',
    'lib/clock.ts': 'it is made here',
    'lib/random.ts': 'it is made here',
    'lib/log.ts': 'of a log that is given none',
    'server/connections/listen.ts': 'connections are idle, and heads of requests late, by the clock that clients live by',
    'lib/slices.ts': 'work takes its time also where the clock of a server is held still',
    'server/http-client/peer-trust.ts': 'certificates of other servers are valid by the clock by which OpenSSL checks them',
  });
});

/** Effects on the process, and reads of its environment. */
const processEffects: Rule = {
  code: /(?<![.\w])process\.(?!(?:platform|arch|version|versions|pid|getuid|memoryUsage|cpuUsage|uptime|nextTick)\b)\w+/g,
  module: /(?:node:)?process/,
};
test('only commands have an effect on the process, or read its environment', () => {
  holds(processEffects, {
    'cli/': 'a command is the process',
    'testing/install.ts': 'files that a test names are relative to where it runs',
    'server/audit/log-file.ts': '--audit-log-path=- writes to standard output',
    'lib/frozen.ts': 'a matter of how tests are run: vitest.config.ts sets the variable before any module is loaded',
  });
});

/** `mkdir` with `recursive` never returns on some file systems (lib/files/directories.ts). */
test('directories are made by lib/files/directories.ts', () => {
  holds({ code: /\bmkdir(?:Sync)?\([^;]*?\brecursive\b/g }, {});
});

/** JSON.parse rounds integers beyond 2^53. */
test('values of users are parsed by schema/json/parse.ts, which keeps integers of 64 bits', () => {
  const own = 'a file of our own';
  const known = 'only fields that are named there are read, none of which is such an integer';
  holds(
    { code: /\bJSON\.parse\(/g },
    {
      'schema/json/parse.ts': 'it is done here',
      'schema/json/parser.ts': 'texts',
      'schema/json/spelled-integers.ts': 'texts',
      'server/admission/plugins/pods/image-policy-webhook.ts': known,
      'server/auth/webhook/call.ts': known,
      'server/auth/oidc/keys.ts': known,
      'cli/auth/whoami.ts': 'texts',
      'cli/background/': own,
      'cli/pods/remote-command.ts': known,
      'cli/top/usage.ts': known,
      'client/discovery-cache.ts': own,
      'client/exec-plugin.ts': known,
      'client/oidc-provider.ts': known,
      'client/transport.ts': 'a Status is read here; answers are parsed exactly',
      'console/': 'what pages show of objects; an object that is edited is read as text',
      'console-gateway/': known,
      'kinds/core/node-rules.ts': known,
      'kinds/validation/pods/pod-annotations.ts': known,
      'pki/jwt.ts': known,
      'meta/identity-file.ts': known,
      'server/extension/aggregation/remote-resources.ts': known,
      'server/registry/bootstrap/server-endpoints.ts': known,
      'server/request-log.ts': 'only types of values are shown',
      'storage/backup/read.ts': known,
      'storage/encryption/object-of-key.ts': known,
      'storage/engines/etcd/history-sweep.ts': 'a record of our own',
      'storage/engines/lmdb/': own,
      'storage/store-mark.ts': own,
    },
  );
});

test('the rules find what is added, and nothing in comments and texts', () => {
  const text = [
    "import { setTimeout as wait } from 'node:timers/promises';",
    '// Date.now() and setTimeout(call, 1)',
    '/* Math.random()',
    '   process.exit() */',
    `const text = 'Date.now()' + "setInterval(" + \`new Date() \${performance.now() + \`\${Date.now()} Math.random()\`} setImmediate(\`;`,
    'const pattern = /Math.random|[/"]/.test(text) ? 4 / 2 / 1 : 0; const late = setTimeout(call, 1);',
    'socket.setTimeout(5); clock.setInterval; const at = new Date(5);',
    'const now = new Date(); const chance = Math.random(); process.exitCode = 1; if (process.env.A) process.on(signal, end);',
    "mkdirSync(path, { mode: 0o700, recursive: true }); await mkdir(path); const { platform } = process; process.platform === 'x';",
  ].join('\n');
  const added = source('a.ts', text);
  expect(offences(added, rawTime)).toEqual([
    'a.ts:5 performance.now',
    'a.ts:5 Date.now',
    'a.ts:6 setTimeout',
    'a.ts:8 new Date()',
    "a.ts:1 'node:timers/promises'",
  ]);
  expect(offences(added, rawChance)).toEqual(['a.ts:8 Math.random']);
  expect(offences(added, processEffects)).toEqual(['a.ts:8 process.exitCode', 'a.ts:8 process.env', 'a.ts:8 process.on']);
  expect(sources.length).toBeGreaterThan(500);
});

/**
 * State of modules: caches that hold nothing of a server, and buffers that are empty between two calls. Tables that go with
 * the objects they are about (WeakMap, WeakSet) need no place here.
 */
const bounded = 'a bounded cache of what a text or a number means, the same for every server';
const scratch = 'used within one call and never across two, so that nothing is left in it for others';
const constant = 'never changes once the module is loaded';
const stateExceptions: Exceptions = {
  'testing/requests.ts courses': 'holds data only while a request is served, which names its server',
  'testing/requests.ts users': 'the test servers that are open, so that nothing is left of the last one',
  'server/admission/pod-security/evaluate.ts rulesByKey': 'rules by level and version, of which there are few',
  'server/history/note.ts writerTexts': bounded,
  'server/admission/pod-security/policy.ts labelNames': 'names by identity, of which there are two',
  'cel/environment.ts environments': 'by release, of which there are few',
  'kinds/apiextensions/cel/rule-release.ts releases': 'by release, of which there are few',
  'kinds/expressions/environments.ts environments': 'by release, of which there are few',
  'kinds/feature-gates-in-release.ts tables': 'by release, of which there are few',
  'kinds/kind-in-release.ts kindsByRelease': 'kinds by release, of which there are few',
  'schema/releases.ts projections': 'schemas by release, of which there are few',
  'cli/executable/start.ts exportsByScript': 'modules, once for a process',
  'kinds/admissionregistration/policy-expressions.ts loaded': 'a module, once for a process',
  'kinds/apiextensions/cel/load-evaluation.ts loaded': 'a module, once for a process',
  'kinds/expressions/load-admission-expressions.ts loaded': 'a module, once for a process',
  'kinds/apiextensions/schema/v1.ts schemasByPrefix': 'schemas by identity, of which there are two',
  'kinds/apiextensions/values/effort.ts current': scratch,
  'kinds/apiextensions/values/effort.ts lastObject': scratch,
  'kinds/apiextensions/values/effort.ts lastKeys': scratch,
  'kinds/apiextensions/values/pattern.ts compiled': bounded,
  'kinds/apps/deployment.ts strategy': constant,
  'workloads/cronjob/schedule.ts zones': bounded,
  'kinds/batch/schedule.ts zones': bounded,
  'kinds/core/pods/pod-image.ts policyByImage': bounded,
  'kinds/validation/resources.ts parsed': bounded,
  'cel/functions/regex.ts compiled': bounded,
  'cel/functions/time.ts zones': bounded,
  'cel/values.ts NONE': constant,
  'lib/clock.ts performanceOnce': 'a global of the process',
  'lib/next-turn.ts scheduled': 'there is one event loop, which all servers of a process share',
  'lib/next-turn.ts waiting': 'there is one event loop, which all servers of a process share',
  'lib/next-turn.ts writtenBytes': 'there is one event loop, which all servers of a process share',
  'cel/pattern/sets.ts categories': 'sets of characters by Unicode category, of which there are few',
  'lib/quantity.ts zero': constant,
  'lib/quantity.ts canonicalTexts': bounded,
  'client/event-backlog.ts turnsOfProcess': 'there is one event loop, which all servers of a process share',
  'lib/slices.ts deferredCalls': 'there is one event loop, which all servers of a process share',
  'lib/slices.ts turnBegan': 'there is one event loop, which all servers of a process share',
  'lib/random.ts pool': 'random bytes that nobody has had yet',
  'lib/random.ts used': 'random bytes that nobody has had yet',
  'lib/random.ts uuids': 'random bytes that nobody has had yet',
  'lib/random.ts uuidAt': 'random bytes that nobody has had yet',
  'lib/time.ts lastFormatted': bounded,
  'lib/time.ts lastText': bounded,
  'meta/fields.ts everyField': constant,
  'meta/json-path.ts effortLeft': scratch,
  'meta/json-path.ts most': scratch,
  'meta/json-path.ts isRequired': scratch,
  'meta/json-path.ts failure': scratch,
  'meta/labels.ts everyLabel': constant,
  'meta/labels.ts noLabel': constant,
  'patch/applied.ts gathered': scratch,
  'patch/compare.ts changedFields': scratch,
  'patch/compare.ts removedFields': scratch,
  'patch/interned.ts count': bounded,
  'patch/interned.ts members': bounded,
  'patch/interned.ts paths': bounded,
  'patch/managers.ts lastSecond': bounded,
  'patch/managers.ts lastText': bounded,
  'patch/shape.ts keyElements': bounded,
  'server/registry/prepared.ts preparedObjects': 'first objects in stored form without what differs between servers, a bounded number',
  'schema/json/decode.ts present': scratch,
  'schema/json/decode.ts earlierResults': scratch,
  'schema/json/encode.ts writer': scratch,
  'schema/json/encode.ts block': 'memory that new buffers are cut from; what is cut off is never written again',
  'schema/protobuf/encode.ts out': scratch,
  'schema/yaml/write.ts orders': 'the order of fields by kind of message, of which there are few',
  'server/request/route.ts queries': bounded,
  'storage/collection.ts allChanges': 'a counter, so that no two collections of a process ever show the same state',
  'storage/engines/lmdb/database.ts isLoaded': 'whether the library of the store is loaded, once for a process',
  'storage/engines/lmdb/format.ts slab': 'memory that new buffers are cut from; what is cut off is never written again',
  'storage/engines/lmdb/format.ts slabUsed': 'memory that new buffers are cut from; what is cut off is never written again',
  'storage/engines/lmdb/format.ts viewed': scratch,
  'storage/engines/lmdb/format.ts recordSlab': 'memory that new buffers are cut from; what is cut off is never written again',
  'storage/engines/lmdb/format.ts views': scratch,
  'storage/engines/lmdb/reopen.ts unavailable': constant,
  'testing/initial-state.ts statesByKey': 'states that servers of tests begin with, a bounded number; they are copied, never changed',
  'testing/keys.ts keysByIdentity': 'keys that servers of tests share, a bounded number',
};
test('no module keeps what belongs to a server', () => {
  const found = sources.flatMap(({ file, code }) => moduleState(code).map((name) => `${file} ${name}`));
  expect(found.filter((name) => !Object.hasOwn(stateExceptions, name))).toEqual([]);
  expect(
    Object.keys(stateExceptions).filter((name) => !found.includes(name)),
    'exceptions that nothing needs any more',
  ).toEqual([]);
});

test('state that is added to a module is found', () => {
  const added = [
    'let count = 0;',
    'export const kept = new Map<string, number>([]);',
    'const table: readonly string[] = [];',
    'const few = new Set([1, 2]);',
    'const byType = new WeakMap<object, number>();',
    'const queue = new Waiting();',
    'const names: Record<string, number> = {};',
    'function use(): void {',
    '  let local = 0;',
    '  kept.set(text, few.size);',
    '  names[text] = local;',
    '}',
  ].join('\n');
  expect(moduleState(added)).toEqual(['count', 'kept', 'queue', 'names']);
});
