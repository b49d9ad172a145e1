/** Output formats of whole objects: YAML, JSON, names, templates and custom columns. */
import type { ApiResource } from '../client/discovery.ts';
import { FlagError, readChoice } from '../lib/flags.ts';
import { type JsonPath, JsonPathError, jsonPath } from '../meta/json-path.ts';
import { jsonPathTemplate } from './json-path-template.ts';
import { type ApiItem, ObjectPrinter } from './print-objects.ts';
import { TablePrinter } from './print-table.ts';
import { shownName } from './work.ts';

export interface Printed {
  readonly item: ApiItem;
  readonly resource: ApiResource;
}
export interface FormPrinter {
  /** A named object, or one that changed. */
  one(printed: Printed): Promise<string>;
  list(printed: readonly Printed[]): Promise<string>;
}

const plainForms = ['table', 'wide', 'yaml', 'json', 'name'] as const;
const templates = ['jsonpath=', 'custom-columns='] as const;

/** Parses the value of `-o`. Throws an Error for an unknown format. */
export function readForm(value: string): string {
  if (value.startsWith('jsonpath=')) jsonPathTemplate(value.slice('jsonpath='.length));
  else if (value.startsWith('custom-columns=')) readColumns(value.slice('custom-columns='.length));
  else readChoice(value, [...plainForms, ...templates.map((t) => `${t}…`)]);
  return value;
}
export const formNames = [...plainForms, ...templates.map((t) => `${t}…`)].join('|');

export function formPrinter(form: string, options: { readonly showManagedFields: boolean; readonly headers: boolean }): FormPrinter {
  if (form === 'name') {
    const name = ({ item, resource }: Printed): string => `${shownName(resource, item.metadata?.name ?? '')}\n`;
    return { one: async (printed) => name(printed), list: async (all) => all.map(name).join('') };
  }
  const template = /^jsonpath=(.*)$/s.exec(form)?.[1];
  if (template !== undefined) {
    const print = jsonPathTemplate(template);
    return {
      one: async ({ item }) => print(item),
      list: async (all) => print({ apiVersion: 'v1', kind: 'List', items: all.map(({ item }) => item) }),
    };
  }
  const columns = /^custom-columns=(.*)$/s.exec(form)?.[1];
  if (columns !== undefined) return columnPrinter(readColumns(columns), options.headers);
  const objects = new ObjectPrinter(form as 'yaml' | 'json', options.showManagedFields);
  return { one: ({ item }) => objects.one(item), list: (all) => objects.list(all.map(({ item }) => item)) };
}

// ---- columns ---------------------------------------------------------------------------------------------------

interface Column {
  readonly name: string;
  readonly follow: JsonPath;
}

/** `NAME:.metadata.name,IMAGE:.spec.containers[*].image`. Throws FlagError. */
export function readColumns(text: string): Column[] {
  // A comma within brackets belongs to the path.
  const parts = text.match(/(?:\[[^\]]*\]|[^,[])+/g) ?? [];
  if (parts.length === 0) throw new FlagError('custom-columns needs columns, such as custom-columns=NAME:.metadata.name');
  return parts.map((part) => {
    const at = part.indexOf(':');
    if (at <= 0 || at === part.length - 1) throw new FlagError(`custom-columns: ${JSON.stringify(part)} is not of the form HEADER:.path`);
    const path = part.slice(at + 1).replace(/^\{(.*)\}$/s, '$1');
    try {
      return { name: part.slice(0, at), follow: jsonPath(/^[.[$@]/.test(path) ? path : `.${path}`) };
    } catch (error) {
      if (error instanceof JsonPathError) throw new FlagError(`custom-columns: ${error.message}`);
      throw error;
    }
  });
}

function columnPrinter(columns: readonly Column[], headers: boolean): FormPrinter {
  const printer = new TablePrinter({ wide: false, headers, namespaces: false, labels: false, prefix: '' });
  const cell = (values: readonly unknown[]): unknown =>
    values.length > 1 ? values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(',') : values[0];
  const print = (all: readonly Printed[]): string =>
    printer.print(
      columns,
      all.map(({ item }) => ({ cells: columns.map(({ follow }) => cell(follow(item))) })),
    );
  return { one: async (printed) => print([printed]), list: async (all) => print(all) };
}
