/** A state in a word, with a shape and a colour beside it: none of them alone carries the meaning. */
import { type StatusTone, toneOf, toneShapes } from './tones.ts';
import { visibleText } from './visible-text.ts';

export function Badge({ text, tone = toneOf(text) }: { readonly text: string; readonly tone?: StatusTone | undefined }) {
  if (tone === undefined) return <>{visibleText(text)}</>;
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{toneShapes[tone]}</span> {visibleText(text)}
    </span>
  );
}
