/**
 * PodNodeSelector: an annotation of the namespace restricts the nodes of its pods, or for
 * namespaces without one the configuration:
 *
 *   podNodeSelectorPluginConfig:
 *     clusterDefaultNodeSelector: zone=default
 *     team-a: zone=west                # the only selectors that pods of this namespace may have
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { domainName } from '@plat-dev/meta/identity';
import { labelKey, labelValue } from '@plat-dev/meta/names';
import { object, refuseUnknown } from '../../configuration.ts';
import { kinds, type MakePlugin, type PluginConfiguration } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

type Selector = Readonly<Record<string, string>>;
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

export const podNodeSelector: MakePlugin = ({ identity, live }, configuration) => {
  const namespaces = live('', 'namespaces');
  const annotation = domainName(identity, 'node-selector', 'scheduler.alpha');
  const configured = readSelectors(configuration);
  const selectorOf = (request: AdmissionRequest): Selector => {
    const text = namespaces.get('', request.namespace)?.metadata.annotations?.[annotation];
    if (text === undefined) return configured.get(CLUSTER_DEFAULT) ?? {};
    try {
      return parseSelector(text);
    } catch (error) {
      throw refusal(
        request,
        `the annotation ${annotation} of namespace ${request.namespace} is not a selector: ${(error as Error).message}`,
      );
    }
  };
  const conflicting = (request: AdmissionRequest): Error =>
    refusal(
      request,
      `pod node label selector conflicts with its namespace node label selector: spec.nodeSelector against the annotation ${annotation} of namespace ${request.namespace}, or the configured selector where it has none`,
    );
  return {
    name: 'PodNodeSelector',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('pods'),
    admit(request) {
      const spec = podOf(request)?.spec;
      if (spec === undefined) return;
      const selector = selectorOf(request);
      if (conflict(selector, spec.nodeSelector)) throw conflicting(request);
      if (Object.keys(selector).length > 0) spec.nodeSelector = { ...selector, ...spec.nodeSelector };
    },
    validate(request) {
      const spec = podOf(request)?.spec;
      if (spec === undefined) return;
      if (conflict(selectorOf(request), spec.nodeSelector)) throw conflicting(request);
      const allowed = configured.get(request.namespace) ?? {};
      if (Object.keys(allowed).length === 0) return;
      for (const [key, value] of Object.entries(spec.nodeSelector ?? {}))
        if (own(allowed, key) !== value) throw refusal(request, 'pod node label selector labels conflict with its namespace whitelist');
    },
  };
};

const conflict = (a: Selector, b: Selector | undefined): boolean =>
  b !== undefined && Object.entries(a).some(([key, value]) => own(b, key) !== undefined && own(b, key) !== value);

/** `a=b,c=d`; no other operators are allowed. */
function parseSelector(text: string): Selector {
  const selector: Record<string, string> = {};
  if (text === '') return selector;
  for (const part of text.split(',')) {
    const sides = part.split('=');
    if (sides.length !== 2) throw new Error(`invalid selector: [${part}]`);
    const [key, value] = sides.map((side) => side.trim()) as [string, string];
    const problems = [...labelKey(key), ...labelValue(value)];
    if (problems.length > 0) throw new Error(`invalid selector: [${part}]: ${problems.join('; ')}`);
    setOwn(selector, key, value);
  }
  return selector;
}

function readSelectors(configuration: PluginConfiguration | undefined): ReadonlyMap<string, Selector> {
  const selectors = new Map<string, Selector>();
  if (configuration === undefined) return selectors;
  const value = object(configuration.value, 'the configuration');
  refuseUnknown(value, ['podNodeSelectorPluginConfig'], 'the configuration');
  const { podNodeSelectorPluginConfig } = value;
  for (const [name, text] of Object.entries(object(podNodeSelectorPluginConfig ?? {}, 'podNodeSelectorPluginConfig'))) {
    if (typeof text !== 'string') throw new Error(`the selector of ${name} must be a text`);
    selectors.set(name, parseSelector(text));
  }
  return selectors;
}
