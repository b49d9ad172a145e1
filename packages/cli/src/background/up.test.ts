/** Background servers whose program is a stand-in: it writes its configuration and stays until it is ended. */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { dataFiles } from '@plat-dev/compose/config/data-files';
import { commandClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../../../test/support/free-ports.ts';
import type { IO } from '../command.ts';
import { builtProgram } from '../own-program.ts';
import { type TestIO, testIO } from '../testing.ts';
import { down } from './down.ts';
import { list } from './list.ts';
import { type ProcessId, processOf } from './process.ts';
import { Records, type ServerRecord } from './records.ts';
import { upCommand } from './up.ts';

const ADDRESS = 'https://127.0.0.1:1';
const standIn = `
const { readFileSync, writeFileSync, renameSync } = require('node:fs');
if (process.env.PLAT_SERVER_WAIT === '1' && readFileSync(0, 'utf8') === '') process.exit(1);
const file = process.argv.find((arg) => arg.startsWith('--data-dir=')).slice(11) + '/${dataFiles.adminConfig}';
const text = 'clusters:\\n- name: c\\n  cluster:\\n    server: ${ADDRESS}\\nusers:\\n- name: u\\n  user: {}\\ncontexts:\\n- name: x\\n  context: {cluster: c, user: u}\\ncurrent-context: x\\n';
console.log('started with ' + process.argv.at(-1));
writeFileSync(file + '.new', text);
renameSync(file + '.new', file);
setInterval(() => {}, 1000000);
`;
interface Config {
  readonly contexts: { name: string }[];
  readonly 'current-context': string;
}

let home: string;
let io: TestIO;
let records: Records;
beforeEach(() => {
  home = temporaryDirectory('plat-up');
  writeFileSync(join(home, 'server.cjs'), standIn);
  io = newIO();
  records = new Records(io);
});
afterEach(async () => {
  rmSync(`${configFile()}.lock`, { force: true });
  expect(await down.run(['--all'], newIO())).toBe(0);
});
const newIO = (changes: Partial<IO> = {}): TestIO => testIO({ home, cwd: home, env: { PATH: process.env.PATH }, ...changes });
const configFile = (name = '.kube/config'): string => join(home, name);
const config = (name?: string): Config => parse(readFileSync(configFile(name), 'utf8')) as Config;
const contexts = (name?: string): string[] => config(name).contexts.map((context) => context.name);
const up = upCommand(() => builtProgram(process.execPath, join(home, 'server.cjs')));
const start = async (...args: string[]): Promise<void> => expect(await up.run(args, io)).toBe(0);
const recordOf = async (name: string): Promise<ServerRecord> => (await records.read(name)) as ServerRecord;
/** As a program that holds the lock all the time. */
function lock(): void {
  writeFileSync(`${configFile()}.lock`, '');
  const later = Date.now() / 1000 + 86_400;
  utimesSync(`${configFile()}.lock`, later, later);
}

test('down of a server whose client configuration is locked reports it, and another one ends the rest', async () => {
  await start('a', '--store=memory');
  await start('b', '--store=memory', '--kubeconfig=b.conf');
  lock();
  const impatient = newIO({ clock: { ...commandClock, sleep: () => commandClock.sleep(0) } });
  expect(await down.run(['a', 'b'], impatient)).toBe(1);
  expect(impatient.stderr).toContain('plat: a: another program is writing');
  expect(impatient.stdout).toBe('b removed\n');
  rmSync(`${configFile()}.lock`);
  expect(await down.run(['a'], io)).toBe(0);
  expect(contexts()).toEqual([]);
  expect(existsSync(records.directory('a'))).toBe(false);
});

test.each(['before the address was recorded', 'before the entry was written'])(
  'a start that was killed %s is finished by the next',
  async (when) => {
    await start('a', '--store=memory');
    const record = await recordOf('a');
    rmSync(configFile());
    if (when.includes('address')) await records.write({ ...record, address: '' });
    await start('a');
    expect(await recordOf('a')).toEqual(record);
    expect(contexts()).toEqual(['plat-a']);
  },
);

test('a start that was killed before it recorded the process leaves none behind', async () => {
  const failing = new Error('killed');
  let child: ProcessId | undefined;
  const write = Records.prototype.write;
  Records.prototype.write = async function (this: Records, record: ServerRecord): Promise<void> {
    if (record.process === undefined) return write.call(this, record);
    child = record.process;
    // The server has not begun: it waits until this is done.
    expect(readFileSync(this.logFile('a'), 'utf8')).toBe('');
    expect(existsSync(this.adminConfig('a'))).toBe(false);
    throw failing;
  };
  try {
    await expect(up.run(['a', '--store=memory'], io)).rejects.toThrow('a did not start: killed');
  } finally {
    Records.prototype.write = write;
  }
  expect(child).toBeDefined();
  expect(processOf((child as ProcessId).pid)).toBeUndefined();
});

test('flags of the client configuration hold for a server that runs, too', async () => {
  mkdirSync(join(home, '.kube'));
  writeFileSync(configFile(), 'current-context: prod\n');
  writeFileSync(configFile('other.conf'), 'current-context: prod\n');
  await start('a', '--store=memory');
  expect(config()['current-context']).toBe('prod');
  await start('a', '--use-context', '--kubeconfig=other.conf');
  expect(config('other.conf')['current-context']).toBe('plat-a');
  expect([contexts(), config()['current-context']]).toEqual([['plat-a'], 'prod']);
  await start('a', '--use-context');
  expect(config()['current-context']).toBe('plat-a');
  expect(await down.run(['a'], io)).toBe(0);
  expect([contexts(), contexts('other.conf')]).toEqual([[], []]);
});

test('a server has entries in so many client configurations, and no more', async () => {
  await start('a', '--store=memory');
  for (let n = 0; n < 16; n++) await start('a', `--kubeconfig=${n}.conf`);
  await expect(up.run(['a', '--kubeconfig=17.conf'], io)).rejects.toThrow('entries in 17 client configurations, and can have no more');
  expect(existsSync(configFile('17.conf'))).toBe(false);
  await start('a', '--kubeconfig=3.conf');
});

test('a record that cannot be read is reported, does not keep others from being listed or stopped, and is removed by name', async () => {
  await start('good', '--store=memory');
  for (const [name, text] of [
    ['cut', '{"name":'],
    ['empty', '{}'],
    ['other', JSON.stringify(await recordOf('good'))],
  ] as const) {
    mkdirSync(records.directory(name));
    writeFileSync(join(records.directory(name), 'server.json'), text);
  }
  io = newIO();
  expect(await list.run(['-o', 'name'], io)).toBe(1);
  expect(io.stdout).toBe('good\n');
  for (const name of ['cut', 'empty', 'other']) expect(io.stderr).toContain(`${name}/server.json cannot be read`);
  await expect(up.run(['cut'], io)).rejects.toThrow('`plat down cut` removes it');
  expect(await down.run(['cut', '--keep'], io)).toBe(1);
  expect(existsSync(records.directory('cut'))).toBe(true);
  expect(await down.run(['cut'], io)).toBe(0);
  expect(existsSync(records.directory('cut'))).toBe(false);
  io = newIO();
  expect(await down.run(['--all'], io)).toBe(0);
  expect(io.stdout).toBe('empty removed\ngood removed\nother removed\n');
});

test('list changes nothing: a server whose process is gone is shown as stopped, and up removes its old entry', async () => {
  await start('a', '--store=memory');
  const record = await recordOf('a');
  await down.run(['a', '--keep'], io);
  const stale = { ...record, address: 'https://127.0.0.1:2', process: { pid: 2, started: 'earlier' } };
  await records.write(stale);
  const entry = `{clusters: [{name: plat-a, cluster: {server: "${stale.address}"}}], contexts: [{name: plat-a}]}`;
  writeFileSync(configFile(), entry);
  lock();
  io = newIO();
  expect(await list.run([], io)).toBe(0);
  expect(io.stdout).toMatch(/^a +Stopped/m);
  expect(readFileSync(configFile(), 'utf8')).toBe(entry);
  expect(await recordOf('a')).toEqual(stale);
  rmSync(`${configFile()}.lock`);
  await start('a');
  expect((await recordOf('a')).address).toBe(ADDRESS);
  expect(contexts()).toEqual(['plat-a']);
});

test('a start in a directory that is gone says so', async () => {
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  expect(await up.run(['a', '--store=memory'], newIO({ cwd }))).toBe(0);
  await down.run(['a', '--keep'], io);
  rmSync(cwd, { recursive: true });
  await expect(up.run(['a'], io)).rejects.toThrow(
    `a did not start: the directory ${cwd}, which its flags are relative to, does not exist any more`,
  );
});

test('each start has a log of its own; the one before it is kept', async () => {
  const log = (suffix = ''): string => readFileSync(`${records.logFile('a')}${suffix}`, 'utf8');
  for (const v of [1, 2, 3]) {
    await start('a', '--store=memory', '--', `--v=${v}`);
    await down.run(['a', '--keep'], io);
  }
  expect([log(), log('.1')]).toEqual(['started with --v=3\n', 'started with --v=2\n']);
  expect(existsSync(`${records.logFile('a')}.2`)).toBe(false);
});

describe('a server that was kept', () => {
  const log = (): string => readFileSync(records.logFile('a'), 'utf8');
  let port: number;
  let blocker: Server;
  beforeEach(async () => {
    port = await freePort();
    blocker = createServer();
    await start('a');
    expect(log()).toBe('started with --secure-port=0\n');
    await down.run(['a', '--keep'], io);
    await records.write({ ...(await recordOf('a')), address: `https://127.0.0.1:${port}` });
    io = newIO();
  });
  afterEach(async () => {
    if (blocker.listening) await new Promise((resolve) => blocker.close(resolve));
  });
  const gets = () => `plat: a gets another port: ${port}, which it had before, is in use\n`;

  test('starts again on its port', async () => {
    await start('a');
    expect([log(), io.stderr]).toEqual([`started with --secure-port=${port}\n`, '']);
  });
  test('gets another port where that is in use', async () => {
    await new Promise<void>((resolve) => blocker.listen(port, '127.0.0.1', resolve));
    await start('a');
    expect([log(), io.stderr]).toEqual(['started with --secure-port=0\n', gets()]);
  });
  test('gets another port where another program took it during the start', async () => {
    writeFileSync(join(home, 'server.cjs'), `if (process.argv.at(-1) === '--secure-port=${port}') process.exit(1);${standIn}`);
    const racing = upCommand(() => {
      if (!blocker.listening) blocker.listen(port);
      return builtProgram(process.execPath, join(home, 'server.cjs'));
    });
    expect(await racing.run(['a'], io)).toBe(0);
    expect([log(), io.stderr]).toEqual(['started with --secure-port=0\n', gets()]);
  });
  test('keeps its port when a start fails for another reason', async () => {
    writeFileSync(join(home, 'server.cjs'), 'process.exit(1);');
    await expect(up.run(['a'], io)).rejects.toThrow('a did not start: it exited with code 1');
    const { address, process: started } = await recordOf('a');
    expect([address, started]).toEqual([`https://127.0.0.1:${port}`, undefined]);
  });
  test('has the port that its flags name', async () => {
    await start('a', '--', '--secure-port=7443');
    expect(log()).toBe('started with --secure-port=7443\n');
  });
});

test('the time to wait is one for the start and for being ready', async () => {
  // All of it passes until the server has written its configuration; the stand-in never answers.
  const clock = { ...commandClock, monotonic: () => (existsSync(records.adminConfig('a')) ? 60_000 : 0) };
  await expect(up.run(['a', '--store=memory', '--wait=60'], newIO({ clock }))).rejects.toThrow('timed out');
  expect(existsSync(records.directory('a'))).toBe(false);
});
