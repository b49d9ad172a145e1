/** Which rows are shown: by kind, what happened, user and text; and whether the stream goes on. */
import type { Kind } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { useKeys } from '../../app/use.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { kindName, MAX_KINDS, watchableKinds, withKind } from './chosen-kinds.ts';
import type { Happening, NowRows } from './now.ts';

const happenings: readonly Happening[] = ['created', 'changed', 'deleted', 'refused', 'slow'];

export function Filters({ rows, chosen }: { readonly rows: NowRows; readonly chosen: readonly Kind[] }) {
  const { location } = useConsole();
  const { query } = location.route.value;
  const isPaused = rows.isPaused.value;
  const input = (name: string, label: string) => (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={query.get(name) ?? ''}
      onInput={(event) => location.setQuery({ [name]: event.currentTarget.value })}
    />
  );
  useKeys([{ key: 'p', label: 'Pause, or go on', run: () => rows.pause(!rows.isPaused.peek()) }], [rows]);
  return (
    <div class="filters">
      <KindMenu chosen={chosen} />
      <select
        aria-label="What happened"
        value={query.get('what') ?? ''}
        onChange={(event) => location.setQuery({ what: event.currentTarget.value })}
      >
        <option value="">everything</option>
        {happenings.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {input('user', 'User')}
      {input('text', 'Text')}
      <button type="button" aria-pressed={isPaused} onClick={() => rows.pause(!isPaused)}>
        {isPaused ? 'Go on' : 'Pause'}
      </button>
      <button type="button" onClick={() => rows.clear()}>
        Clear
      </button>
      <span class="quiet" role="status">
        {isPaused && `paused, ${rows.waiting.value.toLocaleString('en')} more`}
      </span>
    </div>
  );
}

function KindMenu({ chosen }: { readonly chosen: readonly Kind[] }) {
  const { discovery, location } = useConsole();
  const chosenNames = new Set(chosen.map(kindName));
  const choose = (kind: Kind, isChosen: boolean): void => location.setQuery({ kinds: withKind(chosen, kind, isChosen) });
  return (
    <details class="kind-menu">
      <summary>
        {chosen.length} {chosen.length === 1 ? 'kind' : 'kinds'}
      </summary>
      <div>
        <p>
          <button type="button" class="small" onClick={() => location.setQuery({ kinds: undefined })}>
            Usual kinds
          </button>{' '}
          <button type="button" class="small" onClick={() => location.setQuery({ kinds: 'none' })}>
            None
          </button>
        </p>
        <ul>
          {watchableKinds(discovery.kinds.value).map((kind) => {
            const isChosen = chosenNames.has(kindName(kind));
            return (
              <li key={kindName(kind)}>
                <label>
                  <input
                    type="checkbox"
                    checked={isChosen}
                    disabled={!isChosen && chosen.length >= MAX_KINDS}
                    onChange={() => choose(kind, !isChosen)}
                  />{' '}
                  {visibleText(kindName(kind))}
                </label>
              </li>
            );
          })}
        </ul>
      </div>
    </details>
  );
}
