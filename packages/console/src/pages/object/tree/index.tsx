import type { ObjectTabProps } from '../../../app/object-tab.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';

export default function Tree({ object }: ObjectTabProps) {
  return <EmptyState title={object.name} />;
}
