/**
 * Quotas with all pending charges included. The next request builds on the pending write of the
 * one before it, without waiting for the disk; both become durable together, or neither.
 */
import type { ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import type { LiveView } from '@plat-dev/kinds/live-view';

const keyOf = ({ metadata }: ResourceQuota): string => `${metadata.namespace}/${metadata.name}`;
const versionOf = ({ metadata }: ResourceQuota): number => Number(metadata.resourceVersion);

export class QuotaView {
  private readonly live: LiveView<ResourceQuota>;
  /** Charged, with the revision of the charge, and not yet visible. */
  private readonly coming = new Map<string, ResourceQuota>();

  constructor(live: LiveView<ResourceQuota>) {
    this.live = live;
  }
  list(namespace: string): readonly ResourceQuota[] {
    const visible = this.live.list(namespace);
    return this.coming.size === 0 ? visible : visible.map((quota) => this.newest(quota));
  }
  /** The charge will be stored with this revision. */
  expect(charged: readonly ResourceQuota[], revision: number): void {
    for (const quota of charged)
      this.coming.set(keyOf(quota), { ...quota, metadata: { ...quota.metadata, resourceVersion: String(revision) } });
  }
  /** The charge is visible now, or has failed. */
  settled(charged: readonly ResourceQuota[], revision: number, isStored: boolean): void {
    for (const quota of charged) {
      const coming = this.coming.get(keyOf(quota));
      // The last of several pending charges confirms all; if one failed, so do those that build on it.
      if (coming !== undefined && (!isStored || versionOf(coming) <= revision)) this.coming.delete(keyOf(quota));
    }
  }
  private newest(visible: ResourceQuota): ResourceQuota {
    const coming = this.coming.get(keyOf(visible));
    return coming !== undefined && versionOf(coming) > versionOf(visible) ? coming : visible;
  }
}
