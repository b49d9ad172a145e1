/** The objects of a tree. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { StatusSummary } from './status.ts';

export interface TreeNode {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly created: string | undefined;
  readonly summary: StatusSummary;
  /** The field that links it; undefined for owner references. */
  readonly via?: string;
  /** The object is in the tree already, where its dependents are shown; or why it is not there. */
  readonly note?: string;
  readonly owners: readonly TreeNode[];
  readonly dependents: readonly TreeNode[];
}
export interface Tree {
  readonly root: TreeNode;
  readonly referencedBy: readonly TreeNode[];
  /** What could not be looked through, and bounds that were reached. */
  readonly notes: readonly string[];
}

/** An object of which nothing but its name is known. */
export const blank = ({ resource, namespace, name }: ObjectRef): TreeNode => ({
  resource,
  namespace,
  name,
  uid: '',
  created: undefined,
  summary: { ready: '', status: '' },
  owners: [],
  dependents: [],
});
/** Of an owner whose kind the server does not serve. */
export const unknownResource = (apiVersion: string, kind: string): ApiResource => ({
  ...splitApiVersion(apiVersion),
  name: kind.toLowerCase(),
  singularName: kind.toLowerCase(),
  kind,
  namespaced: false,
  verbs: [],
  shortNames: [],
  categories: [],
});
