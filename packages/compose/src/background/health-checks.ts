/**
 * The health checks of a server's start and of its running parts, by their names in a stock server. Each checks
 * the part that it names; several checks of a stock server may be about one part here.
 */

import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { type HealthCheck, partCheck, startStep } from '@plat-dev/server/endpoints/health';
import type { AggregationPart } from '@plat-dev/server/extension/aggregation/aggregation';
import type { BootstrapPart } from '@plat-dev/server/registry/bootstrap/run';

/** Parts of the start that are done once; definitions: the kinds of all CustomResourceDefinitions are served. */
export type StartPart = BootstrapPart | 'admission' | 'definitions';

/** Why a part does not work; undefined while it does. */
type Problem = () => string | undefined;

export interface RunningParts {
  /** The caches of collections, which follow the store. */
  readonly views: Problem;
  /** FlowSchemas and PriorityLevelConfigurations in effect, and the seats of requests; absent without priority and fairness. */
  readonly fairness: { readonly configuration: Problem; readonly seats: Problem } | undefined;
  readonly aggregation: (part: AggregationPart) => string | undefined;
}

export interface StartChecks {
  /** In the order in which they are listed. */
  readonly checks: readonly HealthCheck[];
  started(part: StartPart): void;
}

/** `release`: of the API. The names of parts changed over the releases, and monitoring asks for those of its release. */
export function startChecks({ views, fairness, aggregation }: RunningParts, release: ApiRelease): StartChecks {
  const steps: { readonly part: StartPart; readonly step: ReturnType<typeof startStep> }[] = [];
  const once = (part: StartPart, name: string): HealthCheck => {
    const step = startStep(name);
    steps.push({ part, step });
    return step;
  };
  const hook = (name: string, problem: Problem): HealthCheck => partCheck(`poststarthook/${name}`, problem);
  const remote = (part: AggregationPart, name: string): HealthCheck => hook(name, () => aggregation(part));
  const registered = once('api-services', 'kube-apiserver-autoregistration');
  const since = (first: ApiRelease, ...checks: readonly HealthCheck[]): readonly HealthCheck[] => (isAtLeast(release, first) ? checks : []);
  const checks = [
    once('admission', isAtLeast(release, '1.30') ? 'start-apiserver-admission-initializer' : 'start-kube-apiserver-admission-initializer'),
    hook('generic-apiserver-start-informers', views),
    ...(fairness === undefined
      ? []
      : [hook('priority-and-fairness-config-consumer', fairness.configuration), hook('priority-and-fairness-filter', fairness.seats)]),
    ...since('1.25', hook('storage-object-count-tracker-hook', views)),
    once('definitions', 'start-apiextensions-informers'),
    once('definitions', 'start-apiextensions-controllers'),
    once('definitions', 'crd-informer-synced'),
    ...since('1.27', once('namespaces', 'start-system-namespaces-controller')),
    once('namespaces', 'bootstrap-controller'),
    ...since('1.28', hook('start-service-ip-repair-controllers', views)),
    ...since('1.31', hook('storage-readiness', views)),
    once('roles', 'rbac/bootstrap-roles'),
    once('priority-classes', 'scheduling/bootstrap-system-priority-classes'),
    once('flows', 'priority-and-fairness-config-producer'),
    once('trust', 'start-cluster-authentication-info-controller'),
    ...since('1.33', once('service-ranges', 'start-kubernetes-service-cidr-controller')),
    remote('views', 'start-kube-aggregator-informers'),
    remote('registrations', 'apiservice-registration-controller'),
    ...(isAtLeast(release, '1.31')
      ? [
          remote('availability', 'apiservice-status-local-available-controller'),
          remote('availability', 'apiservice-status-remote-available-controller'),
        ]
      : [remote('availability', 'apiservice-status-available-controller')]),
    ...since('1.26', remote('registrations', 'apiservice-discovery-controller')),
    registered,
    { ...registered, name: 'autoregister-completion' },
    remote('specs', 'apiservice-openapi-controller'),
    remote('specs', 'apiservice-openapiv3-controller'),
  ];
  return {
    checks,
    started(part) {
      for (const checkedStep of steps) if (checkedStep.part === part) checkedStep.step.done();
    },
  };
}
