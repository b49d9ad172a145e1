/** Reads metrics: of pods from the resource metrics API, and others from the custom and external ones, where they are served. */

import { type Client, pathOf, queryOf, resourceKey } from '@plat-dev/client/dynamic';
import { isNotFound, isStatus } from '@plat-dev/client/http';
import type { ServedResources } from '@plat-dev/controllers/runtime/resources';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { fromLabelSelector, type LabelSelectorObject } from '@plat-dev/meta/labels';
import { parseQuantity } from '@plat-dev/meta/quantity';
import { durationMillis, timeMillis } from '@plat-dev/meta/time';
import { messageOf } from '../shared/pod-control.ts';
import type { PodMetric } from './replicas.ts';

interface PodMetrics {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
}
interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly window?: number;
  readonly value: string;
}
interface List<T> {
  readonly items?: T[] | null;
}

export interface DescribedObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

const millis = (quantity: string): number => Number(parseQuantity(quantity).millis());
/** Over which time a metric is an average, if it does not say. */
const DEFAULT_WINDOW_MS = 60_000;
/** Versions of the custom metrics API, the newest first. */
const CUSTOM_VERSIONS = ['v1beta2', 'v1beta1'];

export interface MetricsOptions {
  readonly client: Client;
  readonly identity: Identity;
  readonly served: ServedResources;
}

/** The metrics of one moment: what several metrics of an autoscaler need is read once. */
export class Metrics {
  private readonly options: MetricsOptions;
  /** Usage of pods by the path that it is read from. */
  private readonly usages = new Map<string, Promise<PodMetrics[]>>();

  constructor(options: MetricsOptions) {
    this.options = options;
  }

  /** Usage of a resource by pod, of one container or of all. Pods without a full measurement are left out. */
  async ofResource(resource: string, namespace: string, labelSelector: string, container?: string): Promise<Map<string, PodMetric>> {
    const items = await this.usagesOf(namespace, labelSelector);
    const metricsByPod = new Map<string, PodMetric>();
    for (const { metadata, containers = [], timestamp, window } of items) {
      const measured = container === undefined ? containers : containers.filter(({ name }) => name === container);
      if (container !== undefined && measured.length === 0)
        throw new Error(`container ${container} not present in metrics for pod ${metadata.namespace}/${metadata.name}`);
      const amounts = measured.map(({ usage }) => own(usage, resource));
      if (amounts.length === 0 || amounts.includes(undefined)) continue;
      metricsByPod.set(metadata.name ?? '', {
        value: amounts.reduce((sum, amount) => sum + millis(amount as string), 0),
        at: timestamp === undefined ? 0 : timeMillis(timestamp),
        window: window === undefined ? DEFAULT_WINDOW_MS : durationMillis(window),
      });
    }
    return metricsByPod;
  }

  private usagesOf(namespace: string, labelSelector: string): Promise<PodMetrics[]> {
    const group = groupName(this.options.identity, 'metrics');
    const path = `${pathOf(podMetrics(group), namespace)}?${queryOf({ labelSelector })}`;
    const usages = this.usages.get(path) ?? this.list<PodMetrics>('resource', `pods.${group}`, path);
    this.usages.set(path, usages);
    return usages;
  }

  /** A metric of the pods that a selector matches. */
  async ofPods(metric: string, namespace: string, labelSelector: string, selector?: LabelSelectorObject): Promise<Map<string, PodMetric>> {
    const query = queryOf({ labelSelector, metricLabelSelector: textOf(selector) });
    const items = await this.custom(`namespaces/${segment(namespace)}/pods/*/${segment(metric)}`, query);
    const metricsByPod = new Map<string, PodMetric>();
    for (const { describedObject, value, timestamp, windowSeconds, window } of items) {
      const seconds = windowSeconds ?? window;
      metricsByPod.set(describedObject?.name ?? '', {
        value: millis(value),
        at: timestamp === undefined ? 0 : timeMillis(timestamp),
        window: seconds === undefined ? DEFAULT_WINDOW_MS : seconds * 1000,
      });
    }
    return metricsByPod;
  }

