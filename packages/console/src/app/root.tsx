/** The login page or the shell, as the session has it. */
import type { Signal } from '@preact/signals';
import type { ApiError } from '../api/api-error.ts';
import { Progress } from '../parts/progress.tsx';
import { ToastList } from '../parts/toast-list.tsx';
import { useConsole } from './console.ts';
import { Lazy } from './lazy.tsx';
import { Shell } from './shell.tsx';

export function Root({ loginFailure }: { readonly loginFailure: Signal<ApiError | undefined> }) {
  const { session } = useConsole();
  const { phase } = session.state.value;
  return (
    <>
      {phase === 'unknown' && <Progress label="Connecting…" />}
      {phase === 'in' && <Shell />}
      {phase === 'leaving' && <Progress label="Logging out…" />}
      {phase === 'out' && <Lazy name="login" load={() => import('../pages/login/index.tsx')} props={{ failure: loginFailure }} />}
      <ToastList />
    </>
  );
}
