/** Rows of one height, of which those in sight are in the page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/badge.tsx';
import type { StatusTone } from '../../parts/tones.ts';
import { shortUser } from '../../parts/users.ts';
import { shortText, visibleText } from '../../parts/visible-text.ts';
import { type Happening, type NowRow, placeOf } from './now.ts';
import { visibleRange } from './visible-range.ts';

/** As the style sheet has it. */
const ROW_HEIGHT = 32;
const NARROW_ROW_HEIGHT = 64;
const LONGEST_TEXT = 300;

export function RowList({ rows }: { readonly rows: readonly NowRow[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [{ top, height, isNarrow }, setView] = useState({ top: 0, height: 800, isNarrow: false });
  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const measure = (): void =>
      setView({ top: element.scrollTop, height: element.clientHeight, isNarrow: matchMedia('(max-width: 800px)').matches });
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const { first, end } = visibleRange(rows.length, rowHeight, top, height);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="now-rows" ref={scroller} tabIndex={0} aria-label="What happened, newest first">
      <ul style={{ height: `${rows.length * rowHeight}px`, paddingTop: `${first * rowHeight}px` }}>
        {rows.slice(first, end).map((row, index) => (
          <RowLine key={row.key} row={row} position={first + index + 1} total={rows.length} />
        ))}
      </ul>
    </section>
  );
}

const tones: Readonly<Record<Happening, StatusTone>> = { created: 'good', changed: 'busy', deleted: 'over', refused: 'bad', slow: 'bad' };
const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function RowLine({ row, position, total }: { readonly row: NowRow; readonly position: number; readonly total: number }) {
  const place = visibleText(placeOf(row));
  return (
    <li aria-posinset={position} aria-setsize={total}>
      <time dateTime={new Date(row.at).toISOString()}>{timeFormat.format(row.at)}</time>
      <Badge text={row.what} tone={tones[row.what]} />
      <span class="place" title={place}>
        {row.href === undefined ? place : <a href={row.href}>{place}</a>}
      </span>
      <span class="quiet">{visibleText(row.namespace)}</span>
      <span title={row.user.startsWith('~') ? 'The field manager: the user is not known' : visibleText(row.user)}>
        {visibleText(shortUser(row.user))}
      </span>
      <span class="text" title={visibleText(shortText(row.text, 2000))}>
        {visibleText(shortText(row.text, LONGEST_TEXT))}
      </span>
    </li>
  );
}
