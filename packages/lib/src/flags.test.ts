import { describe, expect, expectTypeOf, test } from 'vitest';
import { bool, choice, duration, file, flagHelp, int, list, optionalBool, pairs, parseFlags, port, text } from './flags.ts';
import { editDistance, nearest } from './suggest.ts';

const table = {
  Serving: {
    'secure-port': port(6443, 'Port of HTTPS.'),
    'bind-address': text('127.0.0.1', 'Address.'),
    'client-ca-file': file('CA.'),
    timeout: duration('1m', 'Time.'),
    v: int(0, 'Verbosity.', { max: 10 }),
  },
  Store: {
    store: choice('lmdb', ['lmdb', 'memory', 'etcd'], 'Engine.', { stage: 'beta' }),
    servers: list(['a', 'b'], 'Servers.'),
    claim: pairs('Claims.'),
    quiet: bool(false, 'Hush.'),
    loud: optionalBool('Shout.', { stage: 'deprecated' }),
    later: text('', 'Later.', { planned: true }),
  },
};
const parse = (...args: string[]) => parseFlags(table, args).options;

test('the type of the result follows from the table', () => {
  const options = parse();
  expectTypeOf(options.securePort).toEqualTypeOf<number>();
  expectTypeOf(options.store).toEqualTypeOf<'lmdb' | 'memory' | 'etcd'>();
  expectTypeOf(options.clientCaFile).toEqualTypeOf<string | undefined>();
  expect(options).toMatchObject({
    securePort: 6443,
    bindAddress: '127.0.0.1',
    timeout: 60_000,
    store: 'lmdb',
    quiet: false,
    servers: ['a', 'b'],
  });
  expect(options.clientCaFile).toBeUndefined();
});

test('values stand behind a blank or an equals sign; the last one counts', () => {
  expect(parse('--secure-port', '1', '--secure-port=2').securePort).toBe(2);
  expect(parse('--bind-address=').bindAddress).toBe('');
  expect(parse('--bind-address', '-x').bindAddress).toBe('-x');
  expect(parse('-v', '4').v).toBe(4);
  expect(parse('-v=5').v).toBe(5);
  expect(parse('--timeout=1h30m').timeout).toBe(5_400_000);
});

test('one letter may stand for a name', () => {
  const short = { Get: { namespace: text('', 'Namespace.', { short: 'n' }), 'all-namespaces': bool(false, 'All.', { short: 'A' }) } };
  for (const args of [['-n', 'x'], ['-nx'], ['-n=x'], ['--namespace=x']]) expect(parseFlags(short, args).options.namespace).toBe('x');
  expect(parseFlags(short, ['-A']).options.allNamespaces).toBe(true);
  expect(() => parseFlags(short, ['-Ax'])).toThrow('unknown flag -Ax');
  expect(() => parseFlags(short, ['-x'])).toThrow('unknown flag -x');
  expect(parseFlags(short, ['-An', 'x']).options).toMatchObject({ allNamespaces: true, namespace: 'x' });
  expect(parseFlags(short, ['-Anx']).options).toMatchObject({ allNamespaces: true, namespace: 'x' });
  expect(flagHelp(short)).toContain('  -n, --namespace TEXT\n');
});

test('switches need no value', () => {
  expect(parse('--quiet').quiet).toBe(true);
  expect(parse('--quiet=false').quiet).toBe(false);
  expect(parseFlags(table, ['--quiet', 'false']).args).toEqual(['false']);
  expect(parse('--loud').loud).toBe(true);
  expect(parse().loud).toBeUndefined();
});

test('lists and pairs are joined', () => {
  expect(parse('--servers', 'x,y', '--servers= z ,').servers).toEqual(['x', 'y', 'z']);
  expect([...parse('--claim', 'a=1, b = 2=3', '--claim=a=4').claim]).toEqual([
    ['a', '4'],
    ['b', '2=3'],
  ]);
});

test('arguments, what was given, warnings and help', () => {
  const parsed = parseFlags(table, ['get', '--loud', '--', '--quiet']);
  expect(parsed.args).toEqual(['get', '--quiet']);
  expect([...parsed.givenFlags]).toEqual(['loud']);
  expect(parsed.warnings).toEqual(['--loud is deprecated: Shout.']);
  expect(parseFlags(table, ['--help', '--nonsense']).help).toBe(true);
});

describe('refusals', () => {
  test.each([
    [['--secure-prot=1'], 'unknown flag --secure-prot (did you mean --secure-port?)'],
    [['--secure_port=1'], 'unknown flag --secure_port (did you mean --secure-port?)'],
    [['--zzzzzzzz'], 'unknown flag --zzzzzzzz'],
    [['-quiet'], 'unknown flag -quiet (did you mean --quiet?)'],
    [['--secure-port'], '--secure-port needs a value: --secure-port PORT'],
    [['--secure-port=x'], '--secure-port: "x" is not a whole number'],
    [['--secure-port=70000'], '--secure-port: 70000 is not between 0 and 65535'],
    [['--v=-1'], '--v: -1 is not between 0 and 10'],
    [['--timeout=5'], '--timeout: time: missing unit in duration "5"'],
    [['--timeout=-5s'], '--timeout: -5s is negative'],
    [['--store=memroy'], '--store: "memroy" is not one of lmdb, memory, etcd (did you mean memory?)'],
    [['--quiet=maybe'], '--quiet: "maybe" is neither true nor false'],
    [['--claim=a'], '--claim: "a" is not of the form key=value'],
    [['--later=x'], '--later is planned, but has no effect in this release: leave it out'],
  ])('%j', (args, message) => {
    expect(() => parseFlags(table, args)).toThrow(expect.objectContaining({ name: 'FlagError', message }));
  });
});

test('help shows groups, values, defaults, stages and what is planned', () => {
  expect(flagHelp(table, 60)).toBe(`Serving:
  --secure-port PORT
        Port of HTTPS. (default 6443)
  --bind-address TEXT
        Address. (default 127.0.0.1)
  --client-ca-file FILE
        CA.
  --timeout DURATION
        Time. (default 1m0s)
  --v NUMBER
        Verbosity. (default 0)

Store:
  --store lmdb|memory|etcd
        [beta] Engine. (default lmdb)
  --servers A,B,…
        Servers. (default a,b)
  --claim KEY=VALUE,…
        Claims.
  --quiet
        Hush.
  --loud
        [deprecated] Shout.

Planned, without effect so far:
    --later
`);
});

test('the nearest word', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(editDistance('ab', 'ba')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
  expect(nearest('sever', ['server', 'get', 'version'])).toBe('server');
  expect(nearest('Namespaces', ['nodes', 'namespaces'])).toBe('namespaces');
  expect(nearest('zz', ['server', 'get'])).toBeUndefined();
});

test('global flags are not listed in the help of a command, and its own flag of that name counts', () => {
  const both = {
    Binding: { user: text('', 'Subject.') },
    Connecting: { user: text('', 'User.', { global: true }), token: text('', 'Token.', { global: true }) },
  };
  expect(flagHelp(both)).toBe('Binding:\n  --user TEXT\n        Subject.\n');
  expect(flagHelp(both, 100, true)).toContain('--token TEXT');
  expect(parseFlags(both, ['--user=a', '--token=b']).options).toEqual({ user: 'a', token: 'b' });
});
