import type { TableRoute } from '../../app/routes.ts';
import { useTitle } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

export default function TablePage({ route }: { readonly route: TableRoute }) {
  useTitle(route.kind.resource);
  return <EmptyState title={route.kind.resource} />;
}
