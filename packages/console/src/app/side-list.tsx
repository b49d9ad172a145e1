/** All kinds by their group, and the pages above them. */
import type { Kind } from '../api/kinds.ts';
import { ErrorBox } from '../parts/error-box.tsx';
import { Progress } from '../parts/progress.tsx';
import { useConsole } from './console.ts';
import { groupsOf, type KindGroup } from './kind-groups.ts';
import { pageModules } from './page-modules.ts';
import { pageHref, pageNames, type Route, tableHref } from './routes.ts';

export function SideList({ onFollow }: { readonly onFollow: () => void }) {
  const { location } = useConsole();
  const route = location.route.value;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links in it have the keys; a click on one closes the list on a phone.
    <nav class="side-list" aria-label="Pages and kinds" onClick={(event) => (event.target as Element).closest('a') && onFollow()}>
      <ul>
        {pageNames.map((page) => (
          <li key={page}>
            <a
              href={pageHref(page, page === 'nodes' ? undefined : route.namespace)}
              aria-current={route.page === page ? 'page' : undefined}
            >
              {pageModules[page].title}
            </a>
          </li>
        ))}
      </ul>
      <Kinds route={route} />
    </nav>
  );
}

function Kinds({ route }: { readonly route: Route }) {
  const { discovery } = useConsole();
  const state = discovery.state.value;
  if (state.phase === 'loading') return <Progress label="Reading the kinds…" />;
  if (state.phase === 'failed') return <ErrorBox error={state.error} onRetry={() => void discovery.load()} />;
  return (
    <>
      {groupsOf(discovery.kinds.value).map((group) => (
        <Group key={group.name} group={group} route={route} />
      ))}
      {state.missing.length > 0 && <p class="quiet">Not available: {state.missing.join(', ')}</p>}
    </>
  );
}

function Group({ group: { name, title, isOpen, kinds }, route }: { readonly group: KindGroup; readonly route: Route }) {
  const current = 'kind' in route ? route.kind : undefined;
  const isCurrent = (kind: Kind): boolean => current?.group === kind.group && current.resource === kind.resource;
  return (
    <details open={isOpen || current?.group === name}>
      <summary>{title}</summary>
      <ul>
        {kinds.map((kind) => (
          <li key={kind.resource}>
            <a href={tableHref(kind, kind.isNamespaced ? route.namespace : undefined)} aria-current={isCurrent(kind) ? 'page' : undefined}>
              {kind.kind}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
