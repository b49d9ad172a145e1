import { useConsole } from '../../app/console.ts';
import { usePolled } from '../../app/use-polled.ts';
import { Badge } from '../../parts/badge.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { type Health, loadHealth } from './health.ts';

const PERIOD_MILLIS = 30_000;

export function HealthCard() {
  const { api } = useConsole();
  const health = usePolled(
    (signal) => Promise.all([loadHealth(api, '/livez', signal), loadHealth(api, '/readyz', signal)]),
    PERIOD_MILLIS,
    [api],
  );
  if (health.phase === 'loading') return null;
  if (health.phase === 'failed') return <Badge text="The server does not answer" tone="bad" />;
  const [live, ready] = health.value;
  return (
    <ul class="health" aria-label="Health">
      <Check name="Live" health={live} />
      <Check name="Ready" health={ready} />
    </ul>
  );
}

function Check({ name, health: { isGood, checks, failed } }: { readonly name: string; readonly health: Health }) {
  if (isGood === undefined) return <li class="quiet">{name}: you may not see it</li>;
  if (isGood) {
    return (
      <li title={checks === 0 ? undefined : `${checks} checks passed`}>
        <Badge text={name} tone="good" />
      </li>
    );
  }
  return (
    <li>
      <Badge text={`Not ${name.toLowerCase()}`} tone="bad" /> {failed.length > 0 && visibleText(`failed: ${failed.join(', ')}`)}
    </li>
  );
}
