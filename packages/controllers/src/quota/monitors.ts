/**
 * Notices deletions of objects that quotas count. Only kinds that some quota counts are watched, only their changes,
 * and no objects are kept.
 */

import type { Client } from '@plat-dev/client/dynamic';
import { Following } from '@plat-dev/client/watch';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import type { ServedResource } from '../runtime/resources.ts';

export interface QuotaMonitorsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly spread: () => number;
  readonly report: (error: unknown) => void;
  /** Usage of the kind may have decreased in this namespace; in any, if it is not known which. */
  readonly lessUsed: (namespace: string | undefined) => void;
}

export const idOf = ({ group, name }: { group: string; name: string }): string => `${group}/${name}`;

export class QuotaMonitors {
  private readonly options: QuotaMonitorsOptions;
  private readonly followed = new Map<string, { following: Following<ApiObject>; synced: Promise<void> }>();

  constructor(options: QuotaMonitorsOptions) {
    this.options = options;
  }
  /** Resolves when no deletion will be missed any more. */
  follow(resource: ServedResource): Promise<void> {
    const existing = this.followed.get(idOf(resource));
    if (existing !== undefined) return existing.synced;
    const isPods = resource.group === '' && resource.name === 'pods';
    const isServices = resource.group === '' && resource.name === 'services';
    let done: () => void = () => {};
    const synced = new Promise<void>((resolve) => {
      done = resolve;
    });
    let first = true;
    const following = new Following<ApiObject>(
      {
        ...this.options,
        resource,
        metadataOnly: true,
        changesOnly: true,
        // A pod that has finished leaves this selection, which looks like a deletion.
        ...(isPods && { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }),
      },
      {
        begin() {},
        listed() {},
        complete: () => {
          // Changes in between were missed.
          if (!first) this.options.lessUsed(undefined);
          first = false;
          done();
        },
        changed: (type, object) => {
          // A service may change to a type that uses less.
          if (type === 'DELETED' || (isServices && type === 'MODIFIED')) this.options.lessUsed(object.metadata.namespace ?? '');
        },
        wants: (type) => type === 'DELETED' || isServices,
      },
    );
    following.start();
    this.followed.set(idOf(resource), { following, synced });
    return synced;
  }
  /** Watches exactly these kinds. */
  keepOnly(wantedIds: ReadonlySet<string>): void {
    for (const [id, { following }] of this.followed) {
      if (wantedIds.has(id)) continue;
      following.stop();
      this.followed.delete(id);
    }
  }
  stop(): void {
    this.keepOnly(new Set());
  }
}
