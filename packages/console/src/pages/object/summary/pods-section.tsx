/** The pods of the object in its summary, live: where one looks first when something is not ready. */
import type { Kind } from '../../../api/kinds.ts';
import { Objects } from '../../../api/objects.ts';
import { useConsole } from '../../../app/console.ts';
import { objectHref, tableHref } from '../../../app/routes.ts';
import { useOpened } from '../../../app/use.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { Text } from '../../../parts/text.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { podLines } from './own-pods.ts';

const SHOWN = 10;
const MOST_READ = 500;

export interface OwnPodsProps {
  readonly podKind: Kind;
  readonly namespace: string | undefined;
  readonly selector: string;
}

export function OwnPods({ podKind: kind, namespace, selector }: OwnPodsProps) {
  const { api, watches, clock } = useConsole();
  const pods = useOpened(
    () => new Objects({ api, watches, clock, kind, namespace, labelSelector: selector, maximum: MOST_READ }),
    [kind, namespace, selector],
  );
  const lines = podLines(pods.items.value.values());
  const all = tableHref(kind, namespace, { labels: selector });
  return (
    <section class="wide" aria-label="Pods">
      <h2>Pods</h2>
      {pods.error.value !== undefined && <p class="quiet">You cannot see them: {visibleText(pods.error.value.message)}</p>}
      {pods.phase.value === 'listing' && lines.length === 0 && <Progress />}
      {pods.phase.value === 'live' && lines.length === 0 && <p class="quiet">There are none.</p>}
      <ul class="own-pods">
        {lines.slice(0, SHOWN).map(({ name, state, isReady, restarts, message }) => (
          <li key={name}>
            <a href={objectHref(kind, namespace, name)}>{visibleText(name)}</a>
            <span>
              <Badge text={state} tone={state === 'Running' && !isReady ? 'busy' : undefined} />
              {state === 'Running' && !isReady && ', not ready'}
              {restarts > 0 && <span class="quiet"> {restarts === 1 ? '1 restart' : `${restarts} restarts`}</span>}{' '}
              <a href={objectHref(kind, namespace, name, { tab: 'logs' })}>Logs</a>
            </span>
            {message !== '' && (
              <p>
                <Text value={message} />
              </p>
            )}
          </li>
        ))}
      </ul>
      {lines.length > SHOWN && (
        <p>
          <a href={all}>All {pods.isTruncated.value ? `of more than ${MOST_READ}` : lines.length} pods</a>
        </p>
      )}
    </section>
  );
}
