/** A little history of one object under test: every write stores the object with the owners that it left. */
import { decode } from '@plat-dev/schema/json';
import type { MessageType } from '@plat-dev/schema/types';
import { apply } from './apply.ts';
import type { ApplyWrite } from './apply-write.ts';
import type { ManagedFields } from './managers.ts';
import { recordUpdate, type UpdateWrite } from './record-update.ts';
import type { Values } from './shape.ts';

export type Stored = Values & { metadata: Values & { managedFields?: ManagedFields } };

export class History {
  live: Stored | undefined;
  now = Date.UTC(2024, 0, 1);
  private readonly type: MessageType;
  private readonly more: Partial<ApplyWrite>;

  constructor(type: MessageType, more: Partial<ApplyWrite> = {}) {
    this.type = type;
    this.more = more;
  }
  private get facts() {
    return { type: this.type, apiVersion: 'v1', now: this.now, live: this.live, ...this.more };
  }
  private body(body: Values): Values {
    return { apiVersion: 'v1', ...body, metadata: { name: 'box', ...(body.metadata as object) } };
  }
  private store(object: Values, managedFields: ManagedFields | undefined): this {
    const { managedFields: _, ...metadata } = object.metadata as Stored['metadata'];
    this.live = { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } } as Stored;
    this.now += 1000;
    return this;
  }
  /** Replaces the whole object. */
  write(manager: string, body: Values, more: Partial<UpdateWrite> = {}): this {
    const object = decode(this.type, this.body(body)) as Values;
    return this.store(object, recordUpdate({ ...this.facts, manager, object, ...more }));
  }
  apply(manager: string, body: Values, more: Partial<ApplyWrite> = {}): this {
    const kind = this.type.name.slice(this.type.name.lastIndexOf('.') + 1);
    const applied = { kind, ...this.body(body) };
    const done = apply({ ...this.facts, manager, kind, applied, force: false, ...more });
    return this.store(done.object, done.managedFields);
  }
  get entries(): ManagedFields {
    return this.live?.metadata.managedFields ?? [];
  }
  /** Manager name → its set. */
  get owners(): Record<string, unknown> {
    return Object.fromEntries(this.entries.map((entry) => [entry.manager, entry.fieldsV1]));
  }
  /** The stored object without its metadata and what names its kind. */
  get content(): Values {
    const { kind: _, apiVersion: __, metadata: ___, ...content } = this.live as Stored;
    return content;
  }
}
