/**
 * Keeps the APIService objects of the groups that this server serves itself: clients see in them which server
 * has a group version, and the order of groups and versions.
 *
 *   label `onstart`  a built-in group: created if it is missing, updated when the server starts
 *   label `true`     a group of custom kinds: created, kept up to date, and deleted with its kinds
 *   no label         of a client, which may send a group of custom kinds to another server: left alone
 */

import type { APIService, APIServiceSpec } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Change, LiveView } from '@plat-dev/kinds/live-view';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { apiServices, automanagedLabel, servedVersions } from '../../registry/bootstrap/api-services.ts';
import type { Catalog } from '../../registry/catalog.ts';
import type { SystemWriter } from '../../registry/system.ts';

const GROUP = 'apiregistration';
const PLURAL = 'apiservices';
/**
 * How long a group of custom kinds must be absent before its object is deleted: kinds are replaced, and several servers on one
 * store see a change one after the other.
 */
export const SETTLE_MS = 500;
/** Delay after a failed round. */
const RETRY_MS = 5000;

export interface RegistrationOptions {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly services: LiveView<APIService>;
  readonly writer: Pick<SystemWriter, 'ensure' | 'change' | 'remove'>;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}
type Wanted = ReturnType<typeof apiServices>[number];

export class Registrations {
  private readonly options: RegistrationOptions;
  private readonly label: string;
  private state: 'idle' | 'running' | 'again' | 'ended' = 'idle';
  private ends: (() => void)[] = [];
  private first = true;
  private failure: string | undefined = 'not started';
  /** Objects whose group is absent, and since when. */
  private readonly leaving = new Map<string, number>();
  private cancel: Cancel | undefined;

  constructor(options: RegistrationOptions) {
    this.options = options;
    this.label = automanagedLabel(options.identity);
  }

  /** Why the served groups are not registered; undefined while they are. */
  problem(): string | undefined {
    return this.failure;
  }

  start(): void {
    const { catalog, services } = this.options;
    this.failure = undefined;
    this.ends = [catalog.onChange(() => this.look()), services.onChange((change) => this.noticed(change))];
    this.look();
  }
  close(): void {
    this.state = 'ended';
    this.cancel?.();
    for (const end of this.ends) end();
  }

  private noticed({ object, old, type }: Change<APIService>): void {
    if (type === 'deleted' || this.labelOf(object) !== '' || (old !== undefined && this.labelOf(old) !== '')) this.look();
  }
  private labelOf({ metadata }: APIService): string {
    return own(metadata.labels, this.label) ?? '';
  }

  private look(): void {
    if (this.state === 'ended') return;
    const idle = this.state === 'idle';
    this.state = 'again';
    if (idle) queueMicrotask(() => void this.rounds());
  }
  private lookAfter(millis: number): void {
    this.cancel?.();
    this.cancel = this.options.clock.after(millis, () => this.look());
  }

  /** Changes during a round start another one. */
  private async rounds(): Promise<void> {
    while (this.state === 'again') {
      this.state = 'running';
      try {
        await this.round();
        this.first = false;
        this.failure = undefined;
      } catch (error) {
        if ((this.state as string) === 'ended') return;
        this.failure = `the last round failed: ${error instanceof Error ? error.message : String(error)}`;
        this.options.report(error);
        this.lookAfter(RETRY_MS);
      }
    }
    if (this.state === 'running') this.state = 'idle';
  }

  private async round(): Promise<void> {
    const { identity, catalog, services, clock } = this.options;
    const desiredServices = new Map(
      apiServices(identity, servedVersions(catalog), formatTime(clock.now()), catalog.release).map((object) => [
        object.metadata.name,
        object,
      ]),
    );
    for (const object of desiredServices.values()) await this.keep(object);
    for (const name of this.leaving.keys())
      if (desiredServices.has(name) || services.get('', name) === undefined) this.leaving.delete(name);
    for (const object of services.list()) {
      const { name = '' } = object.metadata;
      if (this.keeps(object) && !desiredServices.has(name)) await this.removeInTime(name, this.labelOf(object) === 'onstart');
    }
  }

  /** Whether this server controls an object. One with `onstart` is controlled at the start alone; clients may change it later. */
  private keeps(object: APIService): boolean {
    const label = this.labelOf(object);
    return label === 'true' || (this.first && label === 'onstart');
  }

  private async keep(desired: Wanted): Promise<void> {
    const { name } = desired.metadata;
    const { services, writer } = this.options;
    const current = services.get('', name);
    if (current === undefined) await writer.ensure(GROUP, PLURAL, desired);
    else if (this.keeps(current) && !sameSpec(current.spec, desired.spec))
      await unlessGone(
        writer.change(GROUP, PLURAL, '', name, (object) => {
          (object as APIService).spec = { ...desired.spec };
        }),
      );
  }

  private async removeInTime(name: string, atOnce: boolean): Promise<void> {
    const now = this.options.clock.monotonic();
    const since = this.leaving.get(name);
    if (atOnce || (since !== undefined && now - since >= SETTLE_MS)) {
      this.leaving.delete(name);
      await unlessGone(this.options.writer.remove(GROUP, PLURAL, '', name));
      return;
    }
    if (since === undefined) this.leaving.set(name, now);
    this.lookAfter(SETTLE_MS);
  }
}

function sameSpec(actualSpec: APIServiceSpec, desiredSpec: Wanted['spec']): boolean {
  return (
    actualSpec.service === undefined &&
    (actualSpec.group ?? '') === (desiredSpec.group ?? '') &&
    actualSpec.version === desiredSpec.version &&
    actualSpec.groupPriorityMinimum === desiredSpec.groupPriorityMinimum &&
    actualSpec.versionPriority === desiredSpec.versionPriority
  );
}

/** Another server may have deleted it first. */
async function unlessGone(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
  }
}
