/**
 * Files that are reloaded when they change: certificates, CAs, keys. Files that belong together (a certificate and
 * its key) are one group: new content is used only when all of them are consistent; until then the previous one stays.
 *
 *   const files = new FileReloader(clock, log);
 *   const roots = files.follow(['ca.crt'], ([pem]) => readBundle(pem));
 *   roots.current                // the content of the file, or the last valid one
 *   roots.onChange((now) => …)   // called after each valid change
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { fileErrorText } from './file-errors.ts';

export interface Followed<T> {
  readonly current: T;
  onChange(call: (value: T) => void): void;
}
/** A value that never changes, where one that may is expected. */
export const fixed = <T>(current: T): Followed<T> => ({ current, onChange: () => {} });

/** How often files are checked, by one stat of each. */
export const RELOAD_PERIOD_MS = 2_000;

interface Group {
  readonly files: readonly string[];
  /** The mtime of each file. */
  stamps: string;
  take(contents: readonly string[]): void;
  digest: string;
}

export class FileReloader {
  private readonly groups: Group[] = [];
  private readonly clock: Clock;
  private readonly log: Log;
  private stop: () => void = () => {};
  private looking: Promise<void> | undefined;

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
  }
  /** Where nothing is followed nothing is looked at. */
  private begin(): void {
    this.stop = this.clock.every(RELOAD_PERIOD_MS, () => {
      this.looking ??= this.look().finally(() => {
        this.looking = undefined;
      });
    });
  }

  /** Throws what `read` throws, or that a file cannot be read, if that is so now. */
  follow<T>(files: readonly string[], read: (contents: readonly string[]) => T): Followed<T> {
    const contents = files.map(contentOf);
    let current = read(contents);
    const calls: ((value: T) => void)[] = [];
    if (this.groups.length === 0) this.begin();
    this.groups.push({
      files,
      stamps: '',
      digest: digestOf(contents),
      take: (changed) => {
        current = read(changed);
        for (const call of calls) call(current);
      },
    });
    return {
      get current() {
        return current;
      },
      onChange: (call) => void calls.push(call),
    };
  }

  /** Checks every file once, now. */
  async look(): Promise<void> {
    for (const group of this.groups) await this.lookAt(group);
  }
  close(): void {
    this.stop();
  }

  private async lookAt(group: Group): Promise<void> {
    let stamps: string;
    try {
      stamps = (await Promise.all(group.files.map(stampOf))).join();
      if (stamps === group.stamps) return;
      const contents = await Promise.all(group.files.map((file) => readFile(file, 'utf8')));
      const digest = digestOf(contents);
      if (digest !== group.digest) {
        group.take(contents);
        group.digest = digest;
        this.log.info('reloaded files', { files: group.files.join() });
      }
    } catch (error) {
      // Reported once for each state of the files, which may be in the middle of being replaced.
      stamps = `failed: ${(error as Error).message}`;
      if (stamps === group.stamps) return;
      this.log.error('cannot reload files, keeping the previous content', {
        files: group.files.join(),
        error: (error as Error).message,
      });
    }
    group.stamps = stamps;
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(fileErrorText(error, path) ?? `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}
async function stampOf(file: string): Promise<string> {
  const { mtimeNs, ctimeNs, size, ino } = await stat(file, { bigint: true });
  return `${ino}.${size}.${mtimeNs}.${ctimeNs}`;
}
const digestOf = (contents: readonly string[]): string => createHash('sha256').update(JSON.stringify(contents)).digest('base64');
