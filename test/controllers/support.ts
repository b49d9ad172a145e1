/** Servers that are killed, and waiting for what controllers do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../support/child.ts';
import { Client, type Loose } from '../support/client.ts';
import { programDirectory } from '../support/program.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const TOKENS = 'admin-token,admin,admin-uid,"system:masters"\n';
/** How long something may take before the test is told that it did not happen. */
const PATIENCE_MS = 60_000;

/** Waits until something holds; how long it takes does not matter. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false>, everyMs = 20): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found as T;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`it did not come about that ${what}`);
}

export interface KilledServer {
  readonly admin: Client;
  readonly child: Child;
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>;
}

/** The package as it is built, whose compiled code makes a start a third shorter: who uses this skips where it is missing (`programMissing`). */
export async function startServerChild(dataDir: string, options: object): Promise<KilledServer> {
  provideSigningKey(dataDir);
  const tokenAuthFile = join(dataDir, 'tokens.csv');
  writeFileSync(tokenAuthFile, TOKENS, { mode: 0o600 });
  const program = join(import.meta.dirname, 'server-child.cjs');
  const wanted = JSON.stringify({ securePort: 0, tokenAuthFile, dataDir, ...options });
  const child = startChild(process.execPath, [program, join(programDirectory, 'index.cjs'), wanted]);
  const line = await child.line((one) => one.startsWith('ready '));
  const admin = new Client(`https://127.0.0.1:${line.slice('ready '.length)}`, { token: 'admin-token' });
  return {
    admin,
    child,
    async kill() {
      admin.close();
      child.process.kill('SIGKILL');
      await child.ended;
    },
  };
}

/** Does something for each number below `count`, many at a time. */
export async function many(count: number, call: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** How many objects a collection has. */
export async function countOf(client: Client, path: string): Promise<number> {
  const list: Loose = await client.ok('GET', `${path}?limit=1`);
  return list.items.length + (list.metadata.remainingItemCount ?? 0);
}
