/** Questions about the state of one object. They are answered and not stored. */
import { always, bool, type Infer, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

/** The object that a question is about. */
const ObjectQuestion = message('explain.v1alpha1.ObjectQuestion', {
  group: opt(1, string),
  resource: req(2, string),
  namespace: opt(3, string),
  name: req(4, string),
});

const ExplainedObject = message('explain.v1alpha1.ExplainedObject', {
  group: opt(1, string),
  resource: req(2, string),
  kind: req(3, string),
  namespace: opt(4, string),
  name: req(5, string),
});

const Cause = message('explain.v1alpha1.Cause', {
  reason: req(1, string),
  message: req(2, string),
  object: ptr(3, ExplainedObject),
  path: opt(4, list(ExplainedObject)),
  command: opt(5, string),
});

const DeletionExplanationStatus = message('explain.v1alpha1.DeletionExplanationStatus', {
  deleting: req(1, bool),
  causes: opt(2, list(Cause)),
  unread: opt(3, int32),
  incomplete: opt(4, list(string)),
});

const RefusedNodes = message('explain.v1alpha1.RefusedNodes', {
  reason: req(1, string),
  count: req(2, int32),
  nodes: opt(3, list(string)),
});

const PendingExplanationStatus = message('explain.v1alpha1.PendingExplanationStatus', {
  pending: req(1, bool),
  causes: opt(2, list(Cause)),
  unread: opt(3, int32),
  incomplete: opt(4, list(string)),
  refusals: opt(5, list(RefusedNodes)),
});

export const PendingExplanation = object('explain.v1alpha1.PendingExplanation', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ObjectQuestion),
  status: always(3, PendingExplanationStatus),
});
export type PendingExplanation = Infer<typeof PendingExplanation>;

const ReadinessExplanationStatus = message('explain.v1alpha1.ReadinessExplanationStatus', {
  ready: req(1, bool),
  causes: opt(2, list(Cause)),
  unread: opt(3, int32),
  incomplete: opt(4, list(string)),
});

export const ReadinessExplanation = object('explain.v1alpha1.ReadinessExplanation', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ObjectQuestion),
  status: always(3, ReadinessExplanationStatus),
});
export type ReadinessExplanation = Infer<typeof ReadinessExplanation>;

export const DeletionExplanation = object('explain.v1alpha1.DeletionExplanation', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ObjectQuestion),
  status: always(3, DeletionExplanationStatus),
});
export type DeletionExplanation = Infer<typeof DeletionExplanation>;
