/** Kinds that a stock server does not have. They come after all others in discovery. */
import { AccessExplanationKind } from './explain/access-explanation.ts';
import { DeletionExplanationKind, PendingExplanationKind, ReadinessExplanationKind } from './explain/object-explanations.ts';
import { RefusalSearchKind } from './explain/refusal-search.ts';
import { SlowRequestSearchKind } from './explain/slow-request-search.ts';
import { SubjectSearchKind } from './explain/subject-search.ts';
import type { Kind } from './kind.ts';

/** Base name of their group. */
export const explainGroup = 'explain';

export const explainKinds: readonly Kind[] = [
  AccessExplanationKind,
  SubjectSearchKind,
  RefusalSearchKind,
  SlowRequestSearchKind,
  DeletionExplanationKind,
  PendingExplanationKind,
  ReadinessExplanationKind,
];
