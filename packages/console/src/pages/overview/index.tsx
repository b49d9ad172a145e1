import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function Overview() {
  useTitle('Overview');
  return <EmptyState title="Overview" />;
}
