/**
 * The documents of a page of history. That of a version is made once: it is one side of the change that made it, and of the one that
 * replaced it. It is dropped after its last use.
 */
import type { Slices } from '@plat-dev/lib/slices';
import type { HistoryPolicy, KeptVersion } from '@plat-dev/storage/history';
import type { Resource } from '../registry/catalog.ts';
import { type ConversionRetries, documentsOf, type KeptDocument } from './document.ts';
import type { HistoryEntry } from './page.ts';

/** Versions, and bytes of their values, that are made together: a webhook converts them in one call. */
const MOST_TOGETHER = 200;
const MOST_BYTES_TOGETHER = 256 * 1024;
/** Failed calls of a webhook for one page after which the objects of a failed call are not tried in halves any more. */
const MOST_RETRIES = 16;

export class Documents {
  /** Each version is shown with its whole object. */
  readonly areWhole: boolean;
  readonly slices: Slices;
  private readonly policy: HistoryPolicy | undefined;
  private readonly resource: Resource;
  /** Versions that are not yet made, in the order of their first use. */
  private readonly waiting: Iterator<KeptVersion>;
  private readonly uses = new Map<KeptVersion, number>();
  private readonly documents = new Map<KeptVersion, KeptDocument>();
  private readonly retries: ConversionRetries = { left: MOST_RETRIES };

  constructor(policy: HistoryPolicy | undefined, resource: Resource, entries: readonly HistoryEntry[], areWhole: boolean, slices: Slices) {
    this.policy = policy;
    this.resource = resource;
    this.areWhole = areWhole;
    this.slices = slices;
    for (const { version, replaced } of entries)
      for (const used of [version, replaced]) if (used?.type === 'put') this.uses.set(used, (this.uses.get(used) ?? 0) + 1);
    this.waiting = [...this.uses.keys()].values();
  }

  /** Versions are asked for in the order of the entries: each one, then the one that it replaced. */
  async of(version: KeptVersion): Promise<KeptDocument> {
    while (!this.documents.has(version)) await this.makeNext();
    const document = this.documents.get(version) as KeptDocument;
    const left = (this.uses.get(version) ?? 1) - 1;
    this.uses.set(version, left);
    if (left === 0) this.documents.delete(version);
    return document;
  }

  private async makeNext(): Promise<void> {
    const versions: KeptVersion[] = [];
    for (let bytes = 0; versions.length < MOST_TOGETHER && bytes < MOST_BYTES_TOGETHER; ) {
      const { value: version, done } = this.waiting.next();
      if (done) break;
      versions.push(version);
      bytes += version.value?.length ?? 0;
    }
    if (versions.length === 0) throw new Error('a version of history was asked for more often than it is used');
    const documents = await documentsOf(this.policy, this.resource, versions, this.areWhole, this.slices, this.retries);
    for (const [i, version] of versions.entries()) this.documents.set(version, documents[i] as KeptDocument);
  }
}
