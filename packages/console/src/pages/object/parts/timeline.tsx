import { Text } from '../../../parts/text.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { toneShapes } from '../../../parts/tones.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import type { TimelineEntry } from '../conditions.ts';

export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map(({ time, title, status, tone, reason, message }) => (
        <li key={`${title}${time}`}>
          <span class={`mark ${tone}`} aria-hidden="true">
            {toneShapes[tone]}
          </span>
          <div>
            <p>
              <strong>{visibleText(title)}</strong>
              {status !== '' && <span class={tone}> {visibleText(status)}</span>}
              {reason !== '' && <span class="quiet"> {visibleText(reason)}</span>}
            </p>
            {message !== '' && (
              <p>
                <Text value={message} />
              </p>
            )}
          </div>
          <span class="when quiet">
            {time !== '' && (
              <>
                <TimeAgo time={time} /> ago
              </>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
