import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import { Files, layerOf, newKeptFiles, withoutEnd } from './files.ts';
import { type Replayed, replay } from './replay.ts';
import { type Environment, run, UnknownProgram } from './run.ts';
import { NotSupported } from './words.ts';

const kept = newKeptFiles();
const environment = (files: Record<string, string> = {}, own = newKeptFiles()): Environment => ({
  variables: new Map([
    ['NAME', 'web'],
    ['EMPTY', ''],
  ]),
  files: new Files(new Map(Object.entries(files)), [layerOf(own)]),
  hostname: 'web-0',
  now: () => Date.UTC(2024, 0, 1),
  random: () => 20_000,
});

/** All that a command does: output, errors, waits, and its exit code. */
function all(argv: readonly string[], world = environment(), input: readonly string[] = []) {
  const lines = [...input];
  const running = run(argv, world);
  const seen = { out: '', err: '', waited: 0, code: -1 };
  let answer: string | undefined;
  for (let steps = 0; steps < 1000; steps++) {
    const { done, value } = running.next(answer);
    answer = undefined;
    if (done === true) return { ...seen, code: value };
    if ('out' in value) seen.out += value.out;
    else if ('err' in value) seen.err += value.err;
    else if ('waitMs' in value) seen.waited += value.waitMs;
    else if ('input' in value) answer = lines.shift();
  }
  return seen;
}
const sh = (script: string, world?: Environment) => all(['/bin/sh', '-c', script], world);

test.each([
  ['echo a | grep "a*"', 'grep of the pattern a*'],
  ['echo a | grep -o a', 'grep -o'],
  ['echo a | grep --count a', 'grep --count'],
  ['wc -L /etc/hosts', 'wc -L'],
  ['head -c 3 /etc/hosts', 'head -c'],
  ['date -d yesterday', 'date -d'],
  ['date +%U', 'date %U'],
  [`grep ${'a'.repeat(257)} /etc/hosts`, 'grep of such a long pattern'],
  [`echo \${NAME%b}`, `the variable \${NAME%b}`],
  ['case a in a) echo a;; esac', 'the command case'],
])('%s is not simulated, and has no wrong answer', (script, message) => {
  expect(() => sh(script)).toThrow(new NotSupported(message));
});

