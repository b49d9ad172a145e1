/** Lines, of which those in sight are in the page. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../parts/visible-text.ts';
import { LONGEST_SHOWN, type LogLine, shownText } from './log-line.ts';
import { ROW_HEIGHT, RowHeights, rowsInSight } from './row-heights.ts';
import { partsOf } from './search.ts';

export interface LineListProps {
  readonly lines: readonly LogLine[];
  readonly wanted: string;
  /** The match that the reader is at, among the lines. */
  readonly marked: number | undefined;
  readonly isFollowing: boolean;
  readonly withTime: boolean;
  /** Shown beside the lines; none where there is only one. */
  readonly containers: readonly string[];
  readonly isWrapped: boolean;
  readonly onScrollUp: () => void;
  readonly onScrollToEnd: () => void;
  readonly onWhole: (line: LogLine) => void;
}

/** Columns beside the text, as the style sheet has them, and pixels that are no text. */
const TIME_COLUMNS = 14;
const LONGEST_CONTAINER = 16;
const EDGES = 24;

export function LineList(props: LineListProps) {
  const { lines, wanted, marked, isFollowing, withTime, containers, isWrapped, onScrollUp, onScrollToEnd, onWhole } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 800, letter: 8 });
  const nameColumns = Math.min(LONGEST_CONTAINER, Math.max(0, ...containers.map((name) => name.length + 2)));
  const beside = (withTime ? TIME_COLUMNS : 0) + nameColumns;
  const columns = isWrapped ? Math.max(20, Math.floor((view.width - EDGES) / view.letter) - beside) : undefined;
  const heights = useMemo(() => new RowHeights(columns), [columns]);
  const layout = useMemo(() => heights.layoutOf(lines), [heights, lines]);
  const { tops } = layout;
  const total = tops[lines.length] as number;
  useMeasured(scroller, setView);
  useLayoutEffect(() => {
    if (isFollowing && scroller.current !== null) scroller.current.scrollTop = total;
  }, [isFollowing, total, view.height]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (marked === undefined || isFollowing || element === null) return;
    const top = tops[marked] as number;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 2 * ROW_HEIGHT)
      element.scrollTop = top - element.clientHeight / 2;
  }, [marked, wanted, isFollowing]);
  const scrolled = (): void => {
    const element = scroller.current as HTMLDivElement;
    const { scrollTop, clientHeight, scrollHeight } = element;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - ROW_HEIGHT;
    if (isAtEnd) onScrollToEnd();
    else if (scrollTop < view.top) onScrollUp();
    setView({ ...view, top: scrollTop });
  };
  const { first, end } = rowsInSight(layout, view.top, view.height);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="log-lines" ref={scroller} tabIndex={0} aria-label="Lines of the log" onScroll={scrolled}>
      <ol class={isWrapped ? 'wrapped' : undefined} style={{ height: `${total}px` }}>
        {lines.slice(first, end).map((line, i) => (
          <li
            key={line.id}
            class={first + i === marked ? 'marked' : undefined}
            style={{ top: `${tops[first + i]}px` }}
            aria-setsize={lines.length}
            aria-posinset={first + i + 1}
          >
            {withTime && <Time line={line} />}
            {nameColumns > 0 && (
              <span class="container" style={{ width: `${nameColumns}ch` }}>
                {visibleText(line.container)}
              </span>
            )}
            <LineText line={line} wanted={wanted} onWhole={onWhole} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });

function Time({ line: { time, at } }: { readonly line: LogLine }) {
  if (time === '') return <span class="time" />;
  return (
    <time class="time quiet" dateTime={time} title={time}>
      {timeFormat.format(at)}
    </time>
  );
}

interface LineTextProps {
  readonly line: LogLine;
  readonly wanted: string;
  readonly onWhole: (line: LogLine) => void;
}
function LineText({ line, wanted, onWhole }: LineTextProps) {
  return (
    <span class="text">
      {partsOf(shownText(line.text), wanted).map(({ text, isMatch }, i) => (isMatch ? <mark key={i}>{text}</mark> : text))}
      {line.text.length > LONGEST_SHOWN && (
        <button type="button" class="link" onClick={() => onWhole(line)}>
          … all {line.text.length.toLocaleString('en')} characters
        </button>
      )}
    </span>
  );
}

interface View {
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly letter: number;
}
const PROBED = 100;

/** Follows the size of the list, and measures a letter. */
function useMeasured(scroller: { readonly current: HTMLElement | null }, setView: (view: View) => void): void {
  useEffect(() => {
    const element = scroller.current as HTMLElement;
    const probe = element.ownerDocument.createElement('span');
    probe.className = 'probe';
    probe.textContent = '0'.repeat(PROBED);
    element.append(probe);
    const letter = probe.getBoundingClientRect().width / PROBED || 8;
    probe.remove();
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth, letter });
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
}
