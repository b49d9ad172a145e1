/**
 * The resources of the server, kept up to date: kinds come and go with custom resource definitions and aggregated servers. Both
 * are watched. Discovery is read again once in a while where kinds can change without an event: those of a server elsewhere, and
 * those that could not be read.
 */

import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { versionPath } from '@plat-dev/client/paths';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { Ticker } from '@plat-dev/lib/ticker';
import { joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import type { Informers } from './informers.ts';

export interface ServedResource extends ResourceRef {
  readonly kind: string;
  readonly verbs: readonly string[];
  /** The version that the server prefers. Of a kind that two groups serve, the group that it has moved to. */
  readonly preferred: boolean;
}
export interface Discovered {
  readonly resources: readonly ServedResource[];
  /** Built-in kinds that are not served and may be stored, in all their versions. Only controllers within the server can read them. */
  readonly unserved: readonly ServedResource[];
  /** `group/version` of what could not be asked, and why. */
  readonly failed: ReadonlyMap<string, string>;
}

interface GroupList {
  groups?: { name: string; versions: { version: string }[]; preferredVersion?: { version: string } }[];
}
interface ResourceList {
  resources?: { name: string; kind: string; namespaced?: boolean; verbs?: string[] }[];
}

/** Kinds of this group moved to others, which show the same objects. */
const LEFT_GROUP = 'extensions';

/** Asks a server for everything it serves. Throws when not even the groups are to be had. */
async function discover(client: Client): Promise<Omit<Discovered, 'unserved'>> {
  const failed = new Map<string, string>();
  const groups = (await client.json<GroupList>({ path: '/apis' })).groups ?? [];
  const groupVersions = [{ group: '', version: 'v1' }];
  for (const group of groups) {
    const first = group.preferredVersion?.version;
    const versions = group.versions.map((v) => v.version).sort((a, b) => Number(b === first) - Number(a === first));
    for (const version of versions) groupVersions.push({ group: group.name, version });
  }
  const lists = await Promise.all(
    groupVersions.map(async ({ group, version }) => {
      const path = versionPath(group, version);
      try {
        return (await client.json<ResourceList>({ path })).resources ?? [];
      } catch (error) {
        failed.set(joinApiVersion(group, version), (error as Error).message);
        return [];
      }
    }),
  );
  const visitedKeys = new Set<string>();
  const movedResources = new Set(
    groupVersions.flatMap(({ group }, i) => (group === LEFT_GROUP ? [] : (lists[i] ?? []).map((r) => `${LEFT_GROUP}/${r.name}`))),
  );
  const resources = groupVersions.flatMap(({ group, version }, i) =>
    (lists[i] ?? [])
      .filter((r) => !r.name.includes('/'))
      .map((r): ServedResource => {
        const id = `${group}/${r.name}`;
        // A kind that the preferred version of its group lacks is preferred in the first version that has it.
        const preferred = !visitedKeys.has(id) && !movedResources.has(id);
        visitedKeys.add(id);
        return { group, version, name: r.name, kind: r.kind, namespaced: r.namespaced ?? false, verbs: r.verbs ?? [], preferred };
      }),
  );
  return { resources, failed };
}

export interface ServedResourcesOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
  /** See `Discovered`; absent: none. */
  readonly unserved?: readonly ServedResource[] | undefined;
}

/** Time without an event after which discovery is read again, and the delay after an event, since others may follow. */
const REFRESH_MS = 60_000;
const SETTLE_MS = 100;
/** Maximum age of a discovery result that does not contain a kind. */
const LOOKUP_MS = 1000;

export class ServedResources {
  private readonly options: ServedResourcesOptions;
  private readonly listeners = new Set<(discovered: Discovered) => void>();
  private current: Discovered | undefined;
  private asking: Promise<Discovered> | undefined;
  private stale = true;
  private askedAt = Number.NEGATIVE_INFINITY;
  private fingerprint = '';
  /** APIServices of other servers. */
  private readonly elsewhere = new Set<string>();
  private cancel: Cancel[] = [];
  private settle: Cancel | undefined;
  private started = false;