test.each([
  ['echo a b', 'a b\n', 0],
  ['echo -n a; echo b', 'ab\n', 0],
  ['seq 3 | while read i; do echo n$i; done; echo end', 'n1\nn2\nn3\nend\n', 0],
  ['echo a b c | while read -r x y; do echo $y-$x; done; seq 4 -2 0', 'b c-a\n4\n2\n0\n', 0],
  [`echo 'a  b' "c $NAME" $NAME-x`, 'a  b c web web-x\n', 0],
  ['echo $EMPTY x "$EMPTY" | cat', 'x \n', 0],
  ['true && echo yes || echo no', 'yes\n', 0],
  ['false && echo yes || echo no', 'no\n', 0],
  ['false; echo $?', '1\n', 0],
  ['! false', '', 0],
  ['exit 3', '', 3],
  ['set -e; false; echo never', '', 1],
  ['set -e; false || true; echo on', 'on\n', 0],
  ['if [ "$NAME" = web ]; then echo is; else echo not; fi', 'is\n', 0],
  ['if [[ -r /none ]] ; then exit 0 ; else exit 4 ; fi', '', 4],
  ['for i in 1 2 3; do echo $i; done', '1\n2\n3\n', 0],
  ['i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done', '1\n2\n3\n', 0],
  ['for i in 1 2 3; do if [ $i = 2 ]; then break; fi; echo $i; done', '1\n', 0],
  ['echo $(( ( 2 + 3 ) * 4 % 7 ))', '6\n', 0],
  ['exit $(( $RANDOM / 5000 ))', '', 4],
  ['echo "$(echo in; echo side)"', 'in\nside\n', 0],
  ['X=1 ; export Y=2; echo $X$Y', '12\n', 0],
  ['echo $' + '{NONE:-other}', 'other\n', 0],
  ['echo a > /tmp/x; echo b >> /tmp/x; cat /tmp/x', 'a\nb\n', 0],
  ['echo gone > /dev/null', '', 0],
  ['(exit 2)', '', 2],
  ['printf "%s-%d\\n" a 1', 'a-1\n', 0],
  ['echo a; echo b 1>&2', 'a\n', 0],
  ['hostname; echo $HOSTNAME', 'web-0\nweb-0\n', 0],
  ['echo one two | grep -q two && echo found', 'found\n', 0],
  ['seq 3 | wc -l; echo a b > /tmp/x; echo c >> /tmp/x; wc -l /tmp/x; wc /tmp/x', '3\n2 /tmp/x\n        2         3         6 /tmp/x\n', 0],
  ['wc -l /tmp/none', '', 1],
  ['printf "# a\nB=1\nc\n" > /tmp/y; grep -v "^#" /tmp/y; grep -c . /tmp/y; grep -in "b=.$" /tmp/y', 'B=1\nc\n3\n2:B=1\n', 0],
  ['echo "a.b" | grep -F a.b; echo axb | grep -Fc a.b', 'a.b\n0\n', 1],
  ['echo b > /tmp/z; echo a | grep -E "x|a"; grep b /tmp/z /tmp/none', 'a\n/tmp/z:b\n', 2],
  ['date; date -u +%FT%TZ; date +%s%%', 'Mon Jan  1 00:00:00 UTC 2024\n2024-01-01T00:00:00Z\n1704067200%\n', 0],
  ['sh -c "exit 7"', '', 7],
  ['echo $0 $1', '\n', 0],
])('the script %s', (script, out, code) => {
  expect(sh(script)).toMatchObject({ out, code });
});

const tree = {
  '/data/a.txt': 'one\ntwo\nthree\n',
  '/data/sub/b.conf': 'x',
  '/data/sub/deep/c.txt': '',
  '/data/.hidden': '',
};

test.each([
  ['find /data -type f', '/data/.hidden\n/data/a.txt\n/data/sub/b.conf\n/data/sub/deep/c.txt\n'],
  ['find /data -type d', '/data\n/data/sub\n/data/sub/deep\n'],
  [`find /data/ -name '*.txt' -print`, '/data/a.txt\n/data/sub/deep/c.txt\n'],
  ['cd /data; find . -maxdepth 1 -mindepth 1', './.hidden\n./a.txt\n./sub\n'],
  ['cd /data/sub && find -type f', './b.conf\n./deep/c.txt\n'],
  ['ls /data', 'a.txt\nsub\n'],
  ['ls -a /data', '.\n..\n.hidden\na.txt\nsub\n'],
  ['ls -A /data', '.hidden\na.txt\nsub\n'],
  ['ls -d /data /data/a.txt', '/data\n/data/a.txt\n'],
  ['cd /data/sub; ls; pwd; cat b.conf', 'b.conf\ndeep\n/data/sub\nx'],
  ['cd /data; sh -c "cd /tmp"; pwd', '/data\n'],
  ['echo /data/*.txt /data/*/*.conf /none/* "/data/*"', '/data/a.txt /data/sub/b.conf /none/* /data/*\n'],
  ['cat /data/s*/b*', 'x'],
  ['head -n 2 /data/a.txt; head -1 /data/a.txt', 'one\ntwo\none\n'],
  ['tail -n 1 /data/a.txt; tail -n +2 /data/a.txt; seq 20 | tail -2', 'three\ntwo\nthree\n19\n20\n'],
  ['mkdir -p /x/y && [ -d /x/y ] && ls /x && cp /data/a.txt /x/y && ls /x/y', 'y\na.txt\n'],
  ['mkdir /x; mkdir /x || echo exists', 'exists\n'],
  [
    'cp -r /data/sub /copy && find /copy -type f && cp /data/a.txt /data/sub/b.conf /copy && ls /copy',
    '/copy/b.conf\n/copy/deep/c.txt\na.txt\nb.conf\ndeep\n',
  ],
  ['cp -r /data/sub/. /copy; ls /copy', 'b.conf\ndeep\n'],
  ['cp /data/sub /copy || echo no', 'no\n'],
  ['mv /data/sub /moved; ls /data; ls /moved', 'a.txt\nb.conf\ndeep\n'],
  ['ln -sf /data/a.txt /link; head -1 /link', 'one\n'],
  ['rm -r /data/sub; find /data -type f', '/data/.hidden\n/data/a.txt\n'],
  ['cat /dev/null; echo $?', '0\n'],
  ['env A=1 B=2 sh -c "echo $NAME \\$A\\$B"', 'web 12\n'],
])('the files of %s', (script, out) => {
  expect(sh(script, environment(tree))).toMatchObject({ out, code: 0 });
});

