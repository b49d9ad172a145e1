import type { JsonObject } from '@plat-dev/schema/types';
import type { Resource } from '../registry/catalog.ts';
import type { ListOptions } from '../registry/list.ts';
import type { Selection } from '../registry/select.ts';

export interface ReadOptions extends ListOptions {
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  /** Of a watch: whether it begins with the objects that exist; absent: as its version says. */
  readonly initialEvents: boolean | undefined;
}

/** The options and the selection of a list, once they were read. */
export interface NotedList {
  readonly resource: Resource;
  readonly options: ReadOptions;
  readonly selection: Selection;
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: string;
  readonly force: boolean | undefined;
  /** As admission sees them. */
  readonly json: JsonObject;
}

/** The options of a route, once they were read. */
export interface NotedOptions {
  readonly kind: OptionsKind;
  readonly apply: boolean;
  readonly options: WriteOptions;
}

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';
