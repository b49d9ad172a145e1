import type { Collection } from '../../api/collection.ts';
import type { Kind } from '../../api/kinds.ts';
import type { Order } from './arrange.ts';
import type { Selection } from './selection.ts';
import type { TableView } from './table-view.ts';

/** What is shown of a kind, and how. */
export interface TableProps {
  readonly kind: Kind;
  readonly isWide: boolean;
  readonly hasNamespace: boolean;
  readonly filter: string;
  readonly order: Order;
  /** Whether a filter or a selector hides rows. */
  readonly isNarrowed: boolean;
  readonly collection: Collection;
  readonly view: TableView;
  readonly selection: Selection;
}
