/** A terminal in a container of the pod. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { API_BASE, withQuery } from '../../api/api.ts';
import { ApiError, asApiError } from '../../api/api-error.ts';
import { objectPath } from '../../api/kinds.ts';
import { containersOf, defaultContainer } from '../../api/pod-containers.ts';
import { useConsole } from '../../app/console.ts';
import { useLiveObject } from '../../app/live-object.ts';
import type { ObjectTabProps } from '../../app/object-tab.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ExecSession, type ExecSocket, type SessionPhase } from './exec-session.ts';
import { Screen } from './screen.ts';
import './terminal.css';

const USUAL_COMMAND = 'sh';

export default function TerminalTab({ object }: ObjectTabProps) {
  const { location } = useConsole();
  const live = useLiveObject();
  const { query } = location.route.value;
  const running = containersOf(live.value).filter(({ isRunning }) => isRunning);
  const named = query.get('container') ?? defaultContainer(live.value);
  const command = query.get('command') || USUAL_COMMAND;
  const container = running.find(({ name }) => name === named)?.name ?? running[0]?.name;
  // One that has ended stays on the page with what it wrote.
  const [shown, setShown] = useState(container);
  if (container !== undefined && container !== shown && (shown === undefined || named === container)) setShown(container);
  if (shown === undefined)
    return (
      <EmptyState title="No container of this pod runs">
        <p>A terminal opens here as soon as one does. The logs and events of the pod say why none does.</p>
      </EmptyState>
    );
  return (
    <div class="terminal-tab">
      <form
        class="tool-line"
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('command') as HTMLInputElement;
          location.setQuery({ command: field.value.trim() === USUAL_COMMAND ? undefined : field.value.trim() });
        }}
      >
        {running.length > 1 && (
          <select aria-label="Container" value={shown} onChange={(event) => location.setQuery({ container: event.currentTarget.value })}>
            {running.map(({ name }) => (
              <option key={name} value={name}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        )}
        <label>
          Command <input name="command" class="command" spellcheck={false} autocomplete="off" defaultValue={command} />
        </label>
        <button type="submit">Run</button>
      </form>
      <ContainerTerminal key={`${shown} ${command}`} path={objectPath(object, 'exec')} container={shown} command={command} />
    </div>
  );
}

interface ContainerTerminalProps {
  readonly path: string;
  readonly container: string;
  readonly command: string;
}
function ContainerTerminal({ path, container, command }: ContainerTerminalProps) {
  const place = useRef<HTMLElement>(null);
  const again = useRef<HTMLButtonElement>(null);
  const [screen, setScreen] = useState<Screen | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  const current = useRef<ExecSession | undefined>(undefined);
  useEffect(() => {
    const opened = new Screen(place.current as HTMLElement, {
      onInput: (text) => current.current?.write(text),
      onResize: (columns, rows) => current.current?.resize(columns, rows),
      onLeave: () => again.current?.focus(),
    });
    setScreen(opened);
    return () => opened.close();
  }, []);
  const session = useSession(screen, path, container, command, attempt);
  current.current = session;
  const state = session?.state.value;
  useEffect(() => {
    if (state?.phase !== 'open' || screen === undefined) return;
    session?.resize(screen.size.columns, screen.size.rows);
    screen.focus();
  }, [state?.phase, session, screen]);
  return (
    <>
      {state?.phase === 'failed' && <ErrorBox error={state.error} />}
      <section class="screen" ref={place} data-own-keys aria-label={`Terminal in ${visibleText(container)}`} />
      <p class="tool-line">
        <button ref={again} type="button" onClick={() => setAttempt(attempt + 1)}>
          {state?.phase === 'open' ? 'Start again' : 'Connect'}
        </button>
        <SessionState state={state} />
        <span class="quiet">
          <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>E</kbd> leaves the terminal.
        </span>
      </p>
    </>
  );
}

function SessionState({ state }: { readonly state: SessionPhase | undefined }) {
  if (state === undefined || state.phase === 'connecting') return <Progress label="Connecting…" />;
  if (state.phase === 'failed') return <span role="status">○ not connected</span>;
  if (state.phase !== 'ended') return <span role="status">● connected</span>;
  const code = state.exitCode === undefined ? '' : ` with exit code ${state.exitCode}`;
  return (
    <span role="status">
      ○ The command has ended{code}. {visibleText(state.message)}
    </span>
  );
}

/** A session for each attempt, once there is a screen to show it. */
function useSession(
  screen: Screen | undefined,
  path: string,
  container: string,
  command: string,
  attempt: number,
): ExecSession | undefined {
  const { api } = useConsole();
  const session = useMemo(() => {
    if (screen === undefined) return undefined;
    screen.reset();
    const target = withQuery(path, { container, stdin: true, stdout: true, tty: true });
    const words = command.split(/\s+/).map((word) => `&command=${encodeURIComponent(word)}`);
    const url = `${target}${words.join('')}`;
    return new ExecSession({
      connect: (protocols) => new WebSocket(`${API_BASE}${url}`, [...protocols]) as ExecSocket,
      onOutput: (bytes, shown) => screen.write(bytes, shown),
      explain: () => refusalOf(api.fetch(url)),
    });
  }, [screen, path, container, command, attempt]);
  useEffect(() => () => session?.close(), [session]);
  return session;
}

/** The same request without a WebSocket is refused for the same reason; 400 says only that it is none. */
async function refusalOf(answer: Promise<unknown>): Promise<ApiError> {
  try {
    await answer;
  } catch (failure) {
    const error = asApiError(failure);
    if (error.code !== 400) return error;
  }
  return new ApiError({ message: 'The server did not accept the connection. The container may not run any more, or lacks the command.' });
}
