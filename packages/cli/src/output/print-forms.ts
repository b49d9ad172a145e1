/** Output formats of whole objects: YAML, JSON, names, templates and custom columns. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ApiResource } from '@plat-dev/client/discovery';
import { bytesOf, hasBytes } from '@plat-dev/lib/byte-text';
import { FlagError, readChoice } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { type JsonPath, JsonPathError, jsonPath } from '@plat-dev/meta/json-path';
import type { IO } from '../command.ts';
import { goTemplate, goText, TemplateError } from '../go-template/index.ts';
import { isStock, withStockText } from '../program.ts';
import { jsonPathTemplate } from './json-path-template.ts';
import { type ApiItem, clientList, ObjectPrinter } from './print-objects.ts';
import { TablePrinter } from './print-table.ts';
import { screenText } from './screen-text.ts';

export interface Printed {
  readonly item: ApiItem;
  /** The resource, for items that do not name their kind. */
  readonly resource?: Pick<ApiResource, 'group' | 'kind'>;
}
export interface FormPrinter {
  /** A named object, or one that changed. */
  one(printed: Printed): Promise<string>;
  /** `metadata`: that of the list. */
  list(printed: readonly Printed[], metadata?: ApiItem['metadata']): Promise<string>;
  /** The text of `list` in pieces; missing where a list needs all objects at once. */
  listInPieces?(): FormPieces;
  /** A change of a watch with its type: ADDED, MODIFIED or DELETED. */
  event(type: string, printed: Printed): Promise<string>;
}

/** As ListPieces, of objects with their resources. */
interface FormPieces {
  items(printed: readonly Printed[]): Promise<string>;
  end(): Promise<string>;
}

const objectForms = ['json', 'yaml', 'name'] as const;
/** Formats with a template: `NAME=TEMPLATE`, or NAME and `--template`. `template` and `templatefile` are older names. */
const templateForms = [
  'go-template',
  'go-template-file',
  'template',
  'templatefile',
  'jsonpath',
  'jsonpath-as-json',
  'jsonpath-file',
  'custom-columns',
  'custom-columns-file',
] as const;
type TemplateForm = (typeof templateForms)[number];

const namesOf = (plain: readonly string[]): string[] => [...plain, ...templateForms.map((form) => `${form}=…`)];
/** Formats of `get`, and of commands that print what they changed. */
export const formNames = namesOf([...objectForms, 'wide']).join('|');
export const resultFormNames = namesOf(objectForms).join('|');

/** Parses the value of `-o` of `get`. Throws an Error for an unknown format. */
export const readForm = (value: string): string => readFormOf(value, [...objectForms, 'wide', 'table']);
/** The same for commands that print what they changed: an invalid template is refused before anything is changed. */
export const readResultForm = (value: string): string => readFormOf(value, objectForms);

function readFormOf(value: string, plain: readonly string[]): string {
  const lower = value.toLowerCase();
  if (plain.includes(lower)) return lower;
  const template = templateOf(value);
  if (template !== undefined) {
    if (template.argument !== '') checkTemplate(template.form, template.argument);
    return value;
  }
  const formNames = plain.filter((form) => form !== 'table');
  try {
    return readChoice(value, namesOf(formNames));
  } catch (error) {
    throw withStockText(error as Error, unknownForm(value, formNames));
  }
}
/** The line of the stock client about a format that it does not have. */
function unknownForm(value: string, formNames: readonly string[]): string {
  const templates = templateForms.filter((form) => formNames.includes('wide') || !form.startsWith('custom-columns'));
  const names = [...formNames, ...templates].sort().join();
  return `error: unable to match a printer suitable for the output format ${JSON.stringify(value)}, allowed formats are: ${names}`;
}
function templateOf(value: string): { form: TemplateForm; argument: string } | undefined {
  const at = value.indexOf('=');
  const form = templateForms.find((name) => name === (at < 0 ? value : value.slice(0, at)));
  return form === undefined ? undefined : { form, argument: at < 0 ? '' : value.slice(at + 1) };
}
function checkTemplate(form: TemplateForm, argument: string): void {
  if (form === 'go-template' || form === 'template') compiled(argument, true);
  else if (form === 'jsonpath' || form === 'jsonpath-as-json') jsonPathTemplate(argument);
  else if (form === 'custom-columns') readColumns(argument);
}
function compiled(template: string, allowMissingKeys: boolean): (value: unknown) => string {
  try {
    return goTemplate(template, { allowMissingKeys });
  } catch (error) {
    if (error instanceof TemplateError) throw new FlagError(`go-template: ${error.message}`);
    throw error;
  }
}

