/** The built program, run as people run it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type Child, startChild } from './child.ts';
import { Client } from './client.ts';
import { provideSigningKey } from './signing-key.ts';

export const programDirectory: string = join(import.meta.dirname, '../../dist');
const program = join(programDirectory, 'plat.js');
/** Why tests of the program cannot run here; undefined: they can. */
export const programMissing: string | undefined = existsSync(program) ? undefined : 'dist/plat.js is not built: npm run build';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when the program has ended. */
export async function finished(child: Child): Promise<Finished> {
  await child.ended;
  const { exitCode, signalCode } = child.process;
  return { code: exitCode, signal: signalCode, stdout: child.lines.join('\n'), stderr: child.errors() };
}

export const runPlat = (...args: string[]): Promise<Finished> => finished(startChild(process.execPath, [program, ...args]));

export interface ProgramServer {
  readonly child: Child;
  readonly address: string;
  readonly dataDir: string;
}

/** Starts `plat server` and waits for its ready line. The directory is made when none is given. `from`: a copy of the program. */
export async function startPlat(
  args: readonly string[],
  dataDir = temporaryDirectory('plat-program'),
  from = programDirectory,
): Promise<ProgramServer> {
  provideSigningKey(dataDir);
  const child = startChild(process.execPath, [join(from, 'plat.js'), 'server', '--secure-port', '0', '--data-dir', dataDir, ...args]);
  const ready = await child.line((line) => line.includes('is ready at'));
  const address = /is ready at (\S+)/.exec(ready)?.[1] as string;
  return { child, address, dataDir };
}

export const clientOf = (server: ProgramServer, token: string): Client => new Client(server.address, { token });
