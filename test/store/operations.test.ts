/**
 * The steps of docs/operations.md, run in their order by a shell. Its commands, servers too, run in this process, to which the shell
 * sends their arguments: that takes a tenth of the time of a program of its own for each.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve as resolvePath } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { serverCommand } from '../../packages/cli/src/server.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import type { ServerOptions } from '../../packages/compose/src/config/server-options.ts';
import { startServer } from '../../packages/compose/src/server.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { freePort } from '../support/free-ports.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

interface Block {
  readonly heading: string;
  readonly needsEtcd: boolean;
  readonly script: string;
}

function blocksOf(text: string): Block[] {
  let heading = '';
  const blocks: Block[] = [];
  for (const [, title, mark, script] of text.matchAll(/^## (.+)$|^```sh run( etcd)?\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ heading, needsEtcd: mark !== undefined, script: script as string });
  }
  return blocks;
}

/** What the page leaves to the reader. A line that begins with `!` must fail, which a shell does not check by itself. */
const prelude = `set -euo pipefail
# A server that goes on would keep the output open.
trap '[ -z "\${server:-}" ] || plat stop-servers || true' EXIT
server=
plat() {
  local answer
  exec 4<>/dev/tcp/127.0.0.1/$COMMANDS
  printf '%s\\0' "$PWD" "$KUBECONFIG" "$@" '' >&4
  # What was printed, and the code in the last line.
  answer=$(cat <&4)
  exec 4>&-
  printf %s "\${answer%$'\\n'*}"
  return "\${answer##*$'\\n'}"
}
wait_for_server() {
  server=$!
  # It listens before it writes the configuration for its clients; there may be an older one.
  until grep -qs ":$PORT" "$KUBECONFIG" && (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null; do
    kill -0 "$server" || return 1
    sleep 0.02
  done
  plat get namespaces >/dev/null
}
stop_server() { plat stop-servers; wait "$server"; server=; }
must_fail() { if "$@"; then echo "this must fail: $*"; return 1; fi; }
`;
const strict = (script: string): string => script.replace(/^! /gm, 'must_fail ');

test('the page has steps for everything that it promises', () => {
  const headings = blocksOf(page).map(({ heading }) => heading);
  expect([...new Set(headings)]).toEqual(
    expect.arrayContaining([
      'Back up',
      'Restore',
      'Move to etcd, and back',
      'Rename: another identity',
      'A full disk',
      'Damage',
      'Upgrade',
    ]),
  );
  expect(blocksOf('## A\n```sh run etcd\n! false\n```\n```sh\nno\n```\n')).toEqual([
    { heading: 'A', needsEtcd: true, script: '! false\n' },
  ]);
});

test('every step runs', { timeout: 180_000 }, async () => {
  const etcd = etcdMissing === undefined ? await startEtcd() : undefined;
  const commands = await startCommands();
  try {
    const cwd = temporaryDirectory('plat-operations');
    // Each of the servers would else make one, which takes longer than its start.
    for (const [, name] of page.matchAll(/^\$PLAT server .*--data-dir (\S+)/gm)) provideSigningKey(join(cwd, name as string));
    const steps = blocksOf(page).filter(({ needsEtcd }) => !needsEtcd || etcd !== undefined);
    const script = steps.map(({ heading, script: lines }, step) => `echo '=== step ${step + 1}: ${heading}'\n${strict(lines)}`).join('\n');
    const { code, output } = await shell(`${prelude}${script}\necho '=== done'\n`, cwd, {
      PLAT: 'plat',
      COMMANDS: String(commands.port),
      KUBECONFIG: '',
      PORT: String(await freePort()),
      ETCD: etcd?.endpoint ?? '',
      HOME: cwd,
    });
    expect(code, `${output}\n${commands.errors.join('')}`).toBe(0);
    expect(output.trimEnd().endsWith('=== done'), output).toBe(true);
    expect(commands.ran).toBeGreaterThan(20);
  } finally {
    await commands.close();
    await etcd?.stop();
  }
});

/** Runs commands that come over connections: directory, configuration and arguments, each with a zero at its end, then an empty one. */
async function startCommands() {
  const errors: string[] = [];
  let ran = 0;
  const servers = new Map<TestIO, Promise<number>>();
  const stopServers = async (): Promise<number> => {
    const codes = [...servers].map(([io, code]) => {
      io.send('SIGTERM');
      return code;
    });
    return Math.max(0, ...(await Promise.all(codes)));
  };
  const start = (args: readonly string[], io: TestIO): Promise<number> => {
    if (args[0] === 'stop-servers') return stopServers();
    if (args[0] !== 'server') return run(args, io);
    const inItsDirectory = (options: ServerOptions): ServerOptions => ({
      ...options,
      dataDir: resolvePath(io.cwd, options.dataDir),
      ...(options.restoreFrom !== undefined && { restoreFrom: resolvePath(io.cwd, options.restoreFrom) }),
    });
    const command = serverCommand((options) => startServer(inItsDirectory(options), { log: silentLog }));
    const code = run(args, io, [{ name: 'server', summary: '', load: async () => command }]).finally(() => servers.delete(io));
    servers.set(io, code);
    return code;
  };
  const answer = async (text: string): Promise<string> => {
    const [cwd = '', config = '', ...args] = text.split('\0');
    const io = testIO({ cwd, home: cwd, env: config === '' ? {} : { KUBECONFIG: resolvePath(cwd, config) } });
    const code = await start(args, io);
    ran++;
    errors.push(`plat ${args.join(' ')}: ${code}\n${io.stderr}`);
    return `${io.stdout}\n${code}`;
  };
  const server = createServer((socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', async (chunk: string) => {
      text += chunk;
      if (text.endsWith('\0\0')) socket.end(await answer(text.slice(0, -2)));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    errors,
    get ran() {
      return ran;
    },
    async close() {
      await stopServers();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function shell(script: string, cwd: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-s'], { cwd, env: { PATH: process.env.PATH ?? '', ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
    child.stdin.end(script);
  });
}
