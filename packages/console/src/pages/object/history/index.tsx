import type { ObjectTabProps } from '../../../app/object-tab.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';

export default function History({ object }: ObjectTabProps) {
  return <EmptyState title={object.name} />;
}
