import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function Access() {
  useTitle('Access');
  return <EmptyState title="Access" />;
}
