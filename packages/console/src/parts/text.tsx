/** Text of the API, safe to look at: hidden characters are visible, and long text is cut with a way to see all of it. */
import { useState } from 'preact/hooks';
import { shortText, visibleText } from './visible-text.ts';

const USUAL_LENGTH = 300;

export function Text({ value, longest = USUAL_LENGTH }: { readonly value: string; readonly longest?: number }) {
  const [isWhole, setWhole] = useState(false);
  if (value.length <= longest) return <>{visibleText(value)}</>;
  return (
    <>
      {visibleText(isWhole ? value : shortText(value, longest))}{' '}
      <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'show less' : `show all ${value.length.toLocaleString('en')} characters`}
      </button>
    </>
  );
}
