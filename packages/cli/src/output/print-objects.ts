/** Whole objects as YAML or JSON. */

import type { JsonValue } from '@plat-dev/schema/types';
import { goJson } from './go-json.ts';

export interface ApiItem {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly managedFields?: unknown;
  };
  readonly items?: readonly ApiItem[];
}

/** An object as it is shown: without managedFields, unless these are wanted. */
function shownItem(item: ApiItem, showManagedFields: boolean): ApiItem {
  if (showManagedFields || item.metadata?.managedFields === undefined) return item;
  const { managedFields: _, ...metadata } = item.metadata;
  return { ...item, metadata };
}
/** Objects of several kinds have no list of their own; this one is the client's. */
export function clientList(items: readonly ApiItem[], metadata: ApiItem['metadata'] = { resourceVersion: '' }): ApiItem {
  return { apiVersion: 'v1', items, kind: 'List', metadata };
}

/** A list in pieces: `items` as often as there are some, then `end`. */
export interface ListPieces {
  items(items: readonly ApiItem[]): Promise<string>;
  end(): Promise<string>;
}

/** Keys are in order, as kubectl has them. */
export class ObjectPrinter {
  private readonly form: 'yaml' | 'json' | 'name';
  private readonly showManagedFields: boolean;
  private printed = 0;

  constructor(form: 'yaml' | 'json' | 'name', showManagedFields: boolean) {
    this.form = form;
    this.showManagedFields = showManagedFields;
  }
  async one(item: ApiItem): Promise<string> {
    return this.text(shownItem(item, this.showManagedFields));
  }
  async list(items: readonly ApiItem[], metadata?: ApiItem['metadata']): Promise<string> {
    return this.text(
      clientList(
        items.map((item) => shownItem(item, this.showManagedFields)),
        metadata,
      ),
    );
  }
  /** The text of `list` in pieces, for lists that are printed while they are read. */
  listInPieces(): ListPieces {
    // What stands around the items is that of an empty list.
    let around: Promise<string[]> | undefined;
    const empty = (): Promise<string[]> => (around ??= this.list([]).then((text) => text.split('[]')));
    let isStarted = false;
    return {
      items: async (some) => {
        if (some.length === 0) return '';
        const [head = ''] = await empty();
        const texts = await Promise.all(some.map((item) => this.itemText(shownItem(item, this.showManagedFields))));
        const start = this.form === 'json' ? `${head}[\n` : `${head.trimEnd()}\n`;
        const text = `${isStarted ? this.between : start}${texts.join(this.between)}`;
        isStarted = true;
        return text;
      },
      end: async () => {
        const [head = '', tail = ''] = await empty();
        if (!isStarted) return `${head}[]${tail}`;
        return this.form === 'json' ? `\n    ]${tail}` : tail.slice(1);
      },
    };
  }
  /** What separates the items of a list. */
  private get between(): string {
    return this.form === 'json' ? ',\n' : '';
  }
  /** An item as it stands in a list. */
  private async itemText(item: ApiItem): Promise<string> {
    if (this.form === 'json') return `        ${goJson(item, 4).replaceAll('\n', '\n        ')}`;
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    return stringifyYaml([item as JsonValue]);
  }
  /** A change of a watch; of JSON one line each. */
  async event(type: string, item: ApiItem): Promise<string> {
    const event = { type, object: shownItem(item, this.showManagedFields) };
    return this.form === 'json' ? `{"type":${JSON.stringify(type)},"object":${goJson(event.object)}}\n` : this.text(event);
  }
  private async text(value: unknown): Promise<string> {
    if (this.form === 'json') return `${goJson(value, 4)}\n`;
    const separator = this.printed++ > 0 ? '---\n' : '';
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    return `${separator}${stringifyYaml(value as JsonValue)}`;
  }
}
