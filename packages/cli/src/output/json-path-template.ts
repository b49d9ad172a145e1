/**
 * Templates of `-o jsonpath=…`: text, and between braces paths, texts and loops.
 *
 *   {.metadata.name}                                        the values of a path, separated by spaces
 *   {.metadata.name}{"\t"}{.status.phase}{"\n"}             texts with escapes
 *   {range .items[*]}{.metadata.name}{"\n"}{end}            once for each
 *   .metadata.name                                          a path alone needs no braces (not as kubectl, which prints it)
 */
import { FlagError } from '@plat-dev/lib/flags';
import { JsonPathError, type StrictPath, strictJsonPath } from '@plat-dev/meta/json-path';
import { goText } from '../go-template/index.ts';
import { unquote } from '../go-template/quote.ts';
import { goJson } from './go-json.ts';

export type Template = (value: unknown) => string;

export interface JsonPathOptions {
  /** Whether a path without braces is a path; as kubectl it is a text. */
  readonly relaxed?: boolean;
  /** Whether a field that is missing is nothing; an error otherwise. */
  readonly allowMissingKeys?: boolean;
  /** The values of each part as a list of JSON. */
  readonly asJson?: boolean;
}

/** Reads a template. Throws FlagError; the template throws an Error for values that do not have the shape of its paths. */
export function jsonPathTemplate(text: string, options: JsonPathOptions = {}): Template {
  if (text === '') throw new FlagError("jsonpath needs a template, such as jsonpath='{.metadata.name}'");
  const { relaxed = true, allowMissingKeys = true, asJson = false } = options;
  const bare = relaxed && !text.includes('{');
  const nodes = nodesOf(bare ? `{${/^[.[$@]/.test(text) ? '' : '.'}${text}}` : text);
  const show = asJson ? (values: readonly unknown[]): string => `${goJson(values, 4)}\n` : valuesText;
  return (value) => {
    try {
      return new Run(nodes, !allowMissingKeys, show).all(value);
    } catch (error) {
      if (error instanceof JsonPathError) throw new Error(`jsonpath: ${error.message}`);
      throw error;
    }
  };
}

const valuesText = (values: readonly unknown[]): string =>
  values.map((value) => (typeof value === 'object' && value !== null ? goJson(value) : goText(value))).join(' ');

type Node =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'path'; readonly follow: StrictPath }
  | { readonly is: 'range'; readonly follow: StrictPath; readonly end: number }
  | { readonly is: 'end' };

function nodesOf(text: string): Node[] {
  // Braces within quotations do not count.
  const pieces = text.match(/\{(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*\}|[^{]+|\{/gs) ?? [];
  const nodes = pieces.map((piece): Node => (piece.startsWith('{') ? braced(piece) : { is: 'text', text: piece }));
  return withEnds(nodes);
}
function braced(piece: string): Node {
  if (!piece.endsWith('}')) throw new FlagError('jsonpath: a brace is not closed');
  const inner = piece.slice(1, -1).trim();
  if (inner === 'end') return { is: 'end' };
  const loop = /^range\s*(?=[.[@$])(.*)$/s.exec(inner)?.[1];
  if (loop !== undefined) return { is: 'range', follow: pathOf(loop), end: 0 };
  const quoted = /^"((?:\\.|[^"\\])*)"$|^'((?:\\.|[^'\\])*)'$/s.exec(inner);
  if (quoted !== null) return { is: 'text', text: escaped(quoted[1] ?? quoted[2] ?? '') };
  return { is: 'path', follow: pathOf(inner) };
}
/** Finds the end of each loop. One that has none goes on to the end of the template. */
function withEnds(nodes: readonly Node[]): Node[] {
  const open: number[] = [];
  const nodesWithEnds = [...nodes];
  nodesWithEnds.forEach((node, i) => {
    if (node.is === 'range') open.push(i);
    if (node.is !== 'end') return;
    const begin = open.pop();
    if (begin === undefined) throw new FlagError('jsonpath: there is an {end} without its {range}');
    nodesWithEnds[begin] = { ...(nodesWithEnds[begin] as Node & { is: 'range' }), end: i };
  });
  for (const begin of open) nodesWithEnds[begin] = { ...(nodesWithEnds[begin] as Node & { is: 'range' }), end: -1 };
  return nodesWithEnds;
}

class Run {
  private readonly nodes: readonly Node[];
  private readonly needed: boolean;
  private readonly show: (values: readonly unknown[]) => string;

  constructor(nodes: readonly Node[], needed: boolean, show: (values: readonly unknown[]) => string) {
    this.nodes = nodes;
    this.needed = needed;
    this.show = show;
  }
  all(value: unknown): string {
    return this.part(value, 0, this.nodes.length);
  }
  private part(value: unknown, from: number, to: number): string {
    let text = '';
    for (let i = from; i < to; i++) {
      const node = this.nodes[i] as Node;
      if (node.is === 'text') text += this.show([node.text]);
      else if (node.is === 'path') text += this.show(node.follow(value, this.needed));
      else if (node.is === 'range') {
        for (const one of node.follow(value, this.needed)) text += this.part(one, i + 1, node.end < 0 ? to : node.end);
        // As with kubectl, what follows a loop without an end is evaluated once more, outside of it.
        if (node.end >= 0) i = node.end;
      }
    }
    return text;
  }
}

function pathOf(text: string): StrictPath {
  try {
    return strictJsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) throw new FlagError(`jsonpath: ${error.message}`);
    throw error;
  }
}
function escaped(text: string): string {
  try {
    return unquote(text);
  } catch (error) {
    throw new FlagError(`jsonpath: ${(error as Error).message}`);
  }
}
