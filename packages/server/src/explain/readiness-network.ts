/** Why services and ingresses lead nowhere. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { Ingress } from '@plat-dev/kinds/networking/schema/ingress';
import type { Wire } from '@plat-dev/kinds/wire';
import { fromLabels } from '@plat-dev/meta/labels';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, explainedName, isEnough } from './cause.ts';
import type { Readiness } from './readiness-question.ts';

export async function serviceCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { metadata, spec, status } = target.object as Wire<Service>;
  if (spec?.type === 'ExternalName') return [];
  const address = spec?.type === 'LoadBalancer' && (status?.loadBalancer?.ingress?.length ?? 0) === 0;
  const waits = address ? [causeOf(target, 'LoadBalancerPending', 'It waits for the address of its load balancer.')] : [];
  const selector = spec?.selector ?? {};
  const { namespace = '' } = metadata;
  if (Object.keys(selector).length === 0) return waits;
  const labels = Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const pods = readiness.view.builtin('', 'pods');
  const { objects, isWhole } = await readiness.view.list<Wire<Pod>>(pods, namespace);
  const labelSelector = fromLabels(selector);
  const selected = await readiness.view.filter(objects, ({ metadata: { labels: ofPod } }) => labelSelector.matches(ofPod));
  if (selected.length === 0)
    return isWhole
      ? [
          causeOf(
            target,
            'SelectorMatchesNothing',
            `No pods have the labels of its selector (${labels}).`,
            `get pods -n ${namespace} --show-labels`,
          ),
          ...waits,
        ]
      : waits;
  const isReady = (pod: Wire<Pod>): boolean =>
    pod.status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
  const ready = selected.filter(isReady);
  if (ready.length === 0) {
    const causes: Cause[] = [];
    for (const object of selected.slice(0, 5)) causes.push(...(await readiness.of({ resource: pods, object }, target)));
    return [...causes, ...waits];
  }
  return [...(await missingPorts(readiness, target, ready)), ...waits];
}

/** Ports by name that none of the pods has. */
async function missingPorts({ view }: Readiness, target: Target, pods: readonly Wire<Pod>[]): Promise<Cause[]> {
  const { spec } = target.object as Wire<Service>;
  const names = new Set<string | null | undefined>();
  for (const pod of pods) {
    for (const { ports } of pod.spec?.containers ?? []) for (const { name } of ports ?? []) names.add(name);
    await view.pause();
  }
  const causes: Cause[] = [];
  for (const { targetPort } of spec?.ports ?? []) {
    if (isEnough(causes)) break;
    if (typeof targetPort === 'string' && !/^\d+$/.test(targetPort) && !names.has(targetPort))
      causes.push(causeOf(target, 'PortMissing', `Its port leads to the container port ${targetPort}, which its pods do not have.`));
  }
  return causes;
}

interface Backend {
  readonly service?: { readonly name?: string; readonly port?: { readonly name?: string; readonly number?: number } | null } | null;
}

export async function ingressCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec, metadata } = target.object as Wire<Ingress>;
  const { namespace = '' } = metadata;
  const causes: Cause[] = [];
  const className = spec?.ingressClassName ?? '';
  const classes = readiness.view.builtin('networking', 'ingressclasses');
  if (className !== '') {
    const seen = await readiness.view.get(classes, '', className);
    if (seen.isKnown && seen.object === undefined)
      causes.push(causeOf(target, 'IngressClassMissing', `Its ingress class ${className} does not exist.`, 'get ingressclasses'));
  }
  const paths = (spec?.rules ?? []).flatMap(({ http }) => http?.paths ?? []);
  const backends: readonly Backend[] = [
    ...(spec?.defaultBackend == null ? [] : [spec.defaultBackend]),
    ...paths.map(({ backend }) => backend ?? {}),
  ];
  const lookedAt = new Set<string>();
  const readyServices = new Set<string>();
  for (const { service } of backends) {
    const key = JSON.stringify(service ?? null);
    if (isEnough(causes)) break;
    if (service?.name === undefined || lookedAt.has(key)) continue;
    lookedAt.add(key);
    causes.push(...(await backendCauses(readiness, target, service.name, service.port ?? {}, readyServices)));
  }
  for (const { secretName } of spec?.tls ?? []) {
    if (isEnough(causes)) break;
    if (!secretName) continue;
    const secret = await readiness.view.get(readiness.view.builtin('', 'secrets'), namespace, secretName);
    if (secret.isKnown && secret.object === undefined)
      causes.push(
        causeOf(target, 'SecretMissing', `The secret ${secretName} of its TLS settings does not exist.`, `get secrets -n ${namespace}`),
      );
  }
  return causes;
}

async function backendCauses(
  readiness: Readiness,
  target: Target,
  name: string,
  port: { name?: string; number?: number },
  readyServices: Set<string>,
): Promise<Cause[]> {
  const namespace = target.object.metadata.namespace ?? '';
  const services = readiness.view.builtin('', 'services');
  const service = await readiness.view.get<Wire<Service>>(services, namespace, name);
  if (!service.isKnown) return [];
  if (service.object === undefined)
    return [causeOf(target, 'ServiceMissing', `Its service ${name} does not exist.`, `get services -n ${namespace}`)];
  const hasPort = (service.object.spec?.ports ?? []).some((one) => (port.name ? one.name === port.name : one.port === port.number));
  if (!hasPort) {
    const command = commandFor('describe', explainedName(services, namespace, name));
    return [causeOf(target, 'ServicePortMissing', `Its service ${name} has no port ${port.name || port.number}.`, command)];
  }
  if (readyServices.has(name)) return [];
  const causes = await readiness.of({ resource: services, object: service.object }, target);
  if (causes.length === 0) readyServices.add(name);
  return causes;
}
