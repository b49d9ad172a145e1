/** Bindings of pods to nodes, as schedulers post them. */
import { kind } from '../kind.ts';
import { Binding } from './schema/cluster.ts';

export const BindingKind = kind<Binding>({
  group: '',
  kind: 'Binding',
  plural: 'bindings',
  scope: 'Namespaced',
  verbs: ['create'],
  virtual: true,
  versions: { v1: { schema: Binding } },
  hub: 'v1',
});
