import { useConsole } from '../../app/console.ts';
import { useLoaded } from '../../app/use.ts';
import { timeFactorOf } from './nodes.ts';

/** The factor is a flag of the server: the API has no way to change it. */
export function SpeedOfTime() {
  const { api } = useConsole();
  const factor = useLoaded(async (signal) => timeFactorOf(await api.text('/metrics', { accept: 'text/plain', signal })), [api]);
  return (
    <p class="quiet">
      {factor.phase === 'ready' && factor.value !== undefined && (
        <>
          <strong>{factor.value === 1 ? 'Time passes as usual.' : `Time passes ${factor.value} times as fast as usual.`}</strong>{' '}
        </>
      )}
      The speed of time is chosen when the server starts: <code>--time-factor 60</code> makes a minute of a second for objects, controllers
      and nodes.
    </p>
  );
}
