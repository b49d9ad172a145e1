/** The keys that hold on every page. */
import { useConsole } from './console.ts';
import { pageHref, tableHref } from './routes.ts';
import { useKeys } from './use.ts';

export interface ShellActions {
  search(): void;
  help(): void;
}

export function useShellKeys({ search, help }: ShellActions): void {
  const { location } = useConsole();
  const namespace = (): string | undefined => location.route.peek().namespace;
  const core = (resource: string) => ({ group: '', version: 'v1', resource });
  const go = (href: string): void => location.navigate(href);
  useKeys(
    [
      { key: '/', label: 'Search kinds and objects', run: search },
      { key: '?', label: 'Show this help', run: help },
      { key: 'g o', label: 'Go to the overview', run: () => go(pageHref('overview', namespace())) },
      { key: 'g p', label: 'Go to pods', run: () => go(tableHref(core('pods'), namespace())) },
      {
        key: 'g d',
        label: 'Go to deployments',
        run: () => go(tableHref({ group: 'apps', version: 'v1', resource: 'deployments' }, namespace())),
      },
      { key: 'g s', label: 'Go to services', run: () => go(tableHref(core('services'), namespace())) },
      { key: 'g n', label: 'Go to nodes', run: () => go(pageHref('nodes')) },
      { key: 'g w', label: 'Go to what happens now', run: () => go(pageHref('now', namespace())) },
      { key: 'g a', label: 'Go to access', run: () => go(pageHref('access', namespace())) },
      { key: 'g g', label: 'Go to the graph', run: () => go(pageHref('graph', namespace())) },
      { key: 'Escape', label: 'Go back', run: () => window.history.back() },
    ],
    [],
  );
}
