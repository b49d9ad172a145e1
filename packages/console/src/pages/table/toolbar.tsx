/** The head of a table: how many rows there are, what narrows them down, and what can be done with the selected ones. */
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Collection, Row } from '../../api/collection.ts';
import { type Kind, kindKey } from '../../api/kinds.ts';
import { useConsole } from '../../app/console.ts';
import { objectHref, pageHref } from '../../app/routes.ts';
import { useKeys } from '../../app/use.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import type { Selection } from './selection.ts';
import type { TableView } from './table-view.ts';

export interface ToolbarProps {
  readonly kind: Kind;
  readonly query: URLSearchParams;
  readonly collection: Collection;
  readonly view: TableView;
  readonly selection: Selection;
  readonly filterField: RefObject<HTMLInputElement | null>;
}

export function Toolbar({ kind, query, collection, view, selection, filterField }: ToolbarProps) {
  const { location } = useConsole();
  const [doomed, setDoomed] = useState<readonly Row[]>([]);
  const askToDelete = (): void => setDoomed(selection.targets(view.rows.peek()));
  const open = (tab: string | undefined): void => {
    const [row] = selection.targets(view.rows.peek());
    if (row !== undefined) location.navigate(objectHref(kind, row.namespace, row.name, { tab }));
  };
  const newHref = pageHref('create', kind.isNamespaced ? location.route.value.namespace : undefined, { kind: kindKey(kind) });
  const hasLogs = kind.subresources.includes('log');
  useKeys(
    [
      { key: 'f', label: 'Filter the table', run: () => filterField.current?.focus() },
      { key: 'c', label: 'Create an object', run: () => location.navigate(newHref) },
      { key: 'd', label: 'Delete the selected objects', run: askToDelete },
      { key: 'e', label: 'Edit the object', run: () => open('yaml') },
      { key: 'y', label: 'Show the YAML of the object', run: () => open('yaml') },
      ...(hasLogs ? [{ key: 'l', label: 'Show the logs of the pod', run: () => open('logs') }] : []),
    ],
    [newHref],
  );
  const selected = selection.keys.value.size;
  const canDelete = kind.verbs.includes('delete');
  return (
    <header class="toolbar">
      <h1>{kind.kind}</h1>
      <Count collection={collection} view={view} />
      <input
        ref={filterField}
        type="search"
        aria-label="Filter"
        placeholder="Filter"
        value={query.get('q') ?? ''}
        onInput={(event) => location.setQuery({ q: event.currentTarget.value })}
      />
      <SelectorField label="Labels" name="labels" placeholder="app=web,tier!=cache" query={query} />
      <SelectorField label="Fields" name="fields" placeholder="metadata.name=web" query={query} />
      <label class="wide">
        <input
          type="checkbox"
          checked={query.get('wide') === 'true'}
          onChange={(event) => location.setQuery({ wide: event.currentTarget.checked ? 'true' : undefined })}
        />
        All columns
      </label>
      {kind.verbs.includes('create') && (
        <a class="button" href={newHref}>
          Create
        </a>
      )}
      {selected > 0 && canDelete && (
        <button type="button" class="danger" onClick={askToDelete}>
          Delete {selected.toLocaleString('en')}…
        </button>
      )}
      {doomed.length > 0 && (
        <DeleteDialog
          kind={kind}
          rows={doomed}
          onClose={(isDone) => {
            setDoomed([]);
            if (isDone) selection.clear();
          }}
        />
      )}
    </header>
  );
}

interface SelectorFieldProps {
  readonly label: string;
  /** The parameter of the URL that has it. */
  readonly name: string;
  readonly placeholder: string;
  readonly query: URLSearchParams;
}
/** A selector is sent when it is complete: with Enter, or when the field is left. */
function SelectorField({ label, name, placeholder, query }: SelectorFieldProps) {
  const { location } = useConsole();
  return (
    <input
      class="selector"
      aria-label={`${label}, as a selector`}
      placeholder={`${label}: ${placeholder}`}
      spellcheck={false}
      value={query.get(name) ?? ''}
      onChange={(event) => location.setQuery({ [name]: event.currentTarget.value.trim() })}
    />
  );
}

function Count({ collection, view }: { readonly collection: Collection; readonly view: TableView }) {
  // Read so that the count follows the rows.
  collection.changes.value;
  const loaded = collection.rows.size;
  const shown = view.rows.value.length;
  const remaining = collection.remaining.value;
  const total = loaded.toLocaleString('en');
  if (collection.phase.value === 'listing' && loaded > 0) {
    const whole = remaining === undefined ? '' : ` of ${(loaded + remaining).toLocaleString('en')}`;
    return (
      <p class="quiet" role="status">
        {total}
        {whole} loaded…
      </p>
    );
  }
  return (
    <p class="quiet" role="status">
      {shown === loaded ? total : `${shown.toLocaleString('en')} of ${total}`}
      {collection.isTruncated.value && ' (more are not shown: choose a namespace or a selector)'}
    </p>
  );
}
