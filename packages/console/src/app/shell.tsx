/** The frame of every page: the bar at the top, the list of kinds at the side, and the page that the URL names. */
import { useState } from 'preact/hooks';
import { EmptyState } from '../parts/empty-state.tsx';
import { useConsole } from './console.ts';
import { HelpDialog } from './help.tsx';
import { Lazy } from './lazy.tsx';
import { NamespacePicker } from './namespace-picker.tsx';
import { pageModules } from './page-modules.ts';
import { pageHref } from './routes.ts';
import { SearchDialog } from './search.tsx';
import { useShellKeys } from './shell-keys.ts';
import { SideList } from './side-list.tsx';

type OpenDialog = 'search' | 'help' | undefined;

export function Shell() {
  const [dialog, setDialog] = useState<OpenDialog>(undefined);
  const [isListOpen, setListOpen] = useState(false);
  useShellKeys({ search: () => setDialog('search'), help: () => setDialog('help') });
  const close = (): void => setDialog(undefined);
  return (
    <div class={isListOpen ? 'shell list-open' : 'shell'}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <TopBar onSearch={() => setDialog('search')} onHelp={() => setDialog('help')} onList={() => setListOpen(!isListOpen)} />
      <SideList onFollow={() => setListOpen(false)} />
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      {dialog === 'search' && <SearchDialog onClose={close} />}
      {dialog === 'help' && <HelpDialog onClose={close} />}
    </div>
  );
}

interface TopBarProps {
  readonly onSearch: () => void;
  readonly onHelp: () => void;
  readonly onList: () => void;
}
function TopBar({ onSearch, onHelp, onList }: TopBarProps) {
  return (
    <header class="top-bar">
      <button type="button" class="icon list-button" aria-label="Kinds" onClick={onList}>
        ☰
      </button>
      <a class="product" href={pageHref('overview')}>
        Console
      </a>
      <NamespacePicker />
      <button type="button" class="search-button" onClick={onSearch}>
        Search <kbd>/</kbd>
      </button>
      <span class="space" />
      <ConnectionState />
      <button type="button" class="icon" aria-label="Help" onClick={onHelp}>
        ?
      </button>
      <UserMenu />
    </header>
  );
}

/** Says when what is shown is no longer live. */
function ConnectionState() {
  const { watches } = useConsole();
  const isLost = watches.phase.value !== 'connected';
  return (
    <span class={isLost ? 'connection lost' : 'connection'} role="status">
      {isLost ? '○ not live' : '● live'}
    </span>
  );
}

function UserMenu() {
  const { session, toasts } = useConsole();
  const details = session.details;
  if (details === undefined) return null;
  const logOut = (): void => void session.logOut().catch((error: Error) => toasts.failed(error.message));
  return (
    <details class="menu">
      <summary>{details.user.name}</summary>
      <div>
        <p class="quiet">Groups: {details.user.groups.join(', ') || 'none'}</p>
        <p class="quiet">
          Server {details.server.version}, API {details.server.release}
        </p>
        <p class="quiet">The session ends at {new Date(details.expires).toLocaleTimeString()}.</p>
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </div>
    </details>
  );
}

function CurrentPage() {
  const { location } = useConsole();
  const route = location.route.value;
  if (route.page === 'unknown')
    return (
      <EmptyState title="There is no such page" isPage>
        <p>
          Look for a kind with <kbd>/</kbd>, or go to the <a href={pageHref('overview')}>overview</a>.
        </p>
      </EmptyState>
    );
  if (route.page === 'table') return <Lazy name="table" load={() => import('../pages/table/index.tsx')} props={{ route }} />;
  if (route.page === 'object') return <Lazy name="object" load={() => import('../pages/object/index.tsx')} props={{ route }} />;
  return <Lazy name={route.page} load={pageModules[route.page].load} props={{}} />;
}
