/** The admission chain of a server, as its options ask for it. */

import { chainMetrics } from '../admission/admission-metrics.ts';
import { admissionChain } from '../admission/chain.ts';
import { readAdmissionConfiguration } from '../admission/configuration.ts';
import type { PluginConfiguration, PluginEnv } from '../admission/plugin.ts';
import { deprecatedPlugins, enabledPlugins } from '../admission/plugin-names.ts';
import { plugins } from '../admission/plugins/index.ts';
import { rbacEscalation } from '../admission/plugins/rbac-escalation.ts';
import type { AdmissionChain, AdmissionPlugin } from '../admission/types.ts';
import { warnUnasked, webhookPlugins } from '../admission/webhooks/dispatch.ts';
import type { KindEnv } from '../kinds/kind.ts';
import type { LiveSource } from '../kinds/live.ts';
import { fromHub, toHub } from '../kinds/served.ts';
import type { MaybePromise } from '../lib/when-ready.ts';
import type { Catalog } from '../registry/catalog.ts';
import { applyDefaults } from '../schema/json.ts';
import { type Auth, remoteOf } from './auth.ts';
import type { Base } from './base.ts';
import type { Trust } from './trust.ts';

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
  const enabled = enabledPlugins(options.enableAdmissionPlugins, options.disableAdmissionPlugins);
  const file = options.admissionControlConfigFile;
  const configurations: ReadonlyMap<string, PluginConfiguration> =
    file === undefined
      ? new Map()
      : await named('--admission-control-config-file', () => readAdmissionConfiguration(file, identity, enabled));
  for (const fields of deprecatedPlugins(enabled)) log.warn('deprecated admission plug-in is enabled', fields);
  const env = pluginEnv(base, deps);
  for (const [plugin, plural] of webhookPlugins) if (!enabled.includes(plugin)) warnUnasked(env, plugin, plural);
  const chain: AdmissionPlugin[] = [];
  for (const name of enabled) {
    // Without the feature the plug-in may be named and configured, and checks nothing.
    if (name === 'PodSecurity' && !options.features.isOn('PodSecurity')) continue;
    chain.push(await named(`admission plug-in ${name}`, () => plugins[name](env, configurations.get(name))));
  }
  // The check for escalation runs last, on the final object.
  chain.push(rbacEscalation(deps.auth.escalation));
  return admissionChain(chain, chainMetrics(metrics, clock));
}

async function named<T>(what: string, make: () => MaybePromise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
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
    may: async (user, action) => {
      const { verb, group, version = '', resource, subresource = '', namespace = '', name = '' } = action;
      const asked = { user, verb, group, version, resource, subresource, namespace, name, path: '', resourceRequest: true };
      return (await auth.authorizer.authorize(asked)).decision === 'allow';
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
      toVersion: (served, hub) => fromHub(served, structuredClone(hub)),
      toHub,
      fillDefaults: (served, object) => {
        applyDefaults(served.schema, object);
        served.definition.defaults?.(object as never, env);
      },
    },
  };
}
