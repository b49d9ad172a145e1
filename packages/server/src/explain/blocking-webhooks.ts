/** Webhooks that take part in deleting an object: those that cannot be called refuse it, the others may. */
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { Wire } from '@plat-dev/kinds/wire';
import { Matcher } from '../admission/matching/match.ts';
import { type ConfigurationObject, compile } from '../admission/webhooks/compiled-webhooks.ts';
import type { Webhook } from '../admission/webhooks/webhook.ts';
import type { Resource } from '../registry/catalog.ts';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, commandFor, explainedName, quoted } from './cause.ts';

const configurationKinds = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] as const;

type Operation = 'DELETE' | 'UPDATE';

/** Causes of the webhooks that match: `unreachable` ones fail every request, `others` may refuse it. */
export interface WebhookCauses {
  readonly unreachable: readonly Cause[];
  readonly others: readonly Cause[];
}

/** An update removes finalizers, a deletion the object itself. */
export async function blockingWebhooks(view: CallersView, target: Target, operations: readonly Operation[]): Promise<WebhookCauses> {
  const unreachable: Cause[] = [];
  const others: Cause[] = [];
  for (const plural of configurationKinds) {
    const resource = view.builtin('admissionregistration', plural);
    const { objects } = await view.list<ConfigurationObject>(resource);
    for (const { webhook, operation } of await matching(view, target, compile(objects), operations)) {
      const fault = webhook.failOpen ? undefined : await serviceFault(view, webhook);
      const cause = causeOf(resource, webhook, operation, fault);
      (fault === undefined ? others : unreachable).push(cause);
    }
  }
  return { unreachable, others };
}

async function matching(view: CallersView, target: Target, webhooks: readonly Webhook[], operations: readonly Operation[]) {
  const matches = new Map<string, { readonly webhook: Webhook; readonly operation: Operation }>();
  if (webhooks.length === 0) return [];
  const matcher = new Matcher(webhooks);
  const { resource, object } = target;
  const equivalents = () => [...view.catalog.all()].find(({ kind }) => kind === resource.kind)?.resources ?? [];
  for (const operation of operations)
    for (const { target: webhook } of matcher.candidates(resource, '', operation, equivalents)) {
      if (!webhook.objectSelector.matches(object.metadata.labels)) continue;
      if (!matches.has(webhook.id) && (await selectsNamespace(view, webhook, target))) matches.set(webhook.id, { webhook, operation });
    }
  return [...matches.values()];
}

async function selectsNamespace(view: CallersView, { namespaceSelector }: Webhook, { resource, object }: Target): Promise<boolean> {
  if (namespaceSelector.everything) return true;
  if (resource.kind.group === '' && resource.kind.plural === 'namespaces') return namespaceSelector.matches(object.metadata.labels);
  if (!resource.kind.namespaced) return true;
  const namespace = await view.get(view.builtin('', 'namespaces'), '', object.metadata.namespace ?? '');
  return namespace.object !== undefined && namespaceSelector.matches(namespace.object.metadata.labels);
}

/** Why the service of a webhook cannot answer; undefined where that is not known. */
async function serviceFault(view: CallersView, { client }: Webhook): Promise<{ text: string; command: string } | undefined> {
  const { namespace = '', name = '' } = client.service ?? {};
  if (name === '') return undefined;
  const services = view.builtin('', 'services');
  const command = commandFor('why not ready', explainedName(services, namespace, name));
  const service = await view.get<Wire<Service>>(services, namespace, name);
  if (!service.isKnown) return undefined;
  if (service.object === undefined)
    return { text: `its service ${namespace}/${name} does not exist`, command: `get services -n ${quoted(namespace)}` };
  if (service.object.spec?.type === 'ExternalName') return undefined;
  const endpoints = await view.get<Wire<Endpoints>>(view.builtin('', 'endpoints'), namespace, name);
  if (!endpoints.isKnown || endpoints.object?.subsets?.some(({ addresses }) => (addresses?.length ?? 0) > 0)) return undefined;
  return { text: `its service ${namespace}/${name} has no ready endpoints`, command };
}

function causeOf(resource: Resource, webhook: Webhook, operation: Operation, fault: { text: string; command: string } | undefined): Cause {
  const object = explainedName(resource, '', webhook.configuration);
  const name = `The webhook ${webhook.name} of ${resource.kind.plural}/${webhook.configuration}`;
  const request = operation === 'DELETE' ? 'the deletion' : 'the update that removes a finalizer';
  if (fault !== undefined)
    return {
      reason: 'WebhookUnreachable',
      message: `${name} is asked before ${request}, and ${fault.text}.`,
      object,
      command: fault.command,
    };
  return {
    reason: 'WebhookMayRefuse',
    message: `${name} is asked before ${request} and may refuse it.`,
    object,
    command: commandFor('describe', object),
  };
}
