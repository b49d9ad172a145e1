/** The logs of a pod: followed, searched, of several containers. */
import { computed } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { objectPath } from '../../api/kinds.ts';
import { containersOf, defaultContainer } from '../../api/pod-containers.ts';
import { useConsole } from '../../app/console.ts';
import { useLiveObject } from '../../app/live-object.ts';
import type { ObjectTabProps } from '../../app/object-tab.ts';
import { useOpened } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { LogView } from './log-view.tsx';
import { PodLog } from './pod-log.ts';
import './logs.css';

/** Over HTTP/1.1 a browser has six connections to a server, for all of its pages. */
const mostFollowed = (protocol: string): number => (protocol === 'https:' ? 8 : 3);
const USUAL_LINES = 1000;
const MORE_LINES = 10;
const MOST_LINES = 50_000;

export default function Logs({ object }: ObjectTabProps) {
  const { api, clock, location } = useConsole();
  const live = useLiveObject();
  const { query } = location.route.value;
  const pod = live.value;
  const containers = useMemo(() => computed(() => containersOf(live.value)), [live]).value;
  const named = (query.get('container') ?? defaultContainer(pod)).split(',');
  const chosen = containers
    .filter(({ name }) => named.includes(name))
    .map(({ name }) => name)
    .slice(0, mostFollowed(window.location.protocol));
  const isPrevious = query.get('previous') === 'true';
  const tailLines = Math.min(Number(query.get('lines') ?? USUAL_LINES) || USUAL_LINES, MOST_LINES);
  const log = useOpened(
    () =>
      new PodLog({
        api,
        clock,
        path: objectPath(object, 'log'),
        containers: chosen,
        isPrevious,
        tailLines,
        isRunning: (name) =>
          containersOf(live.state.peek().phase === 'ready' ? live.value : undefined).some((one) => one.name === name && one.isRunning),
      }),
    [live, chosen.join(), isPrevious, tailLines],
  );
  useEffect(() => log.resume(), [log, pod]);
  if (containers.length === 0) return <EmptyState title="This pod has no containers" />;
  const more = tailLines < MOST_LINES ? () => location.setQuery({ lines: String(tailLines * MORE_LINES) }) : undefined;
  return (
    <LogView
      key={`${chosen.join()} ${isPrevious} ${tailLines}`}
      pod={object.name}
      log={log}
      containers={containers}
      chosen={chosen}
      most={mostFollowed(window.location.protocol)}
      tailLines={tailLines}
      onOlder={more}
    />
  );
}
