/** Nodes with their pods; simulated ones can be made to fail. */

import { Collection } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import { Objects } from '../../api/objects.ts';
import { useConsole } from '../../app/console.ts';
import { useOpened, useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { toneOf } from '../../parts/tones.ts';
import { NodeCard } from './node-card.tsx';
import { compareNames, type NodeObject, podsByNode, simulationPrefix } from './nodes.ts';
import { SpeedOfTime } from './speed-of-time.tsx';
import './nodes.css';

/** More are in the table of nodes. */
const SHOWN = 200;

export default function Nodes() {
  const { discovery } = useConsole();
  useTitle('Nodes');
  const nodeKind = discovery.find({ group: '', version: 'v1', resource: 'nodes' });
  const podKind = discovery.find({ group: '', version: 'v1', resource: 'pods' });
  return (
    <div class="nodes-page">
      <h1>Nodes</h1>
      {nodeKind === undefined || podKind === undefined ? <Progress /> : <NodeList nodeKind={nodeKind} podKind={podKind} />}
    </div>
  );
}

function NodeList({ nodeKind, podKind }: { readonly nodeKind: Kind; readonly podKind: Kind }) {
  const { api, watches, clock } = useConsole();
  const nodes = useOpened(() => new Objects<NodeObject>({ api, watches, clock, kind: nodeKind }), [nodeKind]);
  const pods = useOpened(() => new Collection({ api, watches, clock, kind: podKind }), [podKind]);
  // Read so that the bars are drawn anew when pods change.
  pods.changes.value;
  if (nodes.error.value !== undefined) return <ErrorBox error={nodes.error.value} />;
  if (nodes.phase.value === 'listing' && nodes.items.value.size === 0) return <Progress />;
  const list = [...nodes.items.value.values()].sort(compareNames);
  if (list.length === 0)
    return (
      <EmptyState title="There are no nodes">
        <p>
          Start the server with <code>--workloads</code> to have simulated ones, or let agents of machines register theirs.
        </p>
      </EmptyState>
    );
  const counts = podsByNode(pods.rows.values(), pods.columns.value, toneOf);
  const isPodsDenied = pods.error.value?.code === 403;
  return (
    <>
      {list.some((node) => simulationPrefix(node) !== undefined) && <SpeedOfTime />}
      {isPodsDenied && <p class="quiet">You may not list pods of all namespaces, so that they are not counted here.</p>}
      <ul class="node-cards">
        {list.slice(0, SHOWN).map((node) => (
          <NodeCard
            key={node.metadata.uid}
            kind={nodeKind}
            node={node}
            pods={isPodsDenied ? undefined : (counts.get(node.metadata.name) ?? null)}
          />
        ))}
      </ul>
      {list.length > SHOWN && <p class="quiet">{list.length - SHOWN} more nodes are in the table of the kind Node.</p>}
    </>
  );
}
