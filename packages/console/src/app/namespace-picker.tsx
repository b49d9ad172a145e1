/** Chooses the namespace of what is shown. Whoever may not list namespaces types one. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Collection } from '../api/collection.ts';
import { visibleText } from '../parts/visible-text.ts';
import { useConsole } from './console.ts';
import { pageHref, type Route, tableHref } from './routes.ts';

/** More are typed. */
const MAX_OPTIONS = 1000;

export function NamespacePicker() {
  const { location } = useConsole();
  const { namespace = '' } = location.route.value;
  const { names, isDenied } = useNamespaces();
  const choose = (name: string): void => location.navigate(inNamespace(location.route.peek(), name === '' ? undefined : name));
  if (isDenied || names.length > MAX_OPTIONS) {
    return (
      <input
        class="namespace"
        aria-label="Namespace"
        placeholder="All namespaces"
        value={namespace}
        onChange={(event) => choose(event.currentTarget.value.trim())}
      />
    );
  }
  const options = namespace === '' || names.includes(namespace) ? names : [namespace, ...names];
  return (
    <select class="namespace" aria-label="Namespace" value={namespace} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">All namespaces</option>
      {options.map((name) => (
        <option key={name} value={name}>
          {visibleText(name)}
        </option>
      ))}
    </select>
  );
}

/** The same page within another namespace; of an object, the table of its kind. */
function inNamespace(route: Route, namespace: string | undefined): string {
  if (route.page === 'table' || route.page === 'object') return tableHref(route.kind, namespace);
  return pageHref(route.page === 'unknown' ? 'overview' : route.page, namespace);
}

function useNamespaces(): { readonly names: readonly string[]; readonly isDenied: boolean } {
  const { api, watches, clock, discovery } = useConsole();
  const kind = discovery.find({ group: '', version: 'v1', resource: 'namespaces' });
  const collection = useMemo(() => (kind === undefined ? undefined : new Collection({ api, watches, clock, kind })), [kind?.version]);
  useEffect(() => () => collection?.close(), [collection]);
  // Read so that the component is shown anew when namespaces change.
  (collection?.changes ?? never).value;
  return { names: [...(collection?.rows.keys() ?? [])].sort(), isDenied: collection?.phase.value === 'failed' };
}
const never = signal(0);
