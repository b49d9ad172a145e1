import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function Now() {
  useTitle('Now');
  return <EmptyState title="Now" />;
}