test('ls shows files in the long form', () => {
  expect(sh('ls -la /data', environment(tree)).out.split('\n')).toEqual([
    'total 0',
    'drwxr-xr-x    2 root     root          4096 Jan  1 00:00 .',
    'drwxr-xr-x    2 root     root          4096 Jan  1 00:00 ..',
    '-rw-r--r--    1 root     root             0 Jan  1 00:00 .hidden',
    '-rw-r--r--    1 root     root            14 Jan  1 00:00 a.txt',
    'drwxr-xr-x    2 root     root          4096 Jan  1 00:00 sub',
    '',
  ]);
  expect(sh('ls -l /data/a.txt', environment(tree)).out).toBe('-rw-r--r--    1 root     root            14 Jan  1 00:00 /data/a.txt\n');
});

test('conditions of find that are not here are refused, and so is what env cannot do', () => {
  for (const script of ['find / -exec rm {} +', 'find / -newer /x', 'find / -type l', 'find / ! -name a', 'env -i sh'])
    expect(() => sh(script), script).toThrow(NotSupported);
  expect(() => all(['env', 'A=1', 'java', '-jar', 'app.jar'])).toThrow(UnknownProgram);
});

test('files that are followed never end', () => {
  expect(all(['tail', '-f', '/dev/null']).waited).toBeGreaterThan(1e12);
  expect(all(['tail', '-n0', '-F', '/data/a.txt'], environment(tree))).toMatchObject({ out: '', waited: expect.any(Number) });
  expect(sh('tail -f /none').code).toBe(1);
});

/** A container of an image of which nothing is known, with an empty directory at /work. */
const unknown = (): Environment => {
  const world = environment();
  const files = new Files(new Map([['/etc/hosts', 'hosts']]), [layerOf(newKeptFiles())], (path) => path.startsWith('/work'));
  return { ...world, files };
};

test.each<[string, string, boolean, boolean]>([
  ['cp /app/tool /work/ && test -f /work/tool', '', true, false],
  ['cp /app/*.jar /work; cat /work/a.jar', '', true, false],
  ['cp -r /app /work; ls /work/app/lib', '', true, false],
  ['mv /app/a /work/b; cat /work/b', '', true, false],
  ['ln -s /app/a /work/b', '', true, false],
  ['cat /app/a /etc/hosts', 'hosts', true, false],
  ['cat < /app/a', '', true, false],
  ['ls /app; find /app -type f; tar cf - /app > /dev/null', '', true, false],
  ['rm /app/a; rmdir /app/b', '', true, false],
  ['cd /app && pwd', '/app\n', true, false],
  ['head /app/a; tail /app/b; dd if=/app/c of=/work/c', '', true, false],
  ['[ -f /app/a ] || echo no', 'no\n', false, true],
  ['if test ! -d /app; then echo no; fi', 'no\n', false, true],
  ['[ -f /etc/hosts ] && [ ! -e /work/a ] && cat /etc/hosts', 'hosts', false, false],
])('in an image that is not known: %s', (script, out, assumed, guessed) => {
  const world = unknown();
  expect(sh(script, world)).toMatchObject({ out, code: 0 });
  expect([world.files.assumed, world.files.guessed]).toEqual([assumed, guessed]);
});

