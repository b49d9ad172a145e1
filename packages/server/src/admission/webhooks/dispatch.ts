/** The common part of the two webhook plug-ins: which webhooks a request matches. */

import type { LiveView } from '@plat-dev/kinds/live-view';
import { type ApiError, notFound } from '@plat-dev/meta/errors';
import { domainName, webhookAgent } from '@plat-dev/meta/identity';
import { HttpClient } from '../../http-client/client.ts';
import type { PluginConfiguration, PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { WebhookClient } from './client.ts';
import { type ConfigurationObject, WebhookSource } from './compiled-webhooks.ts';
import { readWebhookCredentials } from './credentials.ts';
import { type Candidate, namespaceSelected, objectSelected } from './match.ts';
import { serviceResolver } from './service.ts';

export class Dispatcher {
  readonly client: WebhookClient;
  private readonly env: PluginEnv;
  private readonly source: WebhookSource;
  private readonly namespaces: LiveView;
  private readonly stopFollowing: () => void = () => {};

  constructor(env: PluginEnv, configuration: PluginConfiguration | undefined, plural: string) {
    this.env = env;
    this.client = new WebhookClient({
      clock: env.clock,
      credentials: readWebhookCredentials(configuration, env.identity),
      resolve: serviceResolver(env.live, env.randomBelow),
      userAgent: webhookAgent(env.identity),
      isOwn: env.isOwn,
    });
    const configurations = configurationsOf(env, plural);
    this.source = new WebhookSource(configurations, (webhooks) => this.client.keepOnly(webhooks.map(({ client }) => client)));
    if (configurations !== undefined) this.stopFollowing = prepareFor(configurations);
    this.namespaces = env.live('', 'namespaces');
  }

  /** Webhooks with matching rules, in order. */
  candidates({ served, subresource, operation }: AdmissionRequest): readonly Candidate[] {
    return this.source.current().candidates(served, subresource, operation, this.env.webhooks.equivalents);
  }

  /** Whether the selectors of a webhook match the request. Throws `notFound` for a namespace that does not exist. */
  selected({ webhook }: Candidate, request: AdmissionRequest): boolean {
    const inNamespace = namespaceSelected(webhook, request, (name) => this.labelsOf(name, request.namespaceToBeMade));
    if (inNamespace === false || !objectSelected(webhook, request)) return false;
    if (inNamespace === 'missing') throw this.missing(request.namespace);
    return true;
  }

  private labelsOf(namespace: string, toBeMade?: true) {
    const namespaceObject = this.namespaces.get('', namespace);
    if (namespaceObject !== undefined) return namespaceObject.metadata.labels ?? {};
    // Every namespace is labelled with its name.
    return toBeMade ? { [domainName(this.env.identity, 'metadata.name')]: namespace } : ('missing' as const);
  }
  private missing(namespace: string): ApiError {
    return notFound({ group: '', resource: 'namespaces' }, namespace);
  }
  close(): void {
    this.stopFollowing();
    this.client.close();
  }
}

/** No request that is reviewed waits until the client is loaded. Returns the function that ends it. */
function prepareFor(configurations: LiveView<ConfigurationObject>): () => void {
  configurations.whenLoaded(() => {
    if (configurations.list(undefined, 1).length > 0) HttpClient.prepare();
  });
  return configurations.onChange(() => HttpClient.prepare());
}

export const webhookPlugins = [
  ['MutatingAdmissionWebhook', 'mutatingwebhookconfigurations'],
  ['ValidatingAdmissionWebhook', 'validatingwebhookconfigurations'],
] as const;

const GROUP = 'admissionregistration';
const isServed = (env: PluginEnv, plural: string): boolean => env.serves(GROUP, plural);

/** Configurations of a kind that is not served could neither be read nor deleted: they are ignored. */
function configurationsOf(env: PluginEnv, plural: string): LiveView<ConfigurationObject> | undefined {
  const live = env.live<ConfigurationObject>(GROUP, plural);
  if (isServed(env, plural)) return live;
  env.log.warn('webhook configurations are not served and not called', { resource: plural, ignored: live.list().length });
  return undefined;
}

/** The opposite case: configurations can be created, and no plug-in calls them. */
export function warnUnasked(env: PluginEnv, plugin: string, plural: string): void {
  if (!isServed(env, plural)) return;
  const ignored = env.live<ConfigurationObject>(GROUP, plural).list().length;
  env.log.warn('webhook configurations are served, but not called: their admission plug-in is off', {
    plugin,
    resource: plural,
    ignored,
  });
}