  /** A metric of one object. */
  async ofObject(metric: string, namespace: string, object: DescribedObject, selector?: LabelSelectorObject): Promise<number> {
    const resource = await this.options.served.resourceOf(object.apiVersion ?? 'v1', object.kind);
    if (resource === undefined)
      throw new Error(`no matches for kind ${JSON.stringify(object.kind)} in version ${JSON.stringify(object.apiVersion)}`);
    const isNamespace = resource.group === '' && resource.name === 'namespaces';
    const place = isNamespace
      ? `namespaces/${segment(object.name)}/metrics`
      : `${resource.namespaced ? `namespaces/${segment(namespace)}/` : ''}${resourceKey(resource)}/${segment(object.name)}`;
    const [first] = await this.custom(`${place}/${segment(metric)}`, queryOf({ metricLabelSelector: textOf(selector) }));
    if (first === undefined) throw new Error('the custom metrics API server returned no metrics for that object');
    return millis(first.value);
  }

  /** The sum of the values of an external metric. */
  async ofExternal(metric: string, namespace: string, selector?: LabelSelectorObject): Promise<number> {
    const group = groupName(this.options.identity, 'external.metrics');
    const query = queryOf({ labelSelector: textOf(selector) });
    const path = `/apis/${group}/v1beta1/namespaces/${segment(namespace)}/${segment(metric)}${query === '' ? '' : `?${query}`}`;
    const items = await this.list<MetricValue>('external', `${metric}.${group}`, path);
    return items.reduce((sum, { value }) => sum + millis(value), 0);
  }

  private async custom(place: string, query: string): Promise<MetricValue[]> {
    const group = groupName(this.options.identity, 'custom.metrics');
    const pathIn = (version: string): string => `/apis/${group}/${version}/${place}${query === '' ? '' : `?${query}`}`;
    const [newest = '', older = ''] = CUSTOM_VERSIONS;
    try {
      return await this.fetch<MetricValue>(pathIn(newest));
    } catch (error) {
      if (!isNotFound(error)) throw unavailable('custom', reasonOf(error, group));
    }
    try {
      return await this.fetch<MetricValue>(pathIn(older));
    } catch (error) {
      // The page that is not there belongs to no server: a metrics API answers for itself.
      const isNobody = isStatus(error, 404) && error.reason === '';
      throw unavailable('custom', isNobody ? `no custom metrics API (${group}) registered` : reasonOf(error, group));
    }
  }
  /** `resource` is what is read, for errors: `pods.metrics.k8s.io`. */
  private async list<T>(api: string, resource: string, path: string): Promise<T[]> {
    let items: T[];
    try {
      items = await this.fetch<T>(path);
    } catch (error) {
      throw unavailable(api, reasonOf(error, resource));
    }
    if (items.length === 0) throw new Error(`no metrics returned from ${api} metrics API`);
    return items;
  }
  private async fetch<T>(path: string): Promise<T[]> {
    return (await this.options.client.json<List<T>>({ path })).items ?? [];
  }
}

const podMetrics = (group: string) => ({ group, version: 'v1beta1', name: 'pods', namespaced: true });
const segment = encodeURIComponent;
const textOf = (selector: LabelSelectorObject | undefined): string =>
  selector === undefined ? '' : fromLabelSelector(selector).toString();
const unavailable = (api: string, why: string): Error => new Error(`unable to fetch metrics from ${api} metrics API: ${why}`);

/** Plain text comes from something in between and says little: people look for these words instead. */
const plainAnswers: Readonly<Record<number, string>> = {
  404: 'the server could not find the requested resource',
  503: 'the server is currently unable to handle the request',
};
function reasonOf(error: unknown, resource: string): string {
  const words = error instanceof ApiError && error.reason === '' ? plainAnswers[error.code] : undefined;
  return words === undefined ? messageOf(error) : `${words} (get ${resource})`;
}
