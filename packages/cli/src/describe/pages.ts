/** The page of an object of any kind, with its events. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { pathOf } from '@plat-dev/client/dynamic';
import { apiVersionOf, splitApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, groupName, identityServing } from '@plat-dev/meta/identity';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';
import { Cluster, type EventsOf } from './cluster.ts';
import type { Describer } from './describer.ts';
import { describers } from './describers.ts';
import { writeEvents } from './events.ts';
import { describeAny } from './generic.ts';
import { Page } from './page.ts';
import { type Described, withoutNulls } from './values.ts';

export interface PageChoice {
  readonly showEvents: boolean;
  readonly chunkSize: number;
}
/** An object, as it was read. */
export type Json = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
};

export class Pages {
  private readonly work: Work;
  private readonly cluster: Cluster;
  private readonly choice: PageChoice;
  private readonly served: ReadonlySet<string>;

  private constructor(work: Work, choice: PageChoice, served: readonly string[]) {
    const identity = identityServing(served.map((apiVersion) => splitApiVersion(apiVersion).group));
    this.work = work;
    this.choice = choice;
    this.served = new Set(served);
    this.cluster = new Cluster(work, identity, choice.chunkSize);
  }
  static async of(work: Work, choice: PageChoice): Promise<Pages> {
    return new Pages(work, choice, await work.discovery.groupVersions());
  }
  async text(resource: ApiResource, object: Json): Promise<string> {
    const page = new Page();
    const describer = describers[`${baseGroup(this.cluster.identity, resource.group) ?? resource.group}/${resource.kind}`];
    const version = describer === undefined ? undefined : this.versionFor(describer, resource);
    if (describer === undefined || version === undefined) {
      describeAny(page, object, isStock(this.work.io));
      await this.writeEvents(page, undefined, resource, object as unknown as Described<never>);
      return page.toString();
    }
    const own = version.group === resource.group && version.version === resource.version;
    const described = withoutNulls(own ? object : await this.read({ ...resource, ...version }, object)) as Described<never>;
    await describer.write(page, described, this.cluster, version.version);
    await this.writeEvents(page, describer, resource, described);
    return page.toString();
  }
  /** The best version that both the describer and the server know. */
  private versionFor({ group, versions = ['v1'] }: Describer, resource: ApiResource): { group: string; version: string } | undefined {
    const full = group === undefined ? resource.group : groupName(this.cluster.identity, group);
    const groupVersions = versions.map((version) => ({ group: full, version }));
    return groupVersions.find(
      (one) =>
        (one.group === resource.group && one.version === resource.version && versions[0] === one.version) ||
        this.served.has(apiVersionOf(one)),
    );
  }
  private async read(resource: ApiResource, { metadata }: Json): Promise<unknown> {
    const path = pathOf(resource, metadata.namespace, metadata.name);
    return this.work.session.transport.json({ path, signal: this.work.signal, ...this.work.session.timeout });
  }
  private async writeEvents(page: Page, describer: Describer | undefined, { kind }: ApiResource, object: Described<never>): Promise<void> {
    if (!this.choice.showEvents || describer?.events === false) return;
    const { name = '', namespace = '', uid } = object.metadata;
    const about: EventsOf = { name, namespace, kind, ...(uid !== undefined && { uid }) };
    const searches = describer?.events?.(object, about, this.cluster) ?? [about];
    const events = await Promise.all(searches.map((search) => this.cluster.events(search)));
    writeEvents(page, events.flat(), this.cluster.now);
  }
}
