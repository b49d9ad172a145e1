/** What admission did with an object, in words. */
import type { AdmissionStep, AdmissionTrace } from '@plat-dev/client/why';
import { jsonText } from '@plat-dev/lib/json-text';
import { type Paint, plain } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';

/** Values are cut at so many characters. */
const MOST_VALUE = 100;

export function rejectionText({ object, steps, refusal }: AdmissionTrace, paint: Paint = plain): string {
  const refuser = steps.findLast(({ refused }) => refused !== undefined)?.step;
  const other = refusal?.code === 422 ? 'validation' : 'the server, not by admission';
  const verdict = refusal === undefined ? paint('accepted', 'green') : paint(`refused by ${printable(refuser ?? other)}`, 'red');
  const lines = [`${object}: ${verdict}`, ''];
  for (const step of steps) lines.push(...stepLines(step, paint));
  if (refusal !== undefined) lines.push('', printable(`${refusal.message} (${refusal.code} ${refusal.reason})`));
  for (const { field = '', message = '' } of (refuser === undefined && refusal?.causes) || [])
    lines.push(printable(`  ${field}: ${message}`));
  return `${lines.join('\n')}\n`;
}
function stepLines(
  { step, phase = '', round, ms = 0, patch = [], changed = [], more, refused, note, left_out }: AdmissionStep,
  paint: Paint,
): string[] {
  if (step === undefined) return [`  ${left_out ?? 0} further steps are left out`];
  const again = round === undefined ? '' : ' again';
  const lines = [`  ${(phase + again).padEnd(14)}${`${ms.toFixed(3)} ms`.padStart(12)}  ${printable(step)}`];
  const detail = (text: string, colour?: 'red' | 'yellow'): void => void lines.push(`${' '.repeat(30)}${paint(printable(text), colour)}`);
  for (const { op, path, value } of patch) detail(`${op} ${path}${value === undefined ? '' : ` ${cut(jsonText(value))}`}`);
  for (const text of changed) detail(`changed ${text}`);
  if (more !== undefined) detail(`and ${more} more`);
  if (note !== undefined) detail(note, 'yellow');
  if (refused !== undefined) detail(`refused: ${refused}`, 'red');
  return lines;
}
const cut = (text: string): string => (text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text);
