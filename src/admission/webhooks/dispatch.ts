/** What the two webhook plug-ins have in common: which webhooks a request concerns. */
import { domainName, webhookAgent } from '../../identity.ts';
import type { Live } from '../../kinds/live.ts';
import { type ApiError, notFound } from '../../meta/errors.ts';
import type { PluginConfiguration, PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { WebhookClient } from './client.ts';
import { type ConfigurationObject, WebhookSource } from './compiled.ts';
import { readWebhookCredentials } from './credentials.ts';
import { type Candidate, namespaceSelected, objectSelected } from './match.ts';
import { serviceResolver } from './service.ts';

export class Dispatcher {
  readonly client: WebhookClient;
  private readonly env: PluginEnv;
  private readonly source: WebhookSource;
  private readonly namespaces: Live;

  constructor(env: PluginEnv, configuration: PluginConfiguration | undefined, plural: string) {
    this.env = env;
    this.client = new WebhookClient({
      credentials: readWebhookCredentials(configuration, env.identity),
      resolve: serviceResolver(env.live, env.randomBelow),
      userAgent: webhookAgent(env.identity),
      isOwn: env.isOwn,
    });
    this.source = new WebhookSource(configurationsOf(env, plural), (webhooks) =>
      this.client.keepOnly(webhooks.map(({ client }) => client)),
    );
    this.namespaces = env.live('', 'namespaces');
  }

  /** Webhooks whose rules speak of the request, in order. */
  candidates({ served, subresource, operation }: AdmissionRequest): readonly Candidate[] {
    return this.source.current().candidates(served, subresource, operation, this.env.webhooks.equivalents);
  }

  /** Whether the selectors of a webhook choose the request. Throws `notFound` for a namespace that does not exist. */
  selected({ webhook }: Candidate, request: AdmissionRequest): boolean {
    const inNamespace = namespaceSelected(webhook, request, (name) => this.labelsOf(name, request.namespaceToBeMade));
    if (inNamespace === false || !objectSelected(webhook, request)) return false;
    if (inNamespace === 'missing') throw this.missing(request.namespace);
    return true;
  }

  private labelsOf(namespace: string, toBeMade?: true) {
    const found = this.namespaces.get('', namespace);
    if (found !== undefined) return found.metadata.labels ?? {};
    // Every namespace is labelled with its name.
    return toBeMade ? { [domainName(this.env.identity, 'metadata.name')]: namespace } : ('missing' as const);
  }
  private missing(namespace: string): ApiError {
    return notFound({ group: '', resource: 'namespaces' }, namespace);
  }
  close(): void {
    this.client.close();
  }
}

/** Where the kind of the configurations is switched off there are no webhooks. */
function configurationsOf(env: PluginEnv, plural: string): Live<ConfigurationObject> | undefined {
  try {
    return env.live<ConfigurationObject>('admissionregistration', plural);
  } catch {
    env.log.warn(`${plural} are not served, so that no such webhook is ever called`);
    return undefined;
  }
}
