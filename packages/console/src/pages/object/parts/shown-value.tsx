/** One value of a summary. */
import { useState } from 'preact/hooks';
import { Badge } from '../../../parts/badge.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Text } from '../../../parts/text.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import type { Shown } from '../summary/summary.ts';
import { ObjectLink } from './object-link.tsx';

export function ShownValue({ value }: { readonly value: Shown }) {
  switch (value.type) {
    case 'text':
      return <Text value={value.text} />;
    case 'code':
      return <Code text={value.text} />;
    case 'state':
      return <Badge text={value.text} tone={value.tone} />;
    case 'time':
      return (
        <>
          <TimeAgo time={value.time} /> ago
        </>
      );
    case 'link':
      return <ObjectLink {...value} />;
    case 'labels':
      return <Labels labels={value.labels} />;
    case 'list':
      return (
        <ul>
          {value.items.map((item, i) => (
            <li key={i}>
              <ShownValue value={item} />
            </li>
          ))}
        </ul>
      );
    case 'hidden':
      return <HiddenValue base64={value.base64} />;
  }
}

function Code({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <code class="value">
      <Text value={text} />
    </code>
  );
}

export function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> }) {
  return (
    <ul class="labels">
      {Object.entries(labels).map(([key, value]) => (
        <li key={key}>
          <span class="quiet">{visibleText(key)}</span> <Text value={value} longest={100} />
        </li>
      ))}
    </ul>
  );
}

/** A value of a secret: it is neither in the page nor read aloud until it is asked for. */
function HiddenValue({ base64 }: { readonly base64: string }) {
  const [isShown, setShown] = useState(false);
  const [plain, isText] = decoded(base64);
  return (
    <>
      {isShown ? <Code text={plain} /> : <span class="quiet">hidden</span>}
      {isShown && !isText && <span class="quiet"> (in Base64: it is no text)</span>}{' '}
      <button type="button" class="small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </button>{' '}
      <CopyButton text={plain} />
    </>
  );
}

/** The text that Base64 stands for, or itself where that is no text. */
function decoded(base64: string): [string, boolean] {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return [new TextDecoder('utf-8', { fatal: true }).decode(bytes), true];
  } catch {
    return [base64, false];
  }
}