test.each(['cat /work/a', 'cp /work/a /work/b', 'ls /work/a', 'rm /work/a', 'find /work/a', 'cd /work/a', 'cat < /work/a', 'head /work/a'])(
  'what is known to be missing is an error all the same: %s',
  (script) => {
    const world = unknown();
    expect(sh(script, world).code).not.toBe(0);
    expect([world.files.assumed, world.files.guessed]).toEqual([false, false]);
  },
);

test('programs without a shell', () => {
  expect(all(['echo', '$NAME', 'x'])).toMatchObject({ out: '$NAME x\n', code: 0 });
  expect(all(['/bin/sleep', '1.5m'])).toMatchObject({ waited: 90_000, code: 0 });
  expect(all(['false'])).toMatchObject({ code: 1 });
  expect(all(['cat', '/etc/config/a', '/none'], environment({ '/etc/config/a': 'hello\n' }))).toMatchObject({
    out: 'hello\n',
    err: "cat: can't open '/none': No such file or directory\n",
    code: 1,
  });
  expect(all(['ls', '/etc/config'], environment({ '/etc/config/b': '', '/etc/config/a/c': '' })).out).toBe('a\nb\n');
  expect(all(['env']).out).toBe('NAME=web\nEMPTY=\n');
});

test('files that a command wrote are there for the next one, and mounted files can be moved away', () => {
  const mounted = { '/data/index.html': 'hi' };
  expect(sh('touch /tmp/seen; mv -v /data/index.html /tmp/', environment(mounted, kept)).out).toBe(
    "'/data/index.html' -> '/tmp/index.html'\n",
  );
  expect(sh('if [ -f /tmp/seen ] && [ ! -e /data/index.html ]; then cat /tmp/index.html; fi', environment(mounted, kept)).out).toBe('hi');
});

test('an interactive shell reads lines until exit', () => {
  const lines = ['echo $NAME\n', 'X=5\n', 'echo $X\n', 'exit 9\n', 'echo never\n'];
  expect(all(['sh'], environment(), lines)).toMatchObject({ out: 'web\n5\n', code: 9 });
  expect(all(['cat'], environment(), ['a\n', 'b'])).toMatchObject({ out: 'a\nb', code: 0 });
});

test('a loop without an end waits as often as it is asked', () => {
  const seen = sh('while true; do echo x; sleep 2; done');
  expect(seen.code).toBe(-1);
  expect(seen.waited).toBeGreaterThan(100_000);
});

test('what is not simulated is refused: programs, syntax, and scripts that would not end', () => {
  expect(() => all(['nginx', '-g', 'daemon off;'])).toThrow(UnknownProgram);
  expect(() => sh('nginx')).toThrow(UnknownProgram);
  expect(() => all(['constructor'])).toThrow(UnknownProgram);
  for (const script of ['case x in y) ;; esac', 'sleep 5 &', 'echo `date`', 'echo "open', 'while true; do :; done', '((', 'if true'])
    expect(() => sh(script), script).toThrow(NotSupported);
  expect(() => sh('('.repeat(200) + ')'.repeat(200))).toThrow(NotSupported);
});

test('whatever a script does, it is bounded', () => {
  const refused = (script: string, message: string): void => expect(() => sh(script)).toThrow(message);
  refused('while true; do :; done', 'too many commands');
  refused('while true; do x=$(while true; do :; done); done', 'too many commands');
  refused(`while true; do sh -c 'for i in 1 2 3 4 5 6 7 8 9; do :; done'; done`, 'too many commands');
  refused(`A='sh -c "$A"'; sh -c "$A"`, 'too many shells within shells');
  refused('a=xxxxxxxxxxxxxxxx; while true; do a=$a$a; done', 'a word is too long');
  refused('a=xxxxxxxxxxxxxxxx; while true; do a="$a $a"; done', 'a word is too long');
  const long = 'x'.repeat(30_000);
  refused(`a=${long}; echo ${'"$a" '.repeat(40)}`, 'too long');
  const world = environment();
  const { err } = sh(`a=${long}; for i in 1 2 3 4 5 6 7 8 9; do echo $a >> /tmp/f; done`, world);
  expect(err).toContain('No space left on device');
  expect((world.files.read('/tmp/f') ?? '').length).toBeLessThanOrEqual(256 * 1024);
});

