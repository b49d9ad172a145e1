/** The common part of the two webhook plug-ins: which webhooks a request matches. */

import type { LiveView } from '@plat-dev/kinds/live-view';
import { webhookAgent } from '@plat-dev/meta/identity';
import { HttpClient } from '../../http-client/client.ts';
import { RequestValues } from '../expressions/request-values.ts';
import type { Candidate } from '../matching/match.ts';
import { Namespaces } from '../matching/namespaces.ts';
import type { PluginConfiguration, PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { WebhookClient } from './client.ts';
import { type ConfigurationObject, WebhookSource } from './compiled-webhooks.ts';
import { readWebhookCredentials } from './credentials.ts';
import { serviceResolver } from './service.ts';
import type { Call, Webhook } from './webhook.ts';

export class Dispatcher {
  readonly client: WebhookClient;
  private readonly env: PluginEnv;
  private readonly source: WebhookSource;
  private readonly namespaces: Namespaces;
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
    this.namespaces = new Namespaces(env);
  }

  /** Webhooks with matching rules, in order. */
  candidates({ served, subresource, operation }: AdmissionRequest): readonly Candidate<Webhook>[] {
    return this.source.current().candidates(served, subresource, operation, this.env.webhooks.equivalents);
  }

  /** The webhook is called, as far as its selectors decide. Throws `notFound` for a namespace that does not exist. */
  selected(candidate: Candidate<Webhook>, request: AdmissionRequest): Call | undefined {
    const served = this.namespaces.match(candidate, request);
    return served && { webhook: candidate.target, served };
  }

  /** For the match conditions of the webhooks of a request. */
  values(request: AdmissionRequest): RequestValues {
    return new RequestValues(this.env, request, this.namespaces);
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
