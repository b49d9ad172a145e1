/** What belongs to what in a namespace: objects as nodes, and why they belong together as edges. */
import type { KindReference } from '../../api/kinds.ts';
import type { ApiObject } from '../../api/objects.ts';
import type { KindObjects } from '../../api/several-kinds.ts';
import { listAt, mapAt, textAt, type Value, valueAt } from '../../api/values.ts';
import { type NodeState, stateOf } from './node-state.ts';

export interface GraphNode {
  readonly id: string;
  /** Undefined: it is known by its name alone, as another object refers to it. */
  readonly object: ApiObject | undefined;
  readonly kind: KindReference & { readonly kind: string };
  readonly namespace: string | undefined;
  readonly name: string;
  readonly state: NodeState | undefined;
}
/** `owns` leads from the owner, `selects` from a service, `routes` from an ingress, `mounts` from a pod, `binds` from a claim. */
export type Relation = 'owns' | 'selects' | 'routes' | 'mounts' | 'binds' | 'scales';
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: Relation;
}
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const volumeKind = { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume' };

export function graphOf(content: readonly KindObjects[]): Graph {
  const nodes = content
    .flatMap(({ kind, objects }) => objects.map((object) => nodeOf(kind, object)))
    .filter((node) => !isPastRevision(node));
  const index = new GraphIndex(nodes);
  const volumes = new Map<string, GraphNode>();
  for (const { kind, object } of nodes) {
    const name = textAt(object, 'spec', 'volumeName');
    if (kind.resource === 'persistentvolumeclaims' && name !== '')
      volumes.set(name, { id: volumeId(name), object: undefined, kind: volumeKind, namespace: undefined, name, state: undefined });
  }
  return {
    nodes: [...nodes, ...volumes.values()],
    edges: nodes.flatMap((node) => [...ownerEdges(node, index), ...referenceEdges(node, index)]),
  };
}

const volumeId = (name: string): string => `volume ${name}`;

function nodeOf(kind: KindObjects['kind'], object: ApiObject): GraphNode {
  const { uid, namespace, name } = object.metadata;
  return { id: uid, object, kind, namespace, name, state: stateOf(kind, object) };
}

/** A deployment keeps replica sets of earlier revisions, which have no pods. */
const isPastRevision = ({ kind, object }: GraphNode): boolean =>
  kind.resource === 'replicasets' &&
  valueAt(object, 'spec', 'replicas') === 0 &&
  (valueAt(object, 'status', 'replicas') ?? 0) === 0 &&
  listAt(object, 'metadata', 'ownerReferences').length > 0;

class GraphIndex {
  readonly byId: ReadonlyMap<string, GraphNode>;
  readonly pods: readonly GraphNode[];
  readonly #byName: ReadonlyMap<string, GraphNode>;

  constructor(nodes: readonly GraphNode[]) {
    this.byId = new Map(nodes.map((node) => [node.id, node]));
    this.pods = nodes.filter(({ kind }) => kind.group === '' && kind.resource === 'pods');
    this.#byName = new Map(nodes.map((node) => [`${node.kind.kind}/${node.name}`, node]));
  }

  named(kind: string, name: string): GraphNode | undefined {
    return this.#byName.get(`${kind}/${name}`);
  }
}

function ownerEdges({ id, object }: GraphNode, { byId }: GraphIndex): GraphEdge[] {
  const owners = object?.metadata.ownerReferences ?? [];
  return owners.flatMap(({ uid }): GraphEdge[] => (byId.has(uid) ? [{ from: uid, to: id, relation: 'owns' }] : []));
}

function referenceEdges(node: GraphNode, index: GraphIndex): GraphEdge[] {
  const { id, kind, object } = node;
  const edgesTo = (relation: Relation, kindName: string, names: readonly string[]): GraphEdge[] =>
    [...new Set(names)].flatMap((name): GraphEdge[] => {
      const target = index.named(kindName, name);
      return target === undefined ? [] : [{ from: id, to: target.id, relation }];
    });
  switch (kind.resource) {
    case 'services':
      return selectedPods(object, index.pods).map((pod): GraphEdge => ({ from: id, to: pod.id, relation: 'selects' }));
    case 'ingresses':
      return edgesTo('routes', 'Service', servicesOfIngress(object));
    case 'pods':
      return edgesTo('mounts', 'PersistentVolumeClaim', claimsOfPod(object));
    case 'persistentvolumeclaims': {
      const volume = textAt(object, 'spec', 'volumeName');
      return volume === '' ? [] : [{ from: id, to: volumeId(volume), relation: 'binds' }];
    }
    case 'horizontalpodautoscalers':
      return edgesTo('scales', textAt(object, 'spec', 'scaleTargetRef', 'kind'), [textAt(object, 'spec', 'scaleTargetRef', 'name')]);
    default:
      return [];
  }
}

function selectedPods(service: Value, pods: readonly GraphNode[]): GraphNode[] {
  const selector = Object.entries(mapAt(service, 'spec', 'selector'));
  if (selector.length === 0) return [];
  return pods.filter(({ object }) => selector.every(([key, value]) => valueAt(object, 'metadata', 'labels', key) === value));
}

function servicesOfIngress(ingress: Value): string[] {
  const backends = [
    valueAt(ingress, 'spec', 'defaultBackend'),
    ...listAt(ingress, 'spec', 'rules').flatMap((rule) => listAt(rule, 'http', 'paths').map((path) => valueAt(path, 'backend'))),
  ];
  return backends.map((backend) => textAt(backend, 'service', 'name')).filter(Boolean);
}

const claimsOfPod = (pod: Value): string[] =>
  listAt(pod, 'spec', 'volumes')
    .map((volume) => textAt(volume, 'persistentVolumeClaim', 'claimName'))
    .filter(Boolean);
