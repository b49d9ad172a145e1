/** The namespaces of requests, for selectors and expressions. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { notFound } from '@plat-dev/meta/errors';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { type Candidate, type Criteria, matchOf } from './match.ts';

export class Namespaces {
  private readonly live: LiveView;
  private readonly identity: Identity;

  constructor({ live, identity }: Pick<PluginEnv, 'live' | 'identity'>) {
    this.live = live('', 'namespaces');
    this.identity = identity;
  }

  /** The version in which a candidate takes the object, if it matches. Throws `notFound` for a namespace that does not exist. */
  match<T extends Criteria>(candidate: Candidate<T>, request: AdmissionRequest): ServedKind | undefined {
    const match = matchOf(
      candidate,
      request,
      (name) => this.get(name, request)?.metadata.labels ?? (this.has(name, request) ? {} : 'missing'),
    );
    if (match === 'missing') throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
    return match;
  }

  /** Undefined if it does not exist. */
  get(name: string, { namespaceToBeMade }: AdmissionRequest): ApiObject | undefined {
    const namespaceObject = this.live.get('', name);
    // Every namespace is labelled with its name.
    if (namespaceObject === undefined && namespaceToBeMade)
      return { metadata: { name, labels: { [domainName(this.identity, 'metadata.name')]: name } } } as unknown as ApiObject;
    return namespaceObject;
  }
  private has(name: string, request: AdmissionRequest): boolean {
    return this.get(name, request) !== undefined;
  }
}