export interface FormOptions {
  /** As `readForm` returns it; empty with a template means go-template. */
  readonly output: string;
  readonly template?: string;
  readonly allowMissingTemplateKeys?: boolean;
  readonly showManagedFields: boolean;
  readonly noHeaders?: boolean;
}

/** Whether the flags choose a format; otherwise the command prints a table or a message. */
export function choosesForm({ output, template = '' }: FormOptions): boolean {
  if (output === 'wide') return false;
  return template !== '' || (output !== '' && output !== 'table');
}

/** The printer of a format. Throws FlagError for a template that is missing, invalid or cannot be read. */
export function formPrinter(options: FormOptions, io: Pick<IO, 'program' | 'cwd' | 'out'>): FormPrinter {
  const { output, showManagedFields } = options;
  if (output === 'name') return namePrinter;
  if (output === 'json' || output === 'yaml') {
    const objects = new ObjectPrinter(output, showManagedFields);
    return {
      one: ({ item }) => objects.one(item),
      list: (all, metadata) =>
        objects.list(
          all.map(({ item }) => item),
          metadata,
        ),
      listInPieces() {
        const pieces = objects.listInPieces();
        return { items: (some) => pieces.items(some.map(({ item }) => item)), end: () => pieces.end() };
      },
      event: (type, { item }) => objects.event(type, item),
    };
  }
  const { form, argument } = templateOf(output) ?? { form: 'go-template', argument: '' };
  const template = options.template || argument;
  if (template === '') throw new FlagError(`-o ${form} needs a template: -o ${form}=TEMPLATE, or --template`);
  const text = /-?file$/.test(form) ? readTemplate(template, io.cwd) : template;
  if (form.startsWith('custom-columns')) {
    const columns = form === 'custom-columns' ? readColumns(text) : readColumnsFile(text);
    return columnPrinter(columns, options.noHeaders !== true);
  }
  const allowMissingKeys = options.allowMissingTemplateKeys ?? true;
  const relaxed = !isStock(io);
  const print = form.startsWith('jsonpath')
    ? jsonPathTemplate(text, { relaxed, allowMissingKeys, asJson: form === 'jsonpath-as-json' })
    : run(compiled(text, allowMissingKeys), (error, value) => debugTemplate(error, text, value, io));
  return {
    // Templates see managedFields, too, as those of kubectl do.
    one: async ({ item }) => print(item),
    list: async (all, metadata) =>
      print(
        clientList(
          all.map(({ item }) => item),
          metadata,
        ),
      ),
    event: async (type, { item }) => print({ type, object: item }),
  };
}
const run =
  (template: (value: unknown) => string, failed: (error: TemplateError, value: unknown) => void) =>
  (value: unknown): string => {
    try {
      return template(value);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      failed(error, value);
      throw new Error(`go-template: ${error.message}`);
    }
  };
