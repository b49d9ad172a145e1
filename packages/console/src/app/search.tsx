/** Finds kinds and objects by parts of their names. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { visibleText } from '../parts/visible-text.ts';
import { useConsole } from './console.ts';
import { SearchIndex, type SearchResult } from './search-index.ts';

export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, discovery, location } = useConsole();
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const index = useMemo(() => new SearchIndex(api, discovery.kinds.peek(), location.route.peek().namespace), []);
  useEffect(() => () => index.close(), [index]);
  // Read so that results are shown as they come.
  index.changes.value;
  const results = index.find(text);
  const follow = ({ href }: SearchResult): void => {
    onClose();
    location.navigate(href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key as 'ArrowDown' | 'ArrowUp'];
    if (step !== undefined) setSelected(Math.max(0, Math.min(results.length - 1, selected + step)));
    else if (event.key !== 'Enter') return;
    else if (results[selected] !== undefined) follow(results[selected]);
    event.preventDefault();
  };
  return (
    <Dialog title="Search" class="search" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search kinds and objects"
        aria-expanded={results.length > 0}
        aria-controls="search-results"
        aria-activedescendant={results.length > 0 ? `result-${selected}` : undefined}
        placeholder="A kind or the name of an object"
        value={text}
        onInput={(event) => {
          // Names of objects are read when the first letter asks for them.
          if (text === '' && !index.isLoading.peek()) void index.load();
          setText(event.currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Results results={results} selected={selected} onFollow={follow} />
      <p class="quiet" role="status">
        {index.isLoading.value ? 'Reading the names of objects…' : results.length === 0 && text !== '' ? 'Nothing has such a name.' : ''}
      </p>
    </Dialog>
  );
}

interface ResultsProps {
  readonly results: readonly SearchResult[];
  readonly selected: number;
  readonly onFollow: (result: SearchResult) => void;
}
function Results({ results, selected, onFollow }: ResultsProps) {
  return (
    <div id="search-results" class="results" role="listbox" aria-label="Results" tabIndex={-1}>
      {results.map((result, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
        <div
          key={result.href}
          id={`result-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === selected}
          onClick={() => onFollow(result)}
        >
          <span>{visibleText(result.title)}</span> <span class="quiet">{visibleText(result.place)}</span>
        </div>
      ))}
    </div>
  );
}
