import type { ObjectTabProps } from '../../../app/object-tab.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';

export default function FieldOwners({ object }: ObjectTabProps) {
  return <EmptyState title={object.name} />;
}
