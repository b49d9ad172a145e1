import type { RefObject } from 'preact';
import { useConsole } from '../../app/console.ts';

export interface SearchFieldProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly wanted: string;
  readonly matches: number;
  readonly current: number;
  readonly onStep: (by: number) => void;
  readonly onChange: () => void;
}

/** Enter leads to the next match, with Shift to the one before. */
export function SearchField({ field, wanted, matches, current, onStep, onChange }: SearchFieldProps) {
  const { location } = useConsole();
  const { query } = location.route.value;
  return (
    <>
      <input
        ref={field}
        type="search"
        aria-label="Search the log"
        placeholder="Search"
        value={wanted}
        onInput={(event) => {
          location.setQuery({ q: event.currentTarget.value });
          onChange();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      {wanted !== '' && (
        <>
          <span class="quiet" role="status">
            {matches === 0 ? 'no match' : `${(current % matches) + 1} of ${matches.toLocaleString('en')}`}
          </span>
          <button type="button" class="icon" aria-label="Match before" disabled={matches === 0} onClick={() => onStep(-1)}>
            ↑
          </button>
          <button type="button" class="icon" aria-label="Next match" disabled={matches === 0} onClick={() => onStep(1)}>
            ↓
          </button>
          <label>
            <input
              type="checkbox"
              checked={query.get('only') === 'true'}
              onChange={(event) => location.setQuery({ only: event.currentTarget.checked ? 'true' : undefined })}
            />{' '}
            Only matches
          </label>
        </>
      )}
    </>
  );
}
