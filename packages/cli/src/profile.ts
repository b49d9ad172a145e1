/** `--profile`: where a command spends its time or memory, in the form that the developer tools of browsers read. */

import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { resolve } from 'node:path';
import { FlagError, parseFlags } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import type { IO } from './command.ts';
import { connectFlags } from './global-flags.ts';

const table = { Profiling: { profile: connectFlags.profile, 'profile-output': connectFlags['profile-output'] } };

/** Runs the work, and writes the profile that the arguments ask for. */
export async function profiled(args: readonly string[], io: IO, work: () => Promise<number>): Promise<number> {
  const { profile, profileOutput } = optionsOf(args);
  if (profile === 'none') return work();
  const session = new Session();
  session.connect();
  try {
    await session.post(profile === 'cpu' ? 'Profiler.enable' : 'HeapProfiler.enable');
    await session.post(profile === 'cpu' ? 'Profiler.start' : 'HeapProfiler.startSampling');
    try {
      return await work();
    } finally {
      const answer = await session.post(profile === 'cpu' ? 'Profiler.stop' : 'HeapProfiler.stopSampling');
      await writeFile(resolve(io.cwd, profileOutput), jsonText((answer as unknown as { profile: unknown }).profile));
    }
  } finally {
    session.disconnect();
  }
}

/** Only the flags about profiles are read; the command reads the others. */
function optionsOf(args: readonly string[]): { profile: string; profileOutput: string } {
  const end = args.indexOf('--');
  const own = args.slice(0, end === -1 ? undefined : end);
  const forwardedOptions = own.flatMap((word, i) => {
    if (!/^--profile(-output)?(=|$)/.test(word)) return [];
    const next = own[i + 1];
    if (word.includes('=')) return [word];
    if (next === undefined) throw new FlagError(`${word} needs a value`);
    return [word, next];
  });
  return parseFlags(table, forwardedOptions).options;
}
