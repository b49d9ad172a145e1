/** What to show for a kind that the server does not have, or not yet. */
import type { KindReference } from '../api/kinds.ts';
import { useConsole } from '../app/console.ts';
import { EmptyState } from './empty-state.tsx';
import { Progress } from './progress.tsx';
import { visibleText } from './visible-text.ts';

export function UnknownKind({ kind: { group, version, resource } }: { readonly kind: KindReference }) {
  const { discovery } = useConsole();
  if (discovery.state.value.phase === 'loading') return <Progress />;
  return (
    <EmptyState title={`The server has no kind ${visibleText(resource)}`} isPage>
      <p>
        It was looked for in version {version} of {group === '' ? 'the core group' : `the group ${visibleText(group)}`}. Its definition may
        be gone, or its server may be down.
      </p>
      <button type="button" onClick={() => void discovery.load()}>
        Read the kinds again
      </button>
    </EmptyState>
  );
}
