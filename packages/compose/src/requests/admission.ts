/** The admission chain of a server, as its options ask for it. */

import type { KindEnv } from '@plat-dev/kinds/kind';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { fromHub, toHub } from '@plat-dev/kinds/served-kind';
import { applyDefaults } from '@plat-dev/schema/json';
import { chainMetrics } from '@plat-dev/server/admission/admission-metrics';
import { admissionChain } from '@plat-dev/server/admission/chain';
import { readAdmissionConfiguration } from '@plat-dev/server/admission/configuration';
import type { PluginConfiguration, PluginEnv } from '@plat-dev/server/admission/plugin';
import { deprecatedPlugins, enabledPlugins } from '@plat-dev/server/admission/plugin-names';
import { plugins } from '@plat-dev/server/admission/plugins/index';
import { policyParameterAccess } from '@plat-dev/server/admission/plugins/policy-parameter-access';
import { rbacEscalation } from '@plat-dev/server/admission/plugins/rbac-escalation';
import type { AdmissionChain, AdmissionPlugin } from '@plat-dev/server/admission/types';
import { warnUnasked, webhookPlugins } from '@plat-dev/server/admission/webhooks/dispatch';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import { storedObjects } from '@plat-dev/server/registry/stored-objects';
import type { Base } from '../base.ts';
import type { Trust } from '../credentials/trust.ts';
import type { Auth } from './auth.ts';
import { remoteOf } from './remote-of.ts';

export interface AdmissionDeps {
  readonly catalog: Catalog;
  readonly live: LiveSource;
  readonly env: KindEnv;
  readonly auth: Auth;
  readonly trust: Pick<Trust, 'own'>;
  readonly catchUp: PluginEnv['catchUp'];
  /** Makes a namespace unless there is one; called only while requests are served. */
  ensureNamespace(name: string): Promise<void>;
}

export async function composeAdmission(base: Base, deps: AdmissionDeps): Promise<AdmissionChain> {
  const { options, identity, log, metrics, clock } = base;
  const enabled = enabledPlugins(options.enableAdmissionPlugins, options.disableAdmissionPlugins, options.apiRelease);
  const file = options.admissionControlConfigFile;
  const configurations: ReadonlyMap<string, PluginConfiguration> =
    file === undefined
      ? new Map()
      : await withName('--admission-control-config-file', async () => readAdmissionConfiguration(file, identity, enabled));
  for (const fields of deprecatedPlugins(enabled)) log.warn('deprecated admission plug-in is enabled', fields);
  const env = pluginEnv(base, deps);
  for (const [plugin, plural] of webhookPlugins) if (!enabled.includes(plugin)) warnUnasked(env, plugin, plural);
  const chain: AdmissionPlugin[] = [];
  for (const name of enabled) {
    // Without the feature the plug-in may be named and configured, and checks nothing.
    if (name === 'PodSecurity' && !options.features.isOn('PodSecurity')) continue;
    chain.push(await withName(`admission plug-in ${name}`, async () => plugins[name](env, configurations.get(name))));
  }
  chain.push(policyParameterAccess(env));
  // The check for escalation runs last, on the final object.
  chain.push(rbacEscalation(deps.auth.escalation));
  return admissionChain(chain, chainMetrics(metrics, clock));
}

async function withName<T>(pluginName: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new Error(`${pluginName}: ${(error as Error).message}`, { cause: error });
  }
}

function pluginEnv(
  { options, identity, metrics, log, clock, random, hooks }: Base,
  { catalog, live, env, auth, trust, catchUp, ensureNamespace }: AdmissionDeps,
): PluginEnv {
  return {
    identity,
    live,
    clock,
    randomBelow: random.below,
    newUid: random.uuid,
    feature: (name) => env.feature(name),
    tolerationSeconds: { notReady: options.defaultNotReadyTolerationSeconds, unreachable: options.defaultUnreachableTolerationSeconds },
    authorize: (attributes) => auth.authorizer.authorize(attributes),
    objects: (served) => storedObjects(catalog, served),
    may: async (user, action) => {
      const { verb, group, version = '', resource, subresource = '', namespace = '', name = '' } = action;
      const attributes = { user, verb, group, version, resource, subresource, namespace, name, path: '', resourceRequest: true };
      return (await auth.authorizer.authorize(attributes)).decision === 'allow';
    },
    findKind: (group, kind, version) => catalog.byKind(group, kind, version),
    apiEnabled: (group, version, resource) => options.runtimeConfig.enabled(group, version, resource),
    serves: (group, plural) => catalog.serves(group, plural),
    remoteOf: (file) => remoteOf('admission-control-config-file', file, trust, clock),
    isOwn: (certificate) => trust.own.has(certificate),
    catchUp,
    ensureNamespace,
    metrics,
    log,
    ...(hooks !== undefined && { callsWebhook: (name: string) => hooks.callsWebhook(name) }),
    webhooks: {
      equivalents: (served) => {
        const { collection } = catalog.find(served.group, served.version, served.kind.plural) ?? {};
        if (collection === undefined) return [served];
        return [...catalog.all()].flatMap(({ resources }) => resources.filter((one) => one.collection === collection));
      },
      toVersion: async (served, hub) => fromHub(served, structuredClone(hub)),
      toHub: async (served, object) => toHub(served, object),
      fillDefaults: (served, object) => {
        applyDefaults(served.schema, object);
        served.definition.defaults?.(object as never, env);
      },
    },
  };
}
