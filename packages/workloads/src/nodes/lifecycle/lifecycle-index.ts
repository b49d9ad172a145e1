/**
 * PodLifecycle objects by what selects pods, so that a pod is compared only with those that can select it, however many there are.
 *
 *   app=web      labels, of which each life cycle that names some is found by one
 *   shop         its namespaces, else
 *   web:404      its images without `*`, else
 *                all pods
 */
import type { LabelSelector } from '@plat-dev/meta/labels';
import { isLike } from '../shell/pattern.ts';
import type { Lifecycles } from './lifecycle.ts';

/** A PodLifecycle object, ready for use. */
export interface ConfiguredLifecycle {
  readonly name: string;
  readonly selector: LabelSelector;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Names of images, `*` for any text. Empty: all. A pod has the life cycle if one of its containers has such an image. */
  readonly images: readonly string[];
  readonly lifecycles: Lifecycles;
}

/** What of a pod decides. */
export interface ChosenFor {
  readonly metadata: {
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec?: {
    readonly containers?: readonly { readonly image?: string }[] | null;
    readonly initContainers?: readonly { readonly image?: string }[] | null;
  } | null;
}

/** The key of those that select by nothing that is known beforehand. */
const ANY = '';

export class LifecycleIndex {
  /** In the order of names. */
  private readonly places = new Map<string, ConfiguredLifecycle[]>();

  constructor(configured: Iterable<ConfiguredLifecycle> = []) {
    for (const one of configured) this.add(one);
  }
  add(one: ConfiguredLifecycle): void {
    for (const key of keysOf(one)) {
      const place = this.places.get(key);
      if (place === undefined) this.places.set(key, [one]);
      else place.splice(positionIn(place, one.name), 0, one);
    }
  }
  delete(one: ConfiguredLifecycle): void {
    for (const key of keysOf(one)) {
      const place = this.places.get(key) ?? [];
      let at = positionIn(place, one.name);
      while (at < place.length && place[at] !== one) at++;
      place.splice(at, 1);
      if (place.length === 0) this.places.delete(key);
    }
  }
  /** The first by name that selects a pod. */
  first(pod: ChosenFor): ConfiguredLifecycle | undefined {
    const { namespace = '', labels = {} } = pod.metadata;
    if (this.places.size === 0) return undefined;
    let firstMatch: ConfiguredLifecycle | undefined;
    const lookAt = (key: string): void => {
      for (const one of this.places.get(key) ?? []) {
        if (firstMatch !== undefined && one.name >= firstMatch.name) return;
        if (!selects(one, pod)) continue;
        firstMatch = one;
        return;
      }
    };
    for (const [label, value] of Object.entries(labels)) lookAt(labelKey(label, value));
    lookAt(namespaceKey(namespace));
    for (const image of imagesOf(pod.spec)) lookAt(imageKey(image));
    lookAt(ANY);
    return firstMatch;
  }
}

const labelKey = (name: string, value: string): string => `label ${name}=${value}`;
const namespaceKey = (name: string): string => `namespace ${name}`;
const imageKey = (name: string): string => `image ${name}`;

/** Where a life cycle is found: a pod that it selects has one of these. */
function keysOf({ selector, namespaces, images }: ConfiguredLifecycle): ReadonlySet<string> {
  const [label] = selector.equals;
  if (label !== undefined) return new Set(label.values.map((value) => labelKey(label.key, value)));
  if (namespaces.length > 0) return new Set(namespaces.map(namespaceKey));
  if (images.length > 0 && !images.some((image) => image.includes('*'))) return new Set(images.map(imageKey));
  return new Set([ANY]);
}

/** The position of the first that is not before a name. */
function positionIn(place: readonly ConfiguredLifecycle[], name: string): number {
  let low = 0;
  let high = place.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((place[middle] as ConfiguredLifecycle).name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function selects({ selector, namespaces, images }: ConfiguredLifecycle, { metadata, spec }: ChosenFor): boolean {
  if (namespaces.length > 0 && !namespaces.includes(metadata.namespace ?? '')) return false;
  if (images.length > 0 && !hasImage(spec, images)) return false;
  return selector.matches(metadata.labels);
}

const imagesOf = (spec: ChosenFor['spec']): string[] =>
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? '');
function hasImage(spec: ChosenFor['spec'], patterns: readonly string[]): boolean {
  const images = imagesOf(spec);
  return patterns.some((pattern) => images.some((image) => isLike(image, pattern)));
}
