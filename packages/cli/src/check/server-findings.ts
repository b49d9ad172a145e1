/** What a server stores, who wrote it, and which versions were requested, as normal requests with normal rights show it. */
import { type ApiResource, resourcePath, UnknownKind } from '@plat-dev/client/discovery';
import { queryOf } from '@plat-dev/client/dynamic';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { ApiError } from '@plat-dev/meta/errors';
import { clientSideApply, domainName, groupName } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { type Catalogue, isCurrent } from '../convert/catalogue.ts';
import type { Work } from '../work.ts';
import { type Fate, type Findings, fateOf } from './findings.ts';
import { ruleFindings, ruleKinds } from './stale-rules.ts';

/** Page size of lists. */
const PAGE = 500;
/** Limit of pages per kind. */
export const MAX_PAGES = 400;

interface Metadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string; readonly apiVersion?: string }[];
}

interface MetadataOnly {
  readonly metadata: Metadata;
}

export async function checkServer(work: Work, catalogue: Catalogue, release: string, findings: Findings): Promise<void> {
  const check = new ServerCheck(work, catalogue, release, findings);
  // First the metric: lists count as requests.
  await check.requests();
  for (const kind of check.kinds()) await check.objects(kind);
  await check.policies();
  await check.rules();
  findings.notSeen.push(
    'requests that were sent before the server started, or to other servers behind the same address; the audit log has who sent which',
  );
}

class ServerCheck {
  private readonly work: Work;
  private readonly catalogue: Catalogue;
  private readonly release: string;
  private readonly findings: Findings;
  private readonly fates = new Map<string, Fate | undefined>();

  constructor(work: Work, catalogue: Catalogue, release: string, findings: Findings) {
    this.work = work;
    this.catalogue = catalogue;
    this.release = release;
    this.findings = findings;
  }

  private fate(apiVersion: string, kind: string): Fate | undefined {
    const key = `${apiVersion} ${kind}`;
    if (!this.fates.has(key)) {
      const served = this.catalogue.find(apiVersion, kind);
      this.fates.set(key, served && fateOf(served, this.catalogue, this.release));
    }
    return this.fates.get(key);
  }

  // ---- requests ----------------------------------------------------------------------------------------------------

