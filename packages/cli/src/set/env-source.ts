/** Where the values of variables come from: config maps, secrets, fields of the pod, resources of the container. */

import { pathOf } from '@plat-dev/client/dynamic';
import { own } from '@plat-dev/lib/own';
import { parseQuantity } from '@plat-dev/meta/quantity';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Work } from '../work.ts';
import type { Container } from './pod-spec.ts';

interface KeyRef {
  readonly name?: string;
  readonly key: string;
}
export interface ValueSource {
  readonly configMapKeyRef?: KeyRef;
  readonly secretKeyRef?: KeyRef;
  readonly fieldRef?: { readonly fieldPath: string };
  readonly resourceFieldRef?: { readonly containerName?: string; readonly resource: string; readonly divisor?: string };
}

/** `configmap web, key mode` */
export function sourceText({ configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef }: ValueSource): string {
  if (configMapKeyRef !== undefined) return `configmap ${configMapKeyRef.name ?? ''}, key ${configMapKeyRef.key}`;
  if (secretKeyRef !== undefined) return `secret ${secretKeyRef.name ?? ''}, key ${secretKeyRef.key}`;
  if (fieldRef !== undefined) return `field path ${fieldRef.fieldPath}`;
  if (resourceFieldRef === undefined) return 'invalid valueFrom';
  const { containerName = '', resource } = resourceFieldRef;
  return `resource field ${containerName === '' ? '' : `${containerName}/`}${resource}`;
}

type Data = Readonly<Record<string, string>>;

/** Values of variables, for --resolve. Config maps and secrets are read once. */
export class ValueReader {
  readonly #work: Work;
  readonly #read = new Map<string, Promise<Data>>();

  constructor(work: Work) {
    this.#work = work;
  }
  /** Throws an Error that says what is missing. */
  async value(source: ValueSource, object: JsonObject, container: Container): Promise<string> {
    const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = source;
    if (secretKeyRef !== undefined) return Buffer.from(await this.#key('secrets', 'secret', secretKeyRef), 'base64').toString();
    if (configMapKeyRef !== undefined) return this.#key('configmaps', 'config map', configMapKeyRef);
    if (fieldRef !== undefined) return fieldValue(object, fieldRef.fieldPath);
    if (resourceFieldRef !== undefined) return resourceValue(container, resourceFieldRef);
    throw new Error('invalid valueFrom');
  }
  async #key(resource: 'configmaps' | 'secrets', kind: string, { name = '', key }: KeyRef): Promise<string> {
    const path = pathOf({ group: '', version: 'v1', name: resource, namespaced: true }, this.#work.namespace, name);
    let data = this.#read.get(path);
    if (data === undefined) {
      data = this.#work.session.transport
        .json<{ data?: Data }>({ path, signal: this.#work.signal, ...this.#work.session.timeout })
        .then((object) => object.data ?? {});
      this.#read.set(path, data);
    }
    const value = own(await data, key);
    if (value === undefined) throw new Error(`key ${key} not found in ${kind} ${name}`);
    return value;
  }
}

function fieldValue({ metadata }: JsonObject, path: string): string {
  const meta = (metadata ?? {}) as { labels?: Data; annotations?: Data } & Record<string, unknown>;
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path) ?? [];
  if (map !== undefined) return own(meta[map as 'labels' | 'annotations'], key) ?? '';
  const [, field] = /^metadata\.(name|namespace|uid|labels|annotations)$/.exec(path) ?? [];
  if (field === undefined) throw new Error(`unsupported fieldPath: ${path}`);
  if (field !== 'labels' && field !== 'annotations') return (own(meta, field) as string | undefined) ?? '';
  const pairs = meta[field] ?? {};
  return Object.keys(pairs)
    .sort()
    .map((name) => `${name}=${JSON.stringify(pairs[name])}`)
    .join('\n');
}

/** In units of the divisor, rounded up. */
export function resourceValue({ resources }: JsonObject, { resource, divisor = '1' }: { resource: string; divisor?: string }): string {
  const [, list, name = ''] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(resource) ?? [];
  if (list === undefined) throw new Error(`unsupported container resource: ${resource}`);
  const amount = own(own((resources ?? {}) as Record<string, Data | undefined>, list), name) ?? '0';
  const unit = divisor === '0' ? '1' : divisor;
  return Math.ceil(parseQuantity(amount).toNumber() / parseQuantity(unit).toNumber()).toString();
}
