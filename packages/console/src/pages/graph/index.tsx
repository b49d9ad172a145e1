import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function Graph() {
  useTitle('Graph');
  return <EmptyState title="Graph" />;
}
