/** The graph of a namespace: what belongs to what, live. */
import { Collection } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { SeveralKinds } from '../../api/several-kinds.ts';
import { useConsole } from '../../app/console.ts';
import { pageHref } from '../../app/routes.ts';
import { useOpened, useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { graphSets, MOST_OF_A_KIND } from './graph-kinds.ts';
import { GraphView } from './graph-view.tsx';
import './graph.css';

export default function GraphPage() {
  const { location, discovery } = useConsole();
  useTitle('Graph');
  const { namespace } = location.route.value;
  const kinds = discovery.kinds.value;
  if (namespace === undefined) return <ChooseNamespace kind={discovery.find({ group: '', version: 'v1', resource: 'namespaces' })} />;
  if (discovery.state.value.phase === 'loading') return <Progress />;
  return <NamespaceGraph key={namespace} namespace={namespace} kinds={kinds} />;
}

function NamespaceGraph({ namespace, kinds }: { readonly namespace: string; readonly kinds: readonly Kind[] }) {
  const { api, watches, clock } = useConsole();
  const objects = useOpened(() => new SeveralKinds({ api, watches, clock, namespace, sets: graphSets(kinds) }), [kinds, namespace]);
  const content = objects.content.value;
  if (content === undefined) return <Progress label="Reading what is in the namespace…" />;
  const unread = content.filter(({ isUnread }) => isUnread).map(({ kind }) => kind.kind);
  const truncated = content.filter(({ isTruncated }) => isTruncated).map(({ kind }) => kind.kind);
  if (content.every((one) => one.objects.length === 0))
    return (
      <EmptyState title={`Nothing to draw in ${visibleText(namespace)}`} isPage>
        {unread.length > 0 ? (
          <p>You may not list {unread.join(', ')} here.</p>
        ) : (
          <p>
            The graph shows workloads, pods, services, ingresses, claims and custom objects. Create a deployment, for example, and it
            appears here.
          </p>
        )}
      </EmptyState>
    );
  return (
    <GraphView content={content} namespace={namespace}>
      {unread.length > 0 && <p class="quiet">You may not list, or the server does not tell: {unread.join(', ')}.</p>}
      {truncated.length > 0 && (
        <p class="quiet">
          Only the first {MOST_OF_A_KIND.toLocaleString('en')} are shown of: {truncated.join(', ')}.
        </p>
      )}
    </GraphView>
  );
}

/** More are in the picker at the top. */
const SHOWN = 100;

function ChooseNamespace({ kind }: { readonly kind: Kind | undefined }) {
  return (
    <EmptyState title="Choose a namespace" isPage>
      <p>The graph shows one namespace: owners, services and their pods, ingresses, claims and volumes.</p>
      {kind !== undefined && <Namespaces kind={kind} />}
    </EmptyState>
  );
}

function Namespaces({ kind }: { readonly kind: Kind }) {
  const { api, watches, clock } = useConsole();
  const namespaces = useOpened(() => new Collection({ api, watches, clock, kind }), [kind]);
  // Read so that the list is shown anew when namespaces change.
  namespaces.changes.value;
  if (namespaces.error.value !== undefined) return <p>You may not list namespaces: type the name of yours at the top.</p>;
  return (
    <ul class="graph-namespaces">
      {[...namespaces.rows.keys()]
        .sort()
        .slice(0, SHOWN)
        .map((name) => (
          <li key={name}>
            <a href={pageHref('graph', name)}>{visibleText(name)}</a>
          </li>
        ))}
    </ul>
  );
}
