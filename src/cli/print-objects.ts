/** Whole objects as YAML or JSON. */
import type { JsonValue } from '../schema/types.ts';

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

export class ObjectPrinter {
  private readonly form: 'yaml' | 'json' | 'name';
  private readonly showManagedFields: boolean;
  private printed = 0;

  constructor(form: 'yaml' | 'json' | 'name', showManagedFields: boolean) {
    this.form = form;
    this.showManagedFields = showManagedFields;
  }
  async one(item: ApiItem): Promise<string> {
    return this.text(this.tidy(item));
  }
  /** Objects of several kinds have no list of their own; this one is the client's. */
  async list(items: readonly ApiItem[]): Promise<string> {
    return this.text({ apiVersion: 'v1', items: items.map((item) => this.tidy(item)), kind: 'List', metadata: { resourceVersion: '' } });
  }
  private tidy(item: ApiItem): ApiItem {
    if (this.showManagedFields || item.metadata?.managedFields === undefined) return item;
    const { managedFields: _, ...metadata } = item.metadata;
    return { ...item, metadata };
  }
  private async text(value: unknown): Promise<string> {
    if (this.form === 'json') return `${JSON.stringify(value, undefined, 4)}\n`;
    const separator = this.printed++ > 0 ? '---\n' : '';
    const { stringifyYaml } = await import('../schema/yaml.ts');
    return `${separator}${stringifyYaml(value as JsonValue)}`;
  }
}
