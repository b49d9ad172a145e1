/** Kinds as discovery lists them, and the paths of their objects. */

export interface Kind {
  /** Empty: the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name that paths have: `pods`. */
  readonly resource: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly verbs: readonly string[];
  /** `status`, `scale`, `log`. */
  readonly subresources: readonly string[];
}

/** What names a kind in URLs of the page. */
export type KindReference = Pick<Kind, 'group' | 'version' | 'resource'>;

/** What names one object. `namespace` is undefined for objects of the whole cluster. */
export interface ObjectReference {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** A text by which a kind can be found in a map. */
export const kindKey = ({ group, version, resource }: KindReference): string => `${group}/${version}/${resource}`;

/** `/api/v1/namespaces/default/pods`; without a namespace, of all namespaces. */
export function collectionPath({ group, version, resource }: KindReference, namespace?: string): string {
  const root = group === '' ? ['api', version] : ['apis', group, version];
  const place = namespace === undefined ? [] : ['namespaces', namespace];
  return [...root, ...place, resource].map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** `/api/v1/namespaces/default/pods/web/log` */
export function objectPath({ kind, namespace, name }: ObjectReference, subresource?: string): string {
  const path = `${collectionPath(kind, kind.isNamespaced ? namespace : undefined)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
