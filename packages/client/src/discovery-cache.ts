/**
 * What a server serves, kept on disk between commands: one file a server, private to the user.
 *
 *   CACHE/plat-discovery/127.0.0.1_6443-3f9a1c2b.json
 *
 * A document counts for six hours, as with the stock client; a type that is not in it is looked up at the server again. The
 * name has a digest of the server's CA: another server at the same address has a file of its own. A file that is damaged, too
 * large or of someone else is ignored, and replaced.
 */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@plat-dev/lib/clock';
import { isOwn } from '@plat-dev/lib/files/private-file';
import { replaceFile } from '@plat-dev/lib/files/replace-file';
import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';

const TTL_MS = 6 * 3_600_000;
const MAX_BYTES = 16 << 20;
/** Files of a directory; the oldest of more are removed. */
export const MOST_SERVERS = 64;
const FORMAT = 1;

interface Entry {
  /** When it was fetched: milliseconds since 1970. */
  readonly at: number;
  readonly value: unknown;
}
interface Content {
  readonly format: number;
  readonly server: string;
  readonly entries: Record<string, Entry>;
}

export class DiscoveryCache {
  private readonly directory: string;
  private readonly file: string;
  private readonly server: string;
  private readonly clock: Clock;
  private entries: Record<string, Entry> | undefined;
  private changed = false;

  constructor(directory: string, server: string, ca: string, clock: Clock) {
    this.directory = directory;
    this.server = server;
    this.clock = clock;
    const host = new URL(server).host.replace(/[^A-Za-z0-9.-]/g, '_');
    const digest = createHash('sha256').update(server).update('\0').update(ca).digest('hex').slice(0, 8);
    this.file = join(directory, `${host}-${digest}.json`);
  }
  /** The document of a path; undefined if it is unknown or too old. */
  get(path: string): unknown {
    this.entries ??= read(this.file, this.server);
    const entry = own(this.entries, path);
    if (entry === undefined) return undefined;
    const age = this.clock.now() - entry.at;
    return age >= 0 && age < TTL_MS ? entry.value : undefined;
  }
  set(path: string, value: unknown): void {
    this.entries ??= read(this.file, this.server);
    setOwn(this.entries, path, { at: this.clock.now(), value });
    this.changed = true;
  }
  /** Forgets everything. */
  clear(): void {
    this.changed ||= Object.keys(this.entries ?? {}).length > 0;
    this.entries = {};
  }
  /** Writes what was learned. A file that cannot be written is no failure of the command. */
  save(): void {
    if (!this.changed || this.entries === undefined) return;
    this.changed = false;
    try {
      const content: Content = { format: FORMAT, server: this.server, entries: this.entries };
      replaceFile(this.file, jsonText(content));
      this.dropOldest();
    } catch {
      // The directory is read-only or full: the next command asks the server again.
    }
  }
  private dropOldest(): void {
    const files = readdirSync(this.directory).filter((name) => name.endsWith('.json'));
    if (files.length <= MOST_SERVERS) return;
    const aged = files.map((name) => ({ name, at: statSync(join(this.directory, name)).mtimeMs })).sort((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, files.length - MOST_SERVERS)) {
      if (join(this.directory, name) !== this.file) rmSync(join(this.directory, name), { force: true });
    }
  }
}

function read(file: string, server: string): Record<string, Entry> {
  try {
    const { format, server: of, entries } = JSON.parse(readPrivate(file)) as Content;
    if (format !== FORMAT || of !== server || typeof entries !== 'object' || entries === null) return {};
    return Object.fromEntries(Object.entries(entries).filter(([, entry]) => Number.isFinite(entry?.at)));
  } catch {
    return {};
  }
}
/** The text of a file that only this user can write. */
function readPrivate(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const facts = fstatSync(handle);
    if (facts.size > MAX_BYTES || !isOwn(facts, process.getuid?.())) throw new Error('not ours');
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}
