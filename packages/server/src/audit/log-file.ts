/**
 * The audit log as a file. Lines are collected and written once per turn of the event loop, one write at a time. When the
 * disk cannot keep up, requests wait at the point where they are recorded: nothing is dropped, and the
 * buffer is bounded by them.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { eventLine } from './event.ts';
import type { AuditSink, WrittenEvent } from './sink.ts';

/** Buffered bytes from which on requests wait. */
const HIGH_WATER = 8 * 1024 * 1024;
/** Maximum bytes of one write. */
const WRITE_BYTES = 1024 * 1024;

export interface LogFileOptions {
  /** `-` is standard output, which is not rotated. */
  readonly path: string;
  readonly format: 'json' | 'legacy';
  /** Size in bytes at which the file is rotated; 0 is never. */
  readonly maxBytes: number;
  /** Maximum rotated files; 0 is no limit. */
  readonly maxBackups: number;
  /** Maximum age of rotated files; 0 is no limit. */
  readonly maxAgeMs: number;
  readonly compress: boolean;
  readonly now: () => number;
  /** Called with an error, with the number of events that were lost by it. */
  readonly failed: (error: Error, events: number) => void;
}

export class LogFile implements AuditSink {
  readonly name = 'log';
  private readonly options: LogFileOptions;
  private lines: string[] = [];
  private gathered = 0;
  private waiting: (() => void)[] = [];
  private writing: Promise<void> | undefined;
  private file: FileHandle | undefined;
  private size = 0;
  private tidying: Promise<void> = Promise.resolve();

  private constructor(options: LogFileOptions) {
    this.options = options;
  }

  /** Opens the file for appending, so that an invalid path fails at once. */
  static async open(options: LogFileOptions): Promise<LogFile> {
    const log = new LogFile(options);
    if (options.path !== '-') {
      makeDirectory(dirname(options.path), 0o700);
      await log.openFile();
    }
    return log;
  }

  put({ event, json }: WrittenEvent): undefined | Promise<boolean> {
    const line = `${this.options.format === 'json' ? json : eventLine(event)}\n`;
    this.lines.push(line);
    this.gathered += line.length;
    this.writing ??= this.writeAll();
    if (this.gathered < HIGH_WATER) return undefined;
    return new Promise((resolve) => this.waiting.push(() => resolve(true)));
  }

  /** Resolves when everything is written, and rotated files are cleaned up. */
  async settled(): Promise<void> {
    do {
      await this.writing;
      await this.tidying;
      // Lines that were added meanwhile may have caused a rotation.
    } while (this.writing !== undefined);
  }

  async close(): Promise<void> {
    await this.settled();
    await this.file?.close();
    this.file = undefined;
  }

  private async writeAll(): Promise<void> {
    await new Promise<void>((resolve) => inNextTurn(resolve));
    while (this.lines.length > 0) {
      const { text, count } = this.takeLines();
      try {
        await this.write(Buffer.from(text));
      } catch (error) {
        this.options.failed(error as Error, count);
      }
      if (this.gathered < HIGH_WATER) for (const go of this.waiting.splice(0)) go();
    }
    this.writing = undefined;
  }

  private takeLines(): { text: string; count: number } {
    let count = 0;
    let size = 0;
    while (count < this.lines.length && (count === 0 || size + (this.lines[count] as string).length <= WRITE_BYTES)) {
      size += (this.lines[count] as string).length;
      count++;
    }
    const batch = count === this.lines.length ? this.lines : this.lines.slice(0, count);
    this.lines = count === this.lines.length ? [] : this.lines.slice(count);
    this.gathered -= size;
    return { text: batch.join(''), count };
  }

  private async write(bytes: Buffer): Promise<void> {
    if (this.options.path === '-') {
      await new Promise<void>((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve())));
      return;
    }
    const { maxBytes } = this.options;
    if (maxBytes > 0 && this.size > 0 && this.size + bytes.length > maxBytes) await this.rotate();
    if (this.file === undefined) await this.openFile();
    await (this.file as FileHandle).appendFile(bytes);
    this.size += bytes.length;
  }

  private async openFile(): Promise<void> {
    this.file = await open(this.options.path, 'a', 0o600);
    this.size = (await this.file.stat()).size;
  }

  private async rotate(): Promise<void> {
    const { path } = this.options;
    await this.file?.close();
    this.file = undefined;
    const { dir, name, ext } = parse(path);
    const time = new Date(this.options.now()).toISOString().slice(0, -1).replaceAll(':', '-');
    const existingFiles = new Set(await readdir(dir === '' ? '.' : dir));
    let old = `${name}-${time}${ext}`;
    for (let i = 1; existingFiles.has(old) || existingFiles.has(`${old}.gz`); i++) old = `${name}-${time}.${i}${ext}`;
    await rename(path, join(dir, old));
    // Rotated files are compressed and removed while the new one is written.
    this.tidying = this.tidying.then(() => this.tidy(dir)).catch((error: Error) => this.options.failed(error, 0));
  }

  /** Removes excess and old files, then compresses the remaining ones. Further files may have been rotated meanwhile. */
  private async tidy(dir: string): Promise<void> {
    const { maxBackups, maxAgeMs, now, compress } = this.options;
    for (const [i, { file, time }] of (await this.oldFiles(dir)).entries()) {
      const age = now() - Date.parse(time.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:').concat('Z'));
      if ((maxBackups > 0 && i >= maxBackups) || (maxAgeMs > 0 && age > maxAgeMs)) await unlink(join(dir, file));
      else if (compress && !file.endsWith('.gz')) await pack(join(dir, file));
    }
  }

  /** Newest first. */
  private async oldFiles(dir: string): Promise<{ file: string; time: string }[]> {
    const { name, ext } = parse(this.options.path);
    const rotatedFiles: { file: string; time: string }[] = [];
    for (const file of await readdir(dir === '' ? '.' : dir)) {
      if (!file.startsWith(`${name}-`)) continue;
      const match = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})(?:\.(\d+))?(.*)$/.exec(file.slice(name.length + 1));
      if (match !== null && (match[3] === ext || match[3] === `${ext}.gz`)) rotatedFiles.push({ file, time: match[1] as string });
    }
    return rotatedFiles.sort((a, b) => (a.file < b.file ? 1 : -1));
  }
}

async function pack(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode: 0o600 }));
  await unlink(path);
}
