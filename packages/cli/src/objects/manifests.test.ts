import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { collected, findManifests, manifestsFrom, manifestsOf, readManifests, SILENCE_MS } from './manifests.ts';

const cwd = temporaryDirectory('plat-manifests');
const io = testIO({ cwd, stdin: async () => 'apiVersion: v1\nkind: Namespace\nmetadata: {name: in}\n' });
const object = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: x}\n`;

test('several documents and lists are taken apart, empty documents passed over', () => {
  const text = `# head\n---\n${object('a')}---\n---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n`;
  expect(manifestsOf(text, 'f.yaml').map(({ name, namespace, source }) => [name, namespace, source])).toEqual([
    ['a', 'x', expect.stringMatching(/^f.yaml, document \d$/)],
    ['b', undefined, expect.stringMatching(/^f.yaml, document \d, item 1$/)],
  ]);
});

test.each([
  ['[1]', 'f: this is not an object'],
  ['kind: A', 'f: the object has no apiVersion'],
  ['metadata: {}', 'f: the object has no kind'],
  ['apiVersion: v1\nkind: ""', 'f: the object has no kind'],
  ['a: [', 'f: '],
])('%s is refused', (text, message) => {
  expect(() => manifestsOf(text, 'f')).toThrow(message);
});

test('files of a directory come by name; -R goes below; other files are left alone', async () => {
  mkdirSync(join(cwd, 'd/below'), { recursive: true });
  writeFileSync(join(cwd, 'd/b.yaml'), object('b'));
  writeFileSync(join(cwd, 'd/a.yml'), object('a'));
  writeFileSync(join(cwd, 'd/README.md'), '# no');
  writeFileSync(join(cwd, 'd/below/c.json'), '{"apiVersion":"v1","kind":"X"}');
  expect((await readManifests(['d'], false, io)).map((m) => m.source)).toEqual(['d/a.yml', 'd/b.yaml']);
  expect((await readManifests(['d', '-'], true, io)).map((m) => m.source)).toEqual([
    'd/a.yml',
    'd/b.yaml',
    'd/below/c.json',
    'the standard input',
  ]);
});

test('a broken file is left out as a whole, and its error kept, unless it is the only one', async () => {
  mkdirSync(join(cwd, 'mixed'));
  writeFileSync(join(cwd, 'mixed/a.yaml'), object('a'));
  writeFileSync(join(cwd, 'mixed/b.yaml'), `${object('b')}---\napiVersion: v1\nind: Pod\nmetadata: {name: <c>}\n`);
  writeFileSync(join(cwd, 'mixed/d.yaml'), 'a: [');
  writeFileSync(join(cwd, 'mixed/e.yaml'), object('e'));
  writeFileSync(join(cwd, 'mixed/f.yaml'), Buffer.from(`${object('f')}data: {x: gr\u00f6sse}`, 'latin1'));
  symlinkSync('nowhere', join(cwd, 'mixed/g.yaml'));
  const options = { filename: ['mixed'], recursive: false };
  const { manifests, broken } = await findManifests(options, io);
  expect(manifests.map(({ name }) => name)).toEqual(['a', 'e']);
  expect(broken.map(({ message }) => message)).toEqual([
    'mixed/b.yaml, document 2: the object has no kind',
    expect.stringMatching(/^mixed\/d.yaml: /),
    'mixed/f.yaml: the file is not UTF-8 text',
    expect.stringMatching(/^mixed\/g.yaml cannot be read: /),
  ]);
  expect(broken.map(({ stockText }) => stockText)).toEqual([
    `error: unable to decode "mixed/b.yaml": Object 'Kind' is missing in '{"apiVersion":"v1","ind":"Pod","metadata":{"name":"\\u003cc\\u003e"}}'`,
    expect.stringMatching(/^error: error parsing mixed\/d.yaml: /),
    undefined,
    undefined,
  ]);
  const validated = await findManifests(options, io, true);
  expect(validated.broken[0]?.stockText).toBe(
    'error: error validating "mixed/b.yaml": error validating data: kind not set; if you choose to ignore these errors, turn validation off with --validate=false',
  );
  await expect(manifestsFrom(options, io)).rejects.toThrow('document 2: the object has no kind');
  await expect(findManifests({ ...options, filename: ['mixed/b.yaml'] }, io)).rejects.toThrow('document 2: the object has no kind');
});

const json = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'A', metadata: { name } });
test.each([
  ['not YAML', `${object('a')}---\n${object('b')}data: [\n---\n${object('c')}`, ['a'], ['a']],
  ['without a kind', `${object('a')}---\napiVersion: v1\n---\n${object('c')}`, ['a', 'c'], ['a']],
  ['not an object', `${object('a')}--- text\n---\n${object('c')}`, ['a', 'c'], ['a']],
  ['not JSON', `${json('a')}\n${json('b')}{"a": "\n`, ['a', 'b'], ['a', 'b']],
  ['a list with an item without a kind', `${object('a')}---\napiVersion: v1\nkind: List\nitems: [${json('b')}, {}]\n`, ['a', 'b'], ['a']],
])('as kubectl, documents before a broken one are taken: %s', async (_, text, unvalidated, validated) => {
  writeFileSync(join(cwd, 'part.yaml'), text);
  writeFileSync(join(cwd, 'whole.yaml'), object('z'));
  const options = { filename: ['part.yaml', 'whole.yaml'], recursive: false };
  const found = async (validates: boolean, program: 'plat' | 'kubectl') => {
    const { manifests, broken } = await findManifests(options, { ...io, program }, validates);
    expect(broken).toHaveLength(1);
    return manifests.map(({ name }) => name);
  };
  expect(await found(false, 'kubectl')).toEqual([...unvalidated, 'z']);
  expect(await found(true, 'kubectl')).toEqual([...validated, 'z']);
  expect(await found(true, 'plat')).toEqual(['z']);
});

