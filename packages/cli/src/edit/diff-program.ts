/** The differences of objects, shown by this program or by another one that compares two directories. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { IO } from '../command.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { isStock } from '../program.ts';
import { unifiedDiff } from '../text-diff.ts';

interface Compared {
  /** `configmap/a` */
  readonly name: string;
  /** `v1.ConfigMap.default.a` */
  readonly file: string;
}

export class Comparison {
  private readonly io: IO;
  private readonly pairs: { compared: Compared; before: string; after: string }[] = [];

  constructor(io: IO) {
    this.io = io;
  }
  /** `before` or `after` is undefined for an object that is created or deleted. */
  add(compared: Compared, before: ApiItem | undefined, after: ApiItem | undefined): void {
    const yaml = (item: ApiItem | undefined): string => (item === undefined ? '' : stringifyYaml(item as JsonValue));
    this.pairs.push({ compared, before: yaml(before), after: yaml(after) });
  }
  /** Prints the differences. 0: there are none, 1: there are some, more: the program failed. */
  async show(): Promise<number> {
    if (this.pairs.length === 0) return 0;
    const program = this.io.env.KUBECTL_EXTERNAL_DIFF ?? '';
    if (program !== '') return this.external(...commandOf(program));
    if (!isStock(this.io)) return this.own();
    // The stock client runs diff; where there is none, the differences are shown here.
    return this.external('diff', ['-u', '-N']).catch((error: unknown) => {
      if ((error as Error).message.includes('ENOENT')) return this.own();
      throw error;
    });
  }
  private own(): 0 | 1 {
    const changes = this.pairs.map(({ compared: { name }, before, after }) =>
      unifiedDiff(before, after, { before: `live/${name}`, after: `applied/${name}` }),
    );
    for (const change of changes) this.io.out(change);
    return changes.some((change) => change !== '') ? 1 : 0;
  }
  private async external(program: string, flags: readonly string[]): Promise<number> {
    const directories = await Promise.all(['LIVE', 'MERGED'].map((name) => mkdtemp(join(tmpdir(), `${name}-`))));
    const [live = '', merged = ''] = directories;
    try {
      for (const { compared, before, after } of this.pairs) {
        const file = compared.file.replaceAll('/', '_');
        // Files of objects that do not exist are left out of one directory.
        await writeFile(join(live, file), before, { mode: 0o600 });
        if (after !== '') await writeFile(join(merged, file), after, { mode: 0o600 });
      }
      return await this.run(program, [...flags, live, merged]);
    } finally {
      for (const directory of directories) await rm(directory, { recursive: true, force: true });
    }
  }
  private run(program: string, args: readonly string[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: this.io.env as NodeJS.ProcessEnv });
      child.stdout.setEncoding('utf8').on('data', (text: string) => this.io.out(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => this.io.err(text));
      child.on('error', (error) => reject(new Error(`failed to run ${JSON.stringify(program)}: ${error.message}`)));
      child.on('close', (code) => {
        if (code === 0 || code === 1) resolve(code);
        else reject(new Error(`failed to run ${JSON.stringify(program)}: exit status ${code}`));
      });
    });
  }
}

/** `colordiff -N -u`: only simple flags are passed on. */
function commandOf(text: string): [program: string, flags: string[]] {
  const [program = '', ...flags] = text.split(' ');
  return [program, flags.filter((flag) => /^[a-zA-Z0-9-=]+$/.test(flag))];
}
