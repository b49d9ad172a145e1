/**
 * Informers that the controllers of a process share: the same objects in the same form have one
 * informer. It is made on first use, so that a server without quotas pays nothing for watching pods.
 */
import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { resourceKey } from '@plat-dev/client/dynamic';
import { Informer } from '@plat-dev/client/informer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';

export interface InformerChoice<T extends ApiObject> {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly namespace?: string;
  readonly metadataOnly?: boolean;
  /** The part of an object that is kept. Different parts have a different `form`. */
  readonly keep?: (object: T) => T;
  readonly form?: string;
  /** As `FollowOptions.takesWritersObjects`; the same for all users of a form. */
  readonly takesWritersObjects?: boolean;
  /** As `InformerOptions.alike`; the same for all users of a form. */
  readonly alike?: (object: T) => string;
}

export interface InformersOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly spread: () => number;
  readonly report: (error: unknown, resource: string) => void;
}

export class Informers {
  private readonly options: InformersOptions;
  private readonly informersById = new Map<string, Informer<ApiObject>>();
  private readonly shared = new Map<string, unknown>();

  constructor(options: InformersOptions) {
    this.options = options;
  }
  /** The informer, started. */
  of<T extends ApiObject>(resource: ResourceRef, choice: InformerChoice<T> = {}): Informer<T> {
    const { labelSelector = '', fieldSelector = '', namespace = '', metadataOnly = false, form = '' } = choice;
    const id = [resource.group, resource.version, resource.name, labelSelector, fieldSelector, namespace, metadataOnly, form].join('|');
    const existing = this.informersById.get(id);
    if (existing !== undefined) return existing as unknown as Informer<T>;
    const { form: _form, ...follow } = choice;
    const informer = new Informer<T>({
      ...follow,
      shared: true,
      resource,
      client: this.options.client,
      clock: this.options.clock,
      spread: this.options.spread,
      report: (error) => this.options.report(error, resourceKey(resource)),
    });
    this.informersById.set(id, informer as unknown as Informer<ApiObject>);
    informer.start();
    return informer;
  }
  /** A value that several controllers share, made on first use: an index of objects that an informer has. */
  share<T>(name: string, make: () => T): T {
    if (!this.shared.has(name)) this.shared.set(name, make());
    return this.shared.get(name) as T;
  }
  /** Objects or changes have come that are not handled yet. */
  get isBehind(): boolean {
    for (const informer of this.informersById.values()) if (informer.isBehind) return true;
    return false;
  }
  stop(): void {
    for (const informer of this.informersById.values()) informer.stop();
    this.informersById.clear();
    this.shared.clear();
  }
}