  constructor(options: ServedResourcesOptions) {
    this.options = options;
  }
  /** The served resources, read again after an event. */
  async get(): Promise<Discovered> {
    this.start();
    return this.current === undefined || this.stale ? this.refresh() : this.current;
  }
  /** Called with what is served, at first and whenever it has changed. */
  onChange(listener: (discovered: Discovered) => void): () => void {
    this.listeners.add(listener);
    if (this.current !== undefined) listener(this.current);
    this.start();
    this.refresh().catch(this.options.report);
    return () => this.listeners.delete(listener);
  }
  /** The resource of an object by what it says of itself. Undefined where no such kind is served or may be stored. */
  async resourceOf(apiVersion: string, kind: string): Promise<ServedResource | undefined> {
    const { group, version } = splitApiVersion(apiVersion);
    const find = (discovered: Discovered): ServedResource | undefined => {
      const same = [...discovered.resources, ...discovered.unserved].filter((r) => r.group === group && r.kind === kind);
      const sameVersion = same.find((r) => r.version === version);
      return sameVersion === undefined ? undefined : (same.find((r) => r.preferred) ?? sameVersion);
    };
    const servedResource = find(await this.get());
    // A kind may be younger than what is known; many objects that name one that is not there must not ask for it all the time.
    if (servedResource !== undefined || this.options.clock.monotonic() - this.askedAt < LOOKUP_MS) return servedResource;
    return find(await this.refresh());
  }
  /** Whether discovery is in progress, or is due within so many milliseconds after a change. */
  isBusy(withinMs: number): boolean {
    return this.asking !== undefined || (this.settle !== undefined && withinMs >= SETTLE_MS);
  }
  stop(): void {
    for (const cancel of this.cancel) cancel();
    this.settle?.();
    this.listeners.clear();
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    const { identity, informers, clock } = this.options;
    const sign = (): void => {
      this.stale = true;
      this.settle ??= clock.after(SETTLE_MS, () => {
        this.settle = undefined;
        this.refresh().catch(this.options.report);
      });
    };
    const definitions: [string, string][] = [
      ['apiextensions', 'customresourcedefinitions'],
      ['apiregistration', 'apiservices'],
    ];
    for (const [base, name] of definitions) {
      const ref = { group: groupName(identity, base), version: 'v1', name, namespaced: false };
      this.cancel.push(
        informers.of(ref, { metadataOnly: true }).onChange(({ type, object }) => {
          if (name === 'apiservices') this.noteServer(object.metadata, type === 'deleted');
          rounds.start();
          sign();
        }),
      );
    }
    const rounds = new Ticker(clock, REFRESH_MS, () => {
      const mayChange = this.stale || this.elsewhere.size > 0 || this.current === undefined || this.current.failed.size > 0;
      if (mayChange) sign();
      return mayChange;
    });
    this.cancel.push(() => rounds.close());
    rounds.start();
  }
  /** The versions that this process serves are marked. */
  private noteServer({ name = '', labels = {} }: ApiObject['metadata'], isGone: boolean): void {
    const { identity } = this.options;
    const isHere = Object.hasOwn(labels, domainName(identity, 'automanaged', 'kube-aggregator'));
    if (isGone || isHere) this.elsewhere.delete(name);
    else this.elsewhere.add(name);
  }
  private refresh(): Promise<Discovered> {
    this.asking ??= this.ask().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }
  private async ask(): Promise<Discovered> {
    this.stale = false;
    this.askedAt = this.options.clock.monotonic();
    try {
      const discovered = { ...(await discover(this.options.client)), unserved: this.options.unserved ?? [] };
      this.current = discovered;
      const fingerprint = JSON.stringify([discovered.resources, [...discovered.failed]]);
      if (fingerprint !== this.fingerprint) {
        this.fingerprint = fingerprint;
        for (const listener of this.listeners) listener(discovered);
      }
      return discovered;
    } catch (error) {
      this.stale = true;
      throw error;
    }
  }
}
