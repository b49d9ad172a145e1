/**
 * Templates of `-o jsonpath=…`: text, and between braces paths, texts and loops.
 *
 *   {.metadata.name}                                        the values of a path, separated by spaces
 *   {.metadata.name}{"\t"}{.status.phase}{"\n"}             texts with escapes
 *   {range .items[*]}{.metadata.name}{"\n"}{end}            once for each
 *   .metadata.name                                          a path alone needs no braces
 */
import { FlagError } from '../lib/flags.ts';
import { JsonPathError, jsonPath } from '../meta/json-path.ts';

export type Template = (value: unknown) => string;

/** Reads a template. Throws FlagError. */
export function jsonPathTemplate(text: string): Template {
  if (text === '') throw new FlagError("jsonpath needs a template, such as jsonpath='{.metadata.name}'");
  const reader = new TemplateReader(text.includes('{') ? text : `{${text.startsWith('.') || text.startsWith('[') ? '' : '.'}${text}}`);
  return reader.all();
}

class TemplateReader {
  private readonly pieces: readonly string[];
  private at = 0;

  constructor(text: string) {
    // Braces within quotations do not count.
    this.pieces = text.match(/\{(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*\}|[^{]+|\{/g) ?? [];
  }
  all(): Template {
    const template = this.until(false);
    if (this.at < this.pieces.length) throw new FlagError('jsonpath: there is an {end} without its {range}');
    return template;
  }
  private until(inRange: boolean): Template {
    const parts: Template[] = [];
    for (; this.at < this.pieces.length; this.at++) {
      const piece = this.pieces[this.at] as string;
      if (/^\{\s*end\s*\}$/.test(piece)) {
        if (inRange) return joined(parts);
        break;
      }
      parts.push(piece.startsWith('{') ? this.braced(piece) : () => piece);
    }
    if (inRange) throw new FlagError('jsonpath: a {range} has no {end}');
    return joined(parts);
  }
  private braced(piece: string): Template {
    if (!piece.endsWith('}')) throw new FlagError('jsonpath: a brace is not closed');
    const inner = piece.slice(1, -1).trim();
    const loop = /^range\s+(.*)$/s.exec(inner)?.[1];
    if (loop !== undefined) {
      const follow = pathOf(loop);
      this.at++;
      const body = this.until(true);
      return (value) => follow(value).map(body).join('');
    }
    const quoted = /^"((?:\\.|[^"\\])*)"$|^'((?:\\.|[^'\\])*)'$/s.exec(inner);
    if (quoted !== null) {
      const words = unescaped(quoted[1] ?? quoted[2] ?? '');
      return () => words;
    }
    const follow = pathOf(inner);
    return (value) => follow(value).map(shown).join(' ');
  }
}

function pathOf(text: string): (value: unknown) => unknown[] {
  try {
    return jsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) throw new FlagError(`jsonpath: ${error.message}`);
    throw error;
  }
}
const joined =
  (parts: readonly Template[]): Template =>
  (value) =>
    parts.map((part) => part(value)).join('');
const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
const unescaped = (text: string): string => text.replace(/\\(.)/gs, (_, c: string) => escapes[c] ?? c);