test('the bound of the files of a container holds even beside a file whose size is no number', () => {
  const own = newKeptFiles();
  own.contents.set('/odd', Object.prototype as string);
  const { files } = environment({}, own);
  expect([files.write('/a', 'x'), files.write('/odd', 'x'), files.write('/a', 'x')]).toEqual([false, true, true]);
});

test('work is counted, not commands alone: words that are split, lines, files and scripts within scripts', () => {
  const refused = (script: string): void => expect(() => sh(script), script.slice(-60)).toThrow('the script runs too many commands');
  const words = 'a '.repeat(15_000);
  refused(`a="${words}"; for i in 1 2 3 4 5 6 7 8 9; do : $a $a; done`);
  refused('while true; do seq 1000 | wc -l; done');
  refused('seq 9999 > /tmp/x; while true; do grep -c x /tmp/x; done');
  refused(`a="# ${words}"; for i in 1 2 3; do sh -c "$a"; done`);
  refused('while true; do seq 10000; done');
  refused('for i in $(seq 1 900); do echo a > /f$i; done; for i in $(seq 1 100); do ls /f1; done');
  const world = environment();
  expect(() => sh('while true; do seq 1000; sleep 1; done', world)).not.toThrow();
  expect(world.work?.total).toBeGreaterThan(1e6);
});

test('one command looks at so many files and no more, whatever it is given', () => {
  const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`/m/d${i}/f`, '']));
  const names = (pattern: string): string => Array.from({ length: 5000 }, (_, i) => pattern.replace('*', String(i))).join(' ');
  for (const command of [
    `cat ${names('/none/*')}`,
    `ls -l ${names('/m/d*')}`,
    'ls -l /m',
    'cp -r /m /copy',
    'echo /m/*/none',
    `touch ${names('/n*')}`,
  ])
    expect(() => sh(command, environment(many)), command.slice(0, 20)).toThrow(NotSupported);
  expect(() => all(['cat', ...names('/none/*').split(' ')], environment(many))).toThrow('a command that looks at so many files');
  expect(sh(`find /m -type f -name '*' -mindepth 2 | tail -1`, environment(many)).code).toBe(0);
});

test('directories that a tree has are bounded, however deep they are', () => {
  const deep = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`/m${'/a'.repeat(1000)}/${i}`, '']));
  expect(sh('find /m -type d | wc -l', environment(deep)).code).toBe(0);
});

test('what a script writes is never an error of the shell itself', () => {
  expect(sh('dd if=/dev/zero count=-1')).toMatchObject({ code: 1, err: "dd: invalid number '-1'\n" });
  expect(sh('dd if=/dev/zero count=x').code).toBe(1);
  for (const script of [`echo $((${'('.repeat(9000)}1))`, `echo $((${'-'.repeat(9000)}1))`, `[ ${'! '.repeat(9000)}a ]`])
    expect(() => sh(script)).toThrow(NotSupported);
  expect([sh(`${'! '.repeat(9001)}true`).code, sh(`${'! '.repeat(9000)}true`).code]).toEqual([1, 0]);
  expect(environment().files.write(`/${'a'.repeat(5000)}`, '')).toBe(false);
});

test('the ends of long paths and texts are found at once', () => {
  const before = process.cpuUsage();
  const slashes = `a${'/'.repeat(60_000)}a`;
  expect(sh(`tar cf - ${slashes}`).code).toBe(1);
  expect(sh(`find /${slashes}`).code).toBe(1);
  expect(withoutEnd(`${'\n'.repeat(200_000)}a\n\n`, '\n')).toHaveLength(200_001);
  // Each took seconds.
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
});

