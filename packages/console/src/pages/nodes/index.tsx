import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function Nodes() {
  useTitle('Nodes');
  return <EmptyState title="Nodes" />;
}
