/** Which words of states are good, which are under way, and which are bad. */

export type StatusTone = 'good' | 'busy' | 'bad' | 'over';

export const toneShapes: Readonly<Record<StatusTone, string>> = { good: '●', busy: '◐', bad: '▲', over: '○' };

const words: Readonly<Record<StatusTone, readonly string[]>> = {
  good: ['Running', 'Ready', 'Active', 'Bound', 'Available', 'Healthy', 'Approved', 'Issued', 'Established'],
  busy: ['Pending', 'ContainerCreating', 'PodInitializing', 'Terminating', 'Released', 'Progressing', 'NotTriggerScaleUp'],
  bad: ['Failed', 'Error', 'NotReady', 'Unknown', 'Evicted', 'Lost', 'OOMKilled', 'Denied', 'Warning', 'Unhealthy', 'Unschedulable'],
  over: ['Completed', 'Succeeded', 'Complete', 'Suspended'],
};
const toneByWord = new Map(
  Object.entries(words).flatMap(([tone, list]) => list.map((word): [string, StatusTone] => [word, tone as StatusTone])),
);
const badEnding = /(BackOff|Error|Err[A-Z]\w*|Failed|Invalid\w*)$/;

/** `1/2` in the column Ready. */
const share = /^(\d+)\/(\d+)$/;

/** Undefined: a word that is no state. `Ready,SchedulingDisabled` has the tone of its first part; `0/2` is under way. */
export function toneOf(text: string): StatusTone | undefined {
  const [, part, whole] = share.exec(text) ?? [];
  if (part !== undefined) return Number(part) < Number(whole) ? 'busy' : undefined;
  const word = text.split(/[,: ]/, 1)[0] as string;
  return toneByWord.get(word) ?? (badEnding.test(word) ? 'bad' : word.startsWith('Init:') ? 'busy' : undefined);
}
