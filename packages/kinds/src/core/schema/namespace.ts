/** Namespaces. */
import { always, type Infer, list, message, object, opt, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const NamespaceSpec = message('core.v1.NamespaceSpec', {
  finalizers: opt(1, list(string)),
});

export const NamespaceCondition = message('core.v1.NamespaceCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});
export type NamespaceCondition = Infer<typeof NamespaceCondition>;

const NamespaceStatus = message('core.v1.NamespaceStatus', {
  phase: opt(1, string, { default: 'Active', enum: ['Active', 'Terminating'] }),
  conditions: opt(2, list(NamespaceCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const Namespace = object('core.v1.Namespace', {
  metadata: always(1, ObjectMeta),
  spec: always(2, NamespaceSpec),
  status: always(3, NamespaceStatus),
});
export type Namespace = Infer<typeof Namespace>;
