/** What an object waits for, in words. */
import type { AnswerStatus } from '@plat-dev/client/why';
import { type Paint, plain } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';

export type ObjectQuestionKind = 'DeletionExplanation' | 'PendingExplanation' | 'ReadinessExplanation';
type ObjectStatus = AnswerStatus<ObjectQuestionKind>;
type Cause = NonNullable<ObjectStatus['causes']>[number];

/** Whether the object is in the state that was asked about: being deleted, pending, not ready. */
export const holds = (status: ObjectStatus): boolean =>
  'deleting' in status ? status.deleting : 'pending' in status ? status.pending : !status.ready;

const states: Readonly<Record<ObjectQuestionKind, readonly [holds: string, otherwise: string]>> = {
  DeletionExplanation: ['being deleted', 'not being deleted'],
  PendingExplanation: ['pending', 'not pending'],
  ReadinessExplanation: ['not ready', 'ready'],
};
export const objectHeadline = (kind: ObjectQuestionKind, name: string, isInState: boolean): string =>
  `${name} is ${states[kind][isInState ? 0 : 1]}`;

interface ExplainedState {
  readonly kind: ObjectQuestionKind;
  /** `pods/web`. */
  readonly name: string;
  readonly status: ObjectStatus;
}
/** `flags`: what commands that are named have at their end. */
export function objectText({ kind, name, status }: ExplainedState, flags = '', paint: Paint = plain): string {
  const { causes = [], unread = 0, incomplete = [] } = status;
  const lines = [printable(`${objectHeadline(kind, name, holds(status))}.`)];
  causes.forEach((cause, index) => {
    lines.push('', `${index + 1}. ${printable(causeText(cause))}`);
    if (cause.command) lines.push(`   ${paint(`plat ${printable(cause.command)}${flags}`, 'cyan')}`);
  });
  const hidden = unread === 0 ? [] : [`${unread} object${unread === 1 ? '' : 's'} that you may not read`];
  const notLooked = [...hidden, ...incomplete.map(printable)];
  if (notLooked.length > 0) lines.push('', `Not looked at: ${notLooked.join('; ')}.`);
  return `${lines.join('\n')}\n`;
}

/** `namespaces/team → configmaps/settings: …` for causes of other objects. */
function causeText({ path = [], object, message }: Cause): string {
  if (path.length === 0 || object == null) return message;
  const chain = [...path, object].map(({ resource, name }) => `${resource}/${name}`);
  return `${chain.join(' → ')}: ${message}`;
}
