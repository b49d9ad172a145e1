import { useMemo } from 'preact/hooks';
import type { Kind } from '../../api/kinds.ts';
import { usualKinds } from '../../api/usual-kinds.ts';
import { useConsole } from '../../app/console.ts';
import { tableHref } from '../../app/routes.ts';
import { usePolled } from '../../app/use-polled.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { type KindCount, loadCount } from './counts.ts';

const PERIOD_MILLIS = 60_000;
const MAX_KINDS = 24;

export function Counts({ namespace }: { readonly namespace: string | undefined }) {
  const { api, discovery } = useConsole();
  const kinds = usualKinds(discovery.kinds.value, MAX_KINDS).filter(({ isNamespaced }) => isNamespaced || namespace === undefined);
  // What was denied is not asked for again: the server remembers the last refusals of a user, and shows them as theirs.
  const denied = useMemo(() => new Map<Kind, KindCount>(), [namespace, discovery.kinds.value]);
  const count = async (kind: Kind, signal: AbortSignal): Promise<KindCount> => {
    const answer = denied.get(kind) ?? (await loadCount(api, kind, namespace, signal));
    if (answer.isDenied) denied.set(kind, answer);
    return answer;
  };
  const counts = usePolled((signal) => Promise.all(kinds.map((kind) => count(kind, signal))), PERIOD_MILLIS, [
    namespace,
    discovery.kinds.value,
  ]);
  const shown: readonly KindCount[] =
    counts.phase === 'ready' ? counts.value : kinds.map((kind) => ({ kind, count: undefined, isDenied: false }));
  return (
    <ul class="counts" aria-label="Objects by kind">
      {shown.map((one) => (
        <Tile key={`${one.kind.group}/${one.kind.resource}`} {...one} namespace={namespace} />
      ))}
    </ul>
  );
}

function Tile({ kind, count, isDenied, namespace }: KindCount & { readonly namespace: string | undefined }) {
  return (
    <li>
      <a href={tableHref(kind, kind.isNamespaced ? namespace : undefined)} title={isDenied ? 'You may not list them' : undefined}>
        <strong class={isDenied ? 'denied' : undefined}>{isDenied ? 'no access' : (count?.toLocaleString('en') ?? '–')}</strong>{' '}
        <span>{visibleText(kind.resource)}</span>
      </a>
    </li>
  );
}
