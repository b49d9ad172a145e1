/** The lines of a log, what narrows them down, and what is done with them. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { PodContainer } from '../../api/pod-containers.ts';
import { useConsole } from '../../app/console.ts';
import { useKeys } from '../../app/use.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { LineList } from './line-list.tsx';
import type { LogLine } from './log-line.ts';
import type { PodLog } from './pod-log.ts';
import { matchesIn } from './search.ts';
import { SearchField } from './search-field.tsx';
import { Toolbar } from './toolbar.tsx';

export interface LogViewProps {
  readonly pod: string;
  readonly log: PodLog;
  readonly containers: readonly PodContainer[];
  readonly chosen: readonly string[];
  /** Containers that can be followed at once. */
  readonly most: number;
  readonly tailLines: number;
  /** Reads older lines as well; undefined: there are none, or too many. */
  readonly onOlder: (() => void) | undefined;
}

/** Why lines stand still: somebody asked for it, or looks at older ones. */
type Pause = { readonly lines: readonly LogLine[]; readonly by: 'button' | 'scrolling' } | undefined;

export function LogView({ pod, log, containers, chosen, most, tailLines, onOlder }: LogViewProps) {
  const { location } = useConsole();
  const { query } = location.route.value;
  const [pause, setPause] = useState<Pause>(undefined);
  const [current, setCurrent] = useState(0);
  const [whole, setWhole] = useState<LogLine | undefined>(undefined);
  const searchField = useRef<HTMLInputElement>(null);
  const wanted = query.get('q') ?? '';
  const isFiltered = query.get('only') === 'true' && wanted !== '';
  const newest = log.lines.value;
  const lines = pause?.lines ?? newest;
  const matches = useMemo(() => matchesIn(lines, wanted), [lines, wanted]);
  const shown = useMemo(() => (isFiltered ? matches.map((i) => lines[i] as LogLine) : lines), [isFiltered, matches, lines]);
  const marked = matches.length === 0 ? undefined : (matches[current % matches.length] as number);
  const hold = (by: 'button' | 'scrolling'): void => setPause({ lines: log.lines.peek(), by });
  const step = (by: number): void => {
    if (matches.length === 0) return;
    if (pause === undefined) hold('button');
    setCurrent((current + by + matches.length) % matches.length);
  };
  const togglePause = (): void => (pause === undefined ? hold('button') : setPause(undefined));
  useKeys(
    [
      { key: 'f', label: 'Search the log', run: () => searchField.current?.focus() },
      { key: 'n', label: 'Next match', run: () => step(1) },
      { key: 'N', label: 'Match before', run: () => step(-1) },
      { key: 'p', label: 'Pause the log, or go on', run: togglePause },
    ],
    [pause, current, matches],
  );
  return (
    <div class="logs">
      <Toolbar pod={pod} log={log} containers={containers} chosen={chosen} most={most} />
      <div class="tool-line">
        <SearchField
          field={searchField}
          wanted={wanted}
          matches={matches.length}
          current={current}
          onStep={step}
          onChange={() => setCurrent(0)}
        />
        <button type="button" aria-pressed={pause !== undefined} onClick={togglePause}>
          {pause === undefined ? 'Pause' : 'Go on'}
        </button>
        <LineCount shown={shown.length} all={lines.length} missed={newest.length - lines.length} log={log} isPaused={pause !== undefined} />
        {onOlder !== undefined && newest.length >= tailLines * chosen.length && (
          <button type="button" class="link" onClick={onOlder}>
            Older lines
          </button>
        )}
      </div>
      <States log={log} isEmpty={newest.length === 0} />
      <LineList
        lines={shown}
        wanted={wanted}
        marked={marked === undefined ? undefined : isFiltered ? current % matches.length : marked}
        isFollowing={pause === undefined}
        withTime={query.get('time') !== 'false'}
        containers={chosen.length > 1 ? chosen : []}
        isWrapped={query.get('wrap') === 'true'}
        onScrollUp={() => pause === undefined && hold('scrolling')}
        onScrollToEnd={() => pause?.by === 'scrolling' && setPause(undefined)}
        onWhole={setWhole}
      />
      {whole !== undefined && <WholeLine line={whole} onClose={() => setWhole(undefined)} />}
    </div>
  );
}

interface LineCountProps {
  readonly shown: number;
  readonly all: number;
  readonly missed: number;
  readonly isPaused: boolean;
  readonly log: PodLog;
}
function LineCount({ shown, all, missed, isPaused, log }: LineCountProps) {
  const total = all.toLocaleString('en');
  return (
    <span class="quiet" role="status">
      {shown === all ? `${total} ${all === 1 ? 'line' : 'lines'}` : `${shown.toLocaleString('en')} of ${total} lines`}
      {log.isTruncated.value && ', the newest'}
      {isPaused && (missed > 0 ? `; paused, ${missed.toLocaleString('en')} more` : '; paused')}
    </span>
  );
}

/** Why a container has no lines, or no more. */
function States({ log, isEmpty }: { readonly log: PodLog; readonly isEmpty: boolean }) {
  return (
    <>
      {log.logs.map(({ container, log: { state } }) => {
        const now = state.value;
        if (now.phase === 'failed') return <ErrorBox key={container} error={now.error} />;
        if (now.phase === 'waiting' && now.error !== undefined)
          return (
            <p key={container} class="notice" role="status">
              ◐ {visibleText(now.error.message)} It is asked for again.
            </p>
          );
        if (now.phase === 'ended')
          return (
            <p key={container} class="quiet" role="status">
              {isEmpty ? `${visibleText(container)} has written nothing.` : `The log of ${visibleText(container)} has ended.`}
            </p>
          );
        return null;
      })}
      {isEmpty && log.logs.every(({ log: { state } }) => state.value.phase === 'reading') && <Progress label="No lines yet…" />}
    </>
  );
}

function WholeLine({ line: { text }, onClose }: { readonly line: LogLine; readonly onClose: () => void }) {
  return (
    <Dialog title={`A line of ${text.length.toLocaleString('en')} characters`} class="wide-dialog" onClose={onClose}>
      <p>
        <CopyButton text={text} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <pre class="whole-line" tabIndex={0}>
        {visibleText(text)}
      </pre>
    </Dialog>
  );
}