/** The stock client prints what a template failed with on the standard output, where scripts look for it. */
function debugTemplate({ message }: Error, template: string, value: unknown, io: Pick<IO, 'program' | 'out'>): void {
  if (!isStock(io)) return;
  io.out(`Error executing template: ${message}. Printing more information for debugging the template:
\ttemplate was:
\t\t${template}
\traw data was:
\t\t${jsonText(value)}

`);
}
function readTemplate(path: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, path), 'utf8');
  } catch (error) {
    throw new FlagError(`the template ${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Prints what a template made, which may hold bytes that are no text: a decoded secret. */
export function printBytes(io: Pick<IO, 'out' | 'terminal'>, text: string): void {
  // A terminal would obey what objects hold; files and other programs get it as it is.
  if (io.terminal.size() !== undefined) io.out(screenText(hasBytes(text) ? bytesOf(text).toString() : text));
  else if (hasBytes(text)) io.terminal.write(bytesOf(text));
  else io.out(text);
}

/** `pod/web`, `deployment.apps/web`: by the kind that the object itself names. */
const nameOf = ({ item, resource }: Printed): string => {
  const kind = (item.kind ?? resource?.kind ?? '<unknown>').toLowerCase();
  const group = item.apiVersion === undefined ? (resource?.group ?? '') : splitApiVersion(item.apiVersion).group;
  return `${group === '' ? kind : `${kind}.${group}`}/${item.metadata?.name || '<unknown>'}\n`;
};
const namePrinter: FormPrinter = {
  one: async (printed) => nameOf(printed),
  list: async (all) => all.map(nameOf).join(''),
  listInPieces: () => ({ items: (some) => namePrinter.list(some), end: async () => '' }),
  event: async (_, printed) => nameOf(printed),
};

// ---- columns ---------------------------------------------------------------------------------------------------

interface Column {
  readonly name: string;
  readonly follow: JsonPath;
}

/** `NAME:.metadata.name,IMAGE:.spec.containers[*].image`. Throws FlagError. */
function readColumns(text: string): Column[] {
  // A comma within brackets belongs to the path.
  const parts = text.match(/(?:\[[^\]]*\]|[^,[])+/g) ?? [];
  if (parts.length === 0) throw new FlagError('custom-columns needs columns, such as custom-columns=NAME:.metadata.name');
  return parts.map((part) => {
    const at = part.indexOf(':');
    if (at <= 0 || at === part.length - 1) throw new FlagError(`custom-columns: ${JSON.stringify(part)} is not of the form HEADER:.path`);
    return columnOf(part.slice(0, at), part.slice(at + 1));
  });
}
/** A line of headers and a line of paths, separated by spaces. */
function readColumnsFile(text: string): Column[] {
  const [headers = [], paths = []] = text.split(/\r?\n/).map((line) => line.split(/\s+/).filter((word) => word !== ''));
  if (headers.length === 0 || headers.length !== paths.length) {
    throw new FlagError(
      `custom-columns-file: the first line has ${headers.length} headers and the second ${paths.length} paths; both need the same number, at least one`,
    );
  }
  return headers.map((header, i) => columnOf(header, paths[i] as string));
}
function columnOf(name: string, pathText: string): Column {
  try {
    return { name, follow: jsonPath(relaxedPath(pathText)) };
  } catch (error) {
    if (error instanceof JsonPathError) throw new FlagError(`custom-columns: ${error.message}`);
    throw error;
  }
}
/** `metadata.name`, `.metadata.name`, `{metadata.name}` and `{.metadata.name}` are the same path. */
export function relaxedPath(pathText: string): string {
  const path = pathText.trim().replace(/^\{(.*)\}$/s, '$1');
  return /^[.[$@]/.test(path) ? path : `.${path}`;
}

function columnPrinter(columns: readonly Column[], headers: boolean): FormPrinter {
  const printer = new TablePrinter({ headers, verbatim: true });
  const cell = (values: readonly unknown[]): string => (values.length === 0 ? '<none>' : values.map(goText).join(','));
  const print = (all: readonly unknown[]): string =>
    printer.print(
      columns,
      all.map((item) => ({ cells: columns.map(({ follow }) => cell(follow(item))) })),
    );
  return {
    one: async ({ item }) => print([item]),
    list: async (all) => print(all.map(({ item }) => item)),
    event: async (type, { item }) => print([{ type, object: item }]),
  };
}
