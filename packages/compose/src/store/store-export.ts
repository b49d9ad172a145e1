/** The objects of a store or a backup, decoded, for export. */

import { systemClock } from '@plat-dev/lib/clock';
import { silentLog } from '@plat-dev/lib/log';
import { Metrics } from '@plat-dev/lib/metrics';
import { systemRandom } from '@plat-dev/lib/random';
import { apiRelease } from '@plat-dev/lib/version';
import { identityOf } from '@plat-dev/meta/identity-file';
import { parseExact } from '@plat-dev/schema/json/parse';
import { fileChunks, namingFile } from '@plat-dev/storage/backup/file';
import { readBackup, verifyBackup } from '@plat-dev/storage/backup/read';
import type { Engine } from '@plat-dev/storage/engine';
import { isPlain, storedText } from '@plat-dev/storage/item';
import { type Place, withPlace, withSnapshot } from './store-tools.ts';

export type ExportSource =
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'file'; readonly file: string }
  /** The stream of a running server. */
  | { readonly type: 'chunks'; readonly chunks: AsyncIterable<Buffer> };

export interface ExportOptions {
  /** File of `--encryption-provider-config`, for values that are encrypted. */
  readonly encryption: string | undefined;
  /** Called with every object of the API, in the order of the keys. */
  take(object: Record<string, unknown>): Promise<void>;
}
export interface ExportSummary {
  readonly identity: string | undefined;
  readonly revision: number;
  /** Keys of unreadable objects: damaged, or encrypted with unknown keys. */
  readonly unreadable: readonly string[];
}

/** A source is read twice if possible, so that nothing is written of a truncated backup. */
export async function exportObjects(
  source: ExportSource,
  options: ExportOptions,
  begin: (identity: string | undefined) => void,
): Promise<ExportSummary> {
  if (source.type === 'place') {
    return withPlace(source.place, (engine) =>
      withSnapshot(engine, async ({ identity, revision }, pages) => {
        begin(identity);
        const exporter = await Exporter.of(options, identity);
        for await (const page of pages)
          for (const { key, value, unreadable } of page) await exporter.take(key, unreadable === undefined ? value : undefined);
        return exporter.end(revision);
      }),
    );
  }
  if (source.type === 'file') await namingFile(source.file, () => verifyBackup(fileChunks(source.file)));
  let exporter: Exporter | undefined;
  let revision = 0;
  for await (const part of readBackup(source.type === 'file' ? fileChunks(source.file) : source.chunks)) {
    if (part.type === 'header') {
      ({ revision } = part.header);
      begin(part.header.identity);
      exporter = await Exporter.of(options, part.header.identity);
    } else if (part.type === 'entries') for (const { key, value } of part.entries) await exporter?.take(key, value);
    else if (part.type === 'trailer') for (const key of part.trailer.unreadable) await exporter?.take(key, undefined);
  }
  return (exporter as Exporter).end(revision);
}

type Open = (value: Buffer, key: string) => Promise<Buffer | undefined>;

class Exporter {
  readonly #options: ExportOptions;
  readonly #identity: string | undefined;
  readonly #open: Open;
  readonly #close: () => void;
  readonly #unreadable: string[] = [];

  static async of(options: ExportOptions, identity: string | undefined): Promise<Exporter> {
    const { open, close } = await opener(options.encryption, identity);
    return new Exporter(options, identity, open, close);
  }
  constructor(options: ExportOptions, identity: string | undefined, open: Open, close: () => void) {
    this.#options = options;
    this.#identity = identity;
    this.#open = open;
    this.#close = close;
  }

  async take(key: string, storedValue: Buffer | undefined): Promise<void> {
    const value = storedValue === undefined || isPlain(storedValue) ? storedValue : await this.#open(storedValue, key);
    const object = value === undefined ? undefined : objectOf(value);
    if (object === undefined) this.#unreadable.push(key);
    // Allocations and the like are records of the server, not objects.
    else if (typeof object.apiVersion === 'string' && typeof object.kind === 'string') await this.#options.take(object);
  }
  end(revision: number): ExportSummary {
    this.#close();
    return { identity: this.#identity, revision, unreadable: this.#unreadable };
  }
}

function objectOf(value: Buffer): Record<string, unknown> | undefined {
  try {
    return parseExact(storedText(value).toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** How encrypted values are decrypted: not at all without a configuration. */
async function opener(file: string | undefined, identity: string | undefined): Promise<{ open: Open; close: () => void }> {
  if (file === undefined || identity === undefined) return { open: async () => undefined, close: () => {} };
  const { composeEncryption } = await import('./encryption.ts');
  const { isRefused } = await import('@plat-dev/storage/encryption/transformer');
  const encryption = await composeEncryption({
    file,
    reload: false,
    identity: identityOf(identity),
    // Only its rules are used: the values are known already.
    engine: { name: 'memory', exclusive: true } as Engine,
    metrics: new Metrics({ version: apiRelease }),
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
  });
  return {
    open: async (value, key) => {
      const openedValue = await encryption.engine.rules.of(key)?.open(value, key);
      return openedValue === undefined || isRefused(openedValue) ? undefined : openedValue;
    },
    close: () => encryption.close(),
  };
}
