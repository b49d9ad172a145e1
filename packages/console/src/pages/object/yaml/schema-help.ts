/** Completion, descriptions and faults of an editor, from the schema of the kind. */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { type Diagnostic, linter } from '@codemirror/lint';
import type { EditorState, Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { partOf, propertiesOf, type Schema, schemaAt, typeText } from '../openapi/schema.ts';
import { schemaFaults } from './check-schema.ts';
import { type Place, placeOfLine } from './indent-path.ts';
import { parseText } from './places.ts';

/** Longer texts are left to the server. */
const LONGEST_CHECKED = 2_000_000;
/** A line that is longer has no place of a field to offer. */
const LONGEST_LINE = 10_000;

export function schemaHelp(schema: () => Schema | undefined, serverFaults: () => readonly Diagnostic[]): Extension {
  return [
    autocompletion({ override: [(context) => completionsAt(context, schema())], icons: false }),
    hoverTooltip((view, position) => hintAt(view.state, position, schema())),
    linter((view) => [...serverFaults(), ...faultsOf(view.state, schema())], { delay: 400 }),
  ];
}

function placeAt(state: EditorState, position: number): Place | undefined {
  const line = state.doc.lineAt(position);
  if (line.length > LONGEST_LINE) return undefined;
  return placeOfLine((number) => state.doc.line(number).text.slice(0, LONGEST_LINE), line.number, position - line.from);
}

function completionsAt(context: CompletionContext, schema: Schema | undefined): CompletionResult | null {
  if (schema === undefined) return null;
  const place = placeAt(context.state, context.pos);
  if (place === undefined) return null;
  const word = context.matchBefore(/[\w./-]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const parent = schemaAt(schema, place.path);
  if (place.value !== undefined) return { from: word.from, options: valueOptions(partOf(parent, place.key)), validFor: /^[\w./-]*$/ };
  const options = [...propertiesOf(parent)]
    .filter(([name]) => !place.siblings.includes(name))
    .map(([name, property]) => keyOption(name, property));
  return { from: word.from, options, validFor: /^\w*$/ };
}

function keyOption(name: string, property: Schema): Completion {
  const isNested = property.type === 'object' || property.type === 'array';
  return { label: name, detail: typeText(property), info: property.description, apply: isNested ? `${name}:` : `${name}: ` };
}

function valueOptions(schema: Schema | undefined): Completion[] {
  if (schema?.type === 'boolean') return [{ label: 'true' }, { label: 'false' }];
  return (schema?.enumeration ?? []).map((value) => ({ label: String(value) }));
}

function hintAt(state: EditorState, position: number, schema: Schema | undefined) {
  const place = placeAt(state, position);
  if (schema === undefined || place === undefined || place.key === '') return null;
  const property = schemaAt(schema, [...place.path, place.key]);
  if (property === undefined) return null;
  return { pos: position, above: true, create: () => ({ dom: hintElement(place.key, property) }) };
}

function hintElement(key: string, property: Schema): HTMLElement {
  const hint = document.createElement('div');
  hint.className = 'cm-hint';
  const title = document.createElement('p');
  const name = document.createElement('strong');
  name.textContent = key;
  const type = document.createElement('span');
  type.className = 'quiet';
  type.textContent = ` ${typeText(property)}`;
  title.append(name, type);
  const description = document.createElement('p');
  description.textContent = property.description;
  hint.append(title, description);
  return hint;
}

function faultsOf(state: EditorState, schema: Schema | undefined): Diagnostic[] {
  if (state.doc.length > LONGEST_CHECKED) return [];
  const { root, error } = parseText(state.doc.toString());
  if (error !== undefined) {
    const { from, to } = state.doc.line(Math.min(Math.max(error.line, 1), state.doc.lines));
    return [{ from, to: Math.min(to, from + LONGEST_LINE), severity: 'error', message: error.message }];
  }
  if (root === undefined || schema === undefined) return [];
  return schemaFaults(root, schema).map((fault) => ({ ...fault, severity: 'warning' }));
}