test('objects of JSON may follow each other without a separator', () => {
  const json = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'A', metadata: { name }, data: { x: '}{"\\' } }, null, 1);
  const names = (text: string) => manifestsOf(text, 'f').map(({ name, source }) => [name, source]);
  expect(names(`${json('a')}\n${json('b')}${json('c')}\n`)).toEqual([
    ['a', 'f, document 1'],
    ['b', 'f, document 2'],
    ['c', 'f, document 3'],
  ]);
  expect(names(json('a'))).toEqual([['a', 'f']]);
  expect(names(`${json('a')}\n---\n${json('b')}`).map(([name]) => name)).toEqual(['a', 'b']);
  for (const broken of [`${json('a')}{`, `${json('a')}x`, '{"a": "', '{}}']) expect(() => manifestsOf(broken, 'f')).toThrow('f');
});

test('what does not exist is reported', async () => {
  mkdirSync(join(cwd, 'empty'));
  await expect(readManifests(['nowhere.yaml'], false, io)).rejects.toThrow('there is no file or directory nowhere.yaml');
  await expect(readManifests(['empty'], false, io)).rejects.toThrow(
    'the directory empty holds no file that ends in .yaml, .yml, .json; -R looks below it, too',
  );
  writeFileSync(join(cwd, 'none.yaml'), '# nothing\n');
  await expect(readManifests(['none.yaml'], false, io)).rejects.toThrow('there are no objects in none.yaml');
});

test('an address is read', async () => {
  const server = createServer((req, res) => {
    res.statusCode = req.url === '/a.yaml' ? 200 : 404;
    res.end(object('a'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await readManifests([`${base}/a.yaml`], false, io)).map((m) => m.name)).toEqual(['a']);
  await expect(readManifests([`${base}/b.yaml`], false, io)).rejects.toThrow(
    `${base}/b.yaml cannot be read: the server there answered 404`,
  );
  server.closeAllConnections();
  server.close();
  await expect(readManifests([`${base}/a.yaml`], false, io)).rejects.toThrow('cannot be read: ');
});

test('a server that is silent is given up, before its answer and within it', async () => {
  const server = createServer((req, res) => {
    if (req.url === '/half.yaml') res.write(object('a'));
    asked();
  });
  let asked = (): void => {};
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const path of ['/none.yaml', '/half.yaml']) {
    const clock = new FakeClock();
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const read = expect(readManifests([`${base}${path}`], false, testIO({ cwd, clock }))).rejects.toThrow(
      `${base}${path} cannot be read: the server there was silent for 30 seconds`,
    );
    await arrived;
    // What was sent may be heard in between, and begins the time anew.
    await clock.advance(SILENCE_MS);
    await clock.advance(SILENCE_MS);
    await read;
    expect(clock.pending).toBe(0);
  }
  // An interrupt does not wait for it.
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const clock = new FakeClock();
  const interrupted = testIO({ cwd, clock });
  const read = expect(readManifests([`${base}/none.yaml`], false, interrupted)).rejects.toThrow('cannot be read');
  await arrived;
  interrupted.send('SIGINT');
  expect(interrupted.exited).toBe(130);
  server.closeAllConnections();
  server.close();
  await read;
});

test('control characters and bytes that are no UTF-8 are refused, a byte order mark and CRLF are not', async () => {
  for (const c of ['\0', '\u001b', '\u0007', '\u009b', '\u007f']) {
    expect(() => manifestsOf(`${object('a')}data: {x: "${c}"}`, 'f'), JSON.stringify(c)).toThrow(
      'f: yaml: control characters are not allowed',
    );
  }
  expect(manifestsOf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"\u007f"}}`, 'f')).toHaveLength(1);
  expect(manifestsOf(`\ufeff${object('a').replaceAll('\n', '\r\n')}`, 'f')).toHaveLength(1);
  writeFileSync(join(cwd, 'latin.yaml'), Buffer.from(`${object('a')}data: {x: gr\u00f6sse}`, 'latin1'));
  const wide = Buffer.from(`\ufeff${object('w')}`, 'utf16le');
  writeFileSync(join(cwd, 'wide.yaml'), wide);
  writeFileSync(join(cwd, 'wide-be.yaml'), Buffer.from(wide).swap16());
  expect((await readManifests(['wide.yaml', 'wide-be.yaml'], false, io)).map(({ name }) => name)).toEqual(['w', 'w']);
  await expect(readManifests(['latin.yaml'], false, io)).rejects.toThrow('latin.yaml: the file is not UTF-8 text');
});

test('no more is read than the bound', async () => {
  let given = 0;
  const endless = async function* () {
    for (;;) {
      given++;
      yield Buffer.alloc(10);
    }
  };
  await expect(collected(endless(), 'f', 100)).rejects.toThrow('f is larger than 100 bytes');
  expect(given).toBe(11);
  expect(await collected([Buffer.alloc(100)], 'f', 100)).toHaveLength(100);
});
