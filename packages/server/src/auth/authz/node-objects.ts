/** Decisions about single objects that a node agent may reach: those that are related to its node. */
import { requiresField } from '../selectors.ts';
import type { Attributes, Decision } from '../types.ts';

export const allowed: Decision = { decision: 'allow', reason: '' };
export const no = (reason: string): Decision => ({ decision: 'none', reason });

export const ownVerbs = new Set(['get', 'create', 'update', 'patch', 'delete']);

export function related(node: string, attributes: Attributes, isRelated: () => boolean): Decision {
  if (attributes.name === '') return no('No Object name found');
  return isRelated() ? allowed : no(`no relationship found between node '${node}' and this object`);
}

export function getOne(node: string, attributes: Attributes, isRelated: () => boolean): Decision {
  if (attributes.verb !== 'get') return no('can only get individual resources of this type');
  if (attributes.subresource !== '') return no('cannot get subresource');
  return related(node, attributes, isRelated);
}

export function writeStatus(node: string, attributes: Attributes, isRelated: () => boolean): Decision {
  if (attributes.verb !== 'update' && attributes.verb !== 'patch') return no('can only get/update/patch this type');
  return related(node, attributes, isRelated);
}

export function ownStorageNode(node: string, attributes: Attributes): Decision {
  if (!ownVerbs.has(attributes.verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (attributes.subresource !== '') return no('cannot authorize CSINode subresources');
  if (attributes.verb !== 'create' && attributes.name !== node)
    return no('can only access CSINode with the same name as the requesting node');
  return allowed;
}

/** Admission limits what it writes to its own node. */
export function ownNode(node: string, { verb, subresource, name }: Attributes): Decision {
  if (subresource === 'status' && (verb === 'update' || verb === 'patch')) return allowed;
  if (subresource !== '') return no('');
  if (verb === 'create' || verb === 'update' || verb === 'patch') return allowed;
  if (!readVerbs.has(verb)) return no('');
  // The node may not exist yet.
  if (name === node) return allowed;
  return no(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}
const readVerbs = new Set(['get', 'list', 'watch']);

/** Admission limits what it writes to pods of its node. */
export function podOfNode(node: string, attributes: Attributes, runs: () => boolean): Decision {
  const { verb, subresource, name, selectors } = attributes;
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : no('');
  if (subresource === 'eviction') return verb === 'create' ? allowed : no('');
  if (subresource !== '') return no('');
  if (verb === 'create' || verb === 'delete') return allowed;
  if (!readVerbs.has(verb)) return no('');
  if (verb !== 'get' && requiresField(selectors, 'spec.nodeName', node)) return allowed;
  if (verb !== 'get' && name === '') return no('can only list/watch pods with spec.nodeName field selector');
  return related(node, attributes, runs);
}

/** `isNarrow`: lists are to name the node. Admission limits what it creates and deletes. */
export function sliceOfNode(node: string, attributes: Attributes, isNarrow: boolean, isOwn: () => boolean): Decision {
  const { verb, subresource, selectors } = attributes;
  if (subresource !== '') return no('cannot authorize ResourceSlice subresources');
  if (verb === 'create') return allowed;
  if (verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete') return related(node, attributes, isOwn);
  if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection')
    return no(
      'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
    );
  if (!isNarrow || requiresField(selectors, 'spec.nodeName', node)) return allowed;
  return no('can only list/watch/deletecollection resourceslices with nodeName field selector');
}
