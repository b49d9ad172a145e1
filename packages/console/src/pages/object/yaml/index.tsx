/** The object as YAML, to read and to edit. */
import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../../../app/console.ts';
import { type LiveObject, useLiveObject } from '../../../app/live-object.ts';
import { useLoaded } from '../../../app/use.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorBox } from '../../../parts/error-box.tsx';
import { Progress } from '../../../parts/progress.tsx';
import { EditSession, readText } from './edit-session.ts';
import { YamlEditor } from './yaml-editor.tsx';
import './yaml.css';

/** What is written stays while other tabs are looked at. */
const sessions = new WeakMap<LiveObject, EditSession>();

export default function YamlTab() {
  const live = useLiveObject();
  const { group, resource } = live.reference.kind;
  const [isShown, setShown] = useState(sessions.has(live) || group !== '' || resource !== 'secrets');
  if (isShown) return <LoadedEditor live={live} />;
  return (
    <EmptyState title="The values of this secret are hidden">
      <p>Its YAML has them in Base64, where anybody who sees your screen can read them.</p>
      <button type="button" onClick={() => setShown(true)}>
        Show the YAML with its values
      </button>
    </EmptyState>
  );
}

function LoadedEditor({ live }: { readonly live: LiveObject }) {
  const { api } = useConsole();
  const session = useLoaded(
    async (signal) => {
      const open = sessions.get(live) ?? new EditSession(api, live.reference, await readText(api, live.reference, signal));
      sessions.set(live, open);
      return open;
    },
    [live],
  );
  useUnsavedWarning(session.phase === 'ready' && session.value.isDirty.value);
  if (session.phase === 'loading') return <Progress />;
  if (session.phase === 'failed') return <ErrorBox error={session.error} />;
  return <YamlEditor live={live} session={session.value} />;
}

/** The browser asks before it leaves a page with changes that are not saved. */
function useUnsavedWarning(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined;
    const warn = (event: Event): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isDirty]);
}