test('tar writes archives of files and directories, and reads them, whatever bytes they have', () => {
  const source = environment({ '/data/a.txt': 'text ä\n', '/data/sub/b.bin': 'x\udcff\udc80y', '/etc/hosts': 'hosts' });
  const { out, err, code } = all(['tar', 'cf', '-', '/data'], source);
  expect([code, err]).toEqual([0, "tar: removing leading '/' from member names\n"]);
  const target = environment();
  expect(all(['tar', '-xmf', '-', '-C', '/tmp'], target, [out.slice(0, 700), out.slice(700)])).toMatchObject({ code: 0, err: '' });
  expect(target.files.under('/tmp')).toEqual(['/tmp/data/a.txt', '/tmp/data/sub/b.bin']);
  expect(target.files.read('/tmp/data/sub/b.bin')).toBe('x\udcff\udc80y');
  expect(target.files.read('/tmp/data/a.txt')).toBe('text ä\n');
  expect(all(['tar', 'cf', '-', 'nothing'], environment())).toMatchObject({ code: 1, err: 'tar: nothing: No such file or directory\n' });
  expect(all(['tar', 'xf', '-'], environment(), ['no archive'])).toMatchObject({ code: 1 });
  expect(() => all(['tar', 'czf', '-', '/data'], source)).toThrow(NotSupported);
});

test('the files of a container are those that its command has made by then', () => {
  const world = (files: Record<string, string> = {}) => environment(files);
  const argv = ['sh', '-c', 'echo 1 > /tmp/a; rm /etc/x; sleep 10; rm /tmp/a; sleep 600'];
  const at = (seconds: number) => atOnce(replay(argv, world({ '/etc/x': '' }), seconds * 1000));
  const change = ({ nextChangeMs }: Replayed) => nextChangeMs && atOnce(nextChangeMs());
  expect([at(5).files, at(5).simulated]).toEqual([new Map([['/tmp/a', '1\n']]), true]);
  expect(at(15).files).toEqual(new Map());
  expect([at(0), at(5), at(15)].map(change)).toEqual([10_000, 10_000, undefined]);
  const counting = (lines: number) => ['sh', '-c', `for i in $(seq ${lines}); do echo $i; sleep 1; done; touch /tmp/b; sleep 9`];
  expect(change(atOnce(replay(counting(100), world(), 0)))).toBe(100_000);
  expect(change(atOnce(replay(counting(1000), world(), 0)))).toBeUndefined();
  expect(atOnce(replay(['nginx'], world({ '/etc/x': '' }), 0))).toMatchObject({ files: new Map([['/etc/x', '']]), simulated: false });
  expect(atOnce(replay(['sh', '-c', 'while true; do sleep 1; done'], world(), 1e12)).simulated).toBe(true);
});

test('a command that works for long gives way to others again and again', () => {
  const loop = ['sh', '-c', 'for i in $(seq 1 3000); do a=$i; done; echo end | cat; true > /tmp/a'];
  const steps = [...run(loop, environment())];
  expect(steps.filter((step) => 'busy' in step).length).toBeGreaterThan(20);
  expect(steps.filter((step) => !('busy' in step))).toEqual([{ out: 'end\n' }]);
  expect([...replay(loop, environment(), 0)].length).toBeGreaterThan(20);
});

test('a script of many words is not simulated, one of long words is', () => {
  expect(() => sh('a=1;'.repeat(5001))).toThrow(new NotSupported('the script is too long'));
  expect(() => sh(`echo "${'$NAME'.repeat(10_000)}"`)).toThrow(new NotSupported('the script is too long'));
  expect(sh(`echo "${'a b '.repeat(15_000)}"`).out).toHaveLength(60_001);
  expect(sh(`echo ${'a#2b'.repeat(15_000)} "a\\"b\\c" 2>/dev/null`).out).toBe(`${'a#2b'.repeat(15_000)} a"b\\c\n`);
});