  async requests(): Promise<void> {
    const text = await this.orReportForbidden('requests in deprecated versions (GET /metrics)', () =>
      this.work.session.transport.text({ path: '/metrics', signal: this.work.signal, ...this.work.session.timeout }),
    );
    const byPath = new Map([...this.catalogue.every()].map((one) => [`${one.apiVersion}/${one.kind.plural}`, one]));
    for (const [, labels = ''] of (text ?? '').matchAll(/^apiserver_requested_deprecated_apis\{([^}]*)\} [1-9]/gm)) {
      const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
      const apiVersion = label('group') === '' ? label('version') : `${label('group')}/${label('version')}`;
      const served = byPath.get(`${apiVersion}/${label('resource')}`);
      const fate = served && this.fate(apiVersion, served.kind.kind);
      const where = label('subresource') === '' ? label('resource') : `${label('resource')}/${label('subresource')}`;
      if (served !== undefined && fate !== undefined)
        this.findings.add({ ...fate, type: 'request', apiVersion, kind: served.kind.kind, where });
    }
  }

  // ---- objects and managers ----------------------------------------------------------------------------------------

  /** One version of each kind of which the release does not have all versions. */
  kinds(): ServedKind[] {
    const servedKinds = new Map<string, ServedKind>();
    for (const served of this.catalogue.every()) {
      const key = `${served.hub.apiVersion} ${served.kind.kind}`;
      if (!served.kind.virtual && !isCurrent(served, this.release) && !servedKinds.has(key)) servedKinds.set(key, served);
    }
    return [...servedKinds.values()];
  }

  async objects(served: ServedKind): Promise<void> {
    const resource = await this.resource(served);
    if (resource === undefined) return;
    const { kind } = served.kind;
    for await (const { metadata } of this.list<MetadataOnly>(resource)) {
      const where = metadata.namespace === undefined ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`;
      const { use, level, notes } = this.fate(served.apiVersion, kind) ?? {};
      const hasVersion = this.catalogue.versionsOf(served).some((one) => isCurrent(one, this.release));
      if (!hasVersion && use === undefined && level === 'removed')
        this.findings.add({ level, type: 'object', apiVersion: served.apiVersion, kind, where, notes: notes ?? [] });
      else this.checkManagers(metadata, kind, where);
    }
  }
  private checkManagers({ managedFields = [], annotations = {} }: Metadata, kind: string, where: string): void {
    const reportedManagers = new Set<string>();
    const add = (manager: string, apiVersion: string): void => {
      const fate = this.fate(apiVersion, kind);
      if (fate === undefined || reportedManagers.has(`${manager} ${apiVersion}`)) return;
      reportedManagers.add(`${manager} ${apiVersion}`);
      this.findings.add({ ...fate, type: 'manager', apiVersion, kind, where, manager });
    };
    for (const { manager = '', apiVersion = '' } of managedFields) add(manager, apiVersion);
    const applied = /"apiVersion":"([^"]*)"/.exec(annotations[clientSideApply.annotation] ?? '')?.[1];
    if (applied !== undefined) add('kubectl apply', applied);
  }

  /** The resource in a version that is not deprecated, where the server has one. */
  private async resource(served: ServedKind): Promise<ApiResource | undefined> {
    const versions = this.catalogue.versionsOf(served);
    const order = [...versions.filter((one) => isCurrent(one, this.release)), ...versions.filter((one) => !isCurrent(one, this.release))];
    for (const { apiVersion, kind } of order) {
      try {
        const apiResource = await this.work.discovery.forKind(apiVersion, kind.kind);
        if (apiResource.verbs.includes('list')) return apiResource;
      } catch (error) {
        if (!(error instanceof UnknownKind)) throw error;
      }
    }
    return undefined;
  }

  private async *list<T = JsonObject>(resource: ApiResource, isWhole = false): AsyncGenerator<T> {
    const what = `${resource.name}${resource.group === '' ? '' : `.${resource.group}`}`;
    const group = groupName(this.catalogue.identity, 'meta');
    const partial = `application/json;as=PartialObjectMetadataList;v=v1;g=${group},application/json`;
    const headers = { accept: isWhole ? 'application/json' : partial };
    let next: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = queryOf({ limit: PAGE, continue: next });
      const { transport, timeout } = this.work.session;
      const path = `${resourcePath(resource, undefined)}?${query}`;
      const list = await this.orReportForbidden(what, () =>
        transport.json<{ metadata?: { continue?: string }; items?: T[] | null }>({
          path,
          headers,
          signal: this.work.signal,
          ...timeout,
        }),
      );
      yield* list?.items ?? [];
      next = list?.metadata?.continue;
      if (next === undefined || next === '') return;
    }
    this.findings.missed(`${what} after the first ${PAGE * MAX_PAGES} objects`);
  }

  // ---- the admission plug-in PodSecurityPolicy ---------------------------------------------------------------------

  /** The plug-in notes on each pod which policy admitted it. */
  async policies(): Promise<void> {
    const fate = this.fate('policy/v1beta1', 'PodSecurityPolicy');
    if (fate === undefined) return;
    const annotation = domainName(this.catalogue.identity, 'psp');
    const pods = await this.work.discovery.forKind('v1', 'Pod');
    for await (const { metadata } of this.list<MetadataOnly>(pods)) {
      const { name, namespace, annotations } = metadata;
      const policy = annotations?.[annotation];
      if (policy === undefined) continue;
      const where = `pod ${namespace}/${name}, policy ${policy}`;
      const notes = ['the admission plug-in PodSecurityPolicy admitted this pod', ...fate.notes];
      this.findings.add({ ...fate, type: 'admission', apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', where, notes });
    }
  }

  // ---- rules of roles and webhooks ---------------------------------------------------------------------------------

  async rules(): Promise<void> {
    const { identity } = this.catalogue;
    for (const [base, kind] of ruleKinds) {
      const apiVersion = `${groupName(identity, base)}/v1`;
      const served = this.catalogue.find(apiVersion, kind);
      const resource = served && (await this.resource(served));
      if (resource === undefined) continue;
      // Items of a list do not repeat their kind.
      for await (const object of this.list(resource, true))
        for (const finding of ruleFindings({ ...object, apiVersion, kind }, this.catalogue, this.release)) this.findings.add(finding);
    }
  }

  /** The response, or undefined if the request is refused, which is recorded. */
  private async orReportForbidden<T>(what: string, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.findings.missed(`${what}: ${error.message}`);
      return undefined;
    }
  }
}
