/**
 * PodTolerationRestriction: annotations of a namespace, or else the configuration, define the tolerations that
 * its pods get and the ones that are allowed.
 */

import { qosClass } from '@plat-dev/kinds/core/pods/pod-resources';
import { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { own } from '@plat-dev/lib/own';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { domainName, groupName } from '@plat-dev/meta/identity';
import { decode } from '@plat-dev/schema/json';
import { parseJson } from '@plat-dev/schema/json/parse';
import { type JsonValue, list } from '@plat-dev/schema/types';
import { checkType, object, refuseUnknown } from '../../configuration.ts';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import { covers, mergeTolerations } from '../../tolerations.ts';
import type { AdmissionRequest } from '../../types.ts';

const Tolerations = list(Toleration);

/** Tolerations of the configuration file, where a misspelt field is an error. */
function configured(value: JsonValue | undefined, name: string): Toleration[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  for (const [i, entry] of entries.entries())
    refuseUnknown(object(entry, `${name}[${i}]`), Object.keys(Toleration.fields), `${name}[${i}]`);
  return decode(Tolerations, value ?? []) ?? [];
}

export const podTolerationRestriction: MakePlugin = ({ identity, live }, configuration) => {
  const namespaces = live('', 'namespaces');
  const defaultsKey = domainName(identity, 'defaultTolerations', 'scheduler.alpha');
  const whitelistKey = domainName(identity, 'tolerationsWhitelist', 'scheduler.alpha');
  const memoryPressure: Toleration = { key: domainName(identity, 'memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' };
  const cluster =
    configuration === undefined
      ? {}
      : checkType(configuration.value, 'Configuration', [
          joinApiVersion(groupName(identity, 'podtolerationrestriction.admission'), 'v1alpha1'),
        ]);
  refuseUnknown(cluster, ['apiVersion', 'kind', 'default', 'whitelist'], 'the configuration');
  const clusterDefaults = configured(cluster.default, 'default');
  const clusterWhitelist = configured(cluster.whitelist, 'whitelist');
  /** Undefined if the namespace has no annotation; an empty text is an empty list. */
  const annotated = (request: AdmissionRequest, key: string): Toleration[] | undefined => {
    const text = own(namespaces.get('', request.namespace)?.metadata.annotations, key);
    if (text === undefined || text === '') return text === undefined ? undefined : [];
    try {
      return decode(Tolerations, parseJson(text)) ?? [];
    } catch (error) {
      throw refusal(
        request,
        `the annotation ${key} of namespace ${request.namespace} is not a list of tolerations: ${(error as Error).message}`,
      );
    }
  };
  return {
    name: 'PodTolerationRestriction',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    admit(request) {
      const spec = podOf(request)?.spec;
      if (spec === undefined) return;
      const tolerations = request.operation === 'CREATE' ? [...(annotated(request, defaultsKey) ?? clusterDefaults)] : [];
      if (qosClass(spec) !== 'BestEffort') tolerations.push(memoryPressure);
      if (tolerations.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], structuredClone(tolerations));
    },
    validate(request) {
      const tolerations = podOf(request)?.spec.tolerations ?? [];
      if (tolerations.length === 0) return;
      const own = annotated(request, whitelistKey);
      const whitelist = own ?? clusterWhitelist;
      if (whitelist.length === 0 || tolerations.every((one) => whitelist.some((wide) => covers(wide, one)))) return;
      const list =
        own === undefined
          ? 'cluster whitelist of the configuration'
          : `namespace whitelist, the annotation ${whitelistKey} of namespace ${request.namespace}`;
      throw refusal(
        request,
        `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${list}: see spec.tolerations`,
      );
    },
  };
};
