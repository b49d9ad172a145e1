import type { RefObject } from 'preact';
import { useConsole } from '../../app/console.ts';

export interface GraphToolbarProps {
  /** Names by id. */
  readonly kinds: ReadonlyMap<string, string>;
  readonly filterField: RefObject<HTMLInputElement | null>;
  readonly hasOpened: boolean;
  readonly onZoom: (step: number) => void;
  readonly onClose: () => void;
}

export function GraphToolbar({ kinds, filterField, hasOpened, onZoom, onClose }: GraphToolbarProps) {
  const { location } = useConsole();
  const { query } = location.route.value;
  const hidden = (query.get('hide') ?? '').split(',').filter(Boolean);
  const setHidden = (id: string, isHidden: boolean): void => {
    const next = isHidden ? [...hidden, id] : hidden.filter((one) => one !== id);
    location.setQuery({ hide: next.join() || undefined });
  };
  const names = [...kinds].sort(([, one], [, other]) => one.localeCompare(other));
  return (
    <>
      <input
        ref={filterField}
        type="search"
        aria-label="Filter by name"
        placeholder="Filter by name"
        value={query.get('q') ?? ''}
        onInput={(event) => location.setQuery({ q: event.currentTarget.value })}
      />
      <label>
        <input
          type="checkbox"
          checked={query.get('problems') === 'true'}
          onChange={(event) => location.setQuery({ problems: event.currentTarget.checked ? 'true' : undefined })}
        />{' '}
        Only what is not ready
      </label>
      <details class="menu kind-choice">
        <summary>Kinds{hidden.length > 0 && `, ${hidden.length} hidden`}</summary>
        <div>
          {names.map(([id, name]) => (
            <label key={id}>
              <input type="checkbox" checked={!hidden.includes(id)} onChange={(event) => setHidden(id, !event.currentTarget.checked)} />{' '}
              {name}
            </label>
          ))}
        </div>
      </details>
      {hasOpened && (
        <button type="button" onClick={onClose}>
          Close groups
        </button>
      )}
      <span class="space" />
      <span class="zoom">
        <button type="button" class="icon" aria-label="Smaller" onClick={() => onZoom(-1)}>
          −
        </button>
        <button type="button" onClick={() => onZoom(0)}>
          Fit
        </button>
        <button type="button" class="icon" aria-label="Larger" onClick={() => onZoom(1)}>
          +
        </button>
      </span>
    </>
  );
}
