/**
 * Notes on which day the token in a Secret was used last, as a label of the Secret. That happens beside the requests that use it: they do
 * not wait for it, and each Secret is written once a day.
 */
import { dayOf, lastUsedLabel } from '@plat-dev/kinds/core/legacy-tokens';
import type { Log } from '@plat-dev/lib/log';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { SystemWriter } from '../../registry/system.ts';

/** Secrets that are written at a time; the use of others is noted when they are used again. */
const MOST_PENDING = 100;

export class LegacyTokenUse {
  readonly #identity: Identity;
  readonly #now: () => number;
  readonly #log: Log;
  readonly #pending = new Set<string>();
  /** Set as soon as there is one. */
  writer: Pick<SystemWriter, 'change'> | undefined;

  constructor(identity: Identity, now: () => number, log: Log) {
    this.#identity = identity;
    this.#now = now;
    this.#log = log;
  }

  note(secret: { readonly namespace: string; readonly name: string; readonly labels: Readonly<Record<string, string>> | undefined }): void {
    const today = dayOf(this.#now());
    const label = lastUsedLabel(this.#identity);
    const key = `${secret.namespace}/${secret.name}`;
    if (own(secret.labels, label) === today || this.writer === undefined) return;
    if (this.#pending.has(key) || this.#pending.size >= MOST_PENDING) return;
    this.#pending.add(key);
    void this.writer
      .change('', 'secrets', secret.namespace, secret.name, ({ metadata }) => {
        metadata.labels ??= {};
        setOwn(metadata.labels, label, today);
      })
      .catch((error: unknown) =>
        this.#log.warn('use of a service account token not noted', { secret: key, error: (error as Error).message }),
      )
      .finally(() => this.#pending.delete(key));
  }
}
