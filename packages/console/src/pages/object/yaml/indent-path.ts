/**
 * Where the cursor is in a text that may not be complete: by indentation alone, as nothing else can be relied on while somebody types.
 *
 *   spec:
 *     containers:
 *     - name: web
 *       ima|              → path spec, containers, 0; key `ima`
 */
import type { FieldPath } from '../openapi/schema.ts';

export interface Place {
  /** The map in which the line stands. */
  readonly path: FieldPath;
  /** The key of the line, as far as it is written. */
  readonly key: string;
  /** The text after `key:`; undefined where there is no colon yet. */
  readonly value: string | undefined;
  /** Keys of the same map on lines around it. */
  readonly siblings: readonly string[];
}

interface Line {
  /** The column at which the key stands, after all dashes. */
  readonly indent: number;
  /** The column of each dash. */
  readonly dashes: readonly number[];
  readonly key: string;
  readonly value: string | undefined;
  readonly isBlank: boolean;
}

const keyAndValue = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#:'"][^:#]*?|)(?:\s*:(?:\s+(.*))?)?$/;

function lineOf(text: string): Line {
  const dashes: number[] = [];
  let indent = text.length - text.trimStart().length;
  let rest = text.slice(indent);
  while (rest === '-' || rest.startsWith('- ')) {
    dashes.push(indent);
    const inner = rest.slice(1);
    const blanks = inner.length - inner.trimStart().length;
    indent += 1 + blanks;
    rest = inner.trimStart();
  }
  const match = keyAndValue.exec(rest.trimEnd());
  const hasColon = match !== null && /:(\s|$)/.test(rest.slice(match[1]?.length ?? 0));
  return {
    indent,
    dashes,
    key: (match?.[1] ?? '').replace(/^(["'])(.*)\1$/, '$2'),
    value: hasColon ? (match?.[2] ?? '') : undefined,
    isBlank: rest.trim() === '' && dashes.length === 0,
  };
}

/** Lines that are looked at above the cursor. */
const MOST_LINES = 5000;

/** `lineAt` gives lines from 1; `column` is where the cursor is, which says the depth on a blank line. */
export function placeOfLine(lineAt: (number: number) => string, number: number, column: number): Place {
  const here = lineOf(lineAt(number));
  const path: (string | number)[] = [];
  const siblings: string[] = [];
  let indent = here.isBlank ? column : here.indent;
  let dash = here.dashes.at(-1);
  for (const _ of here.dashes) path.unshift(0);
  for (let n = number - 1; n >= 1 && n > number - MOST_LINES; n--) {
    const line = lineOf(lineAt(n));
    if (line.isBlank || line.key.startsWith('#')) continue;
    if (line.indent === indent && dash === undefined && line.key !== '') {
      if (path.length === 0) siblings.unshift(line.key);
      // The line begins the item in which the map stands.
      if (line.dashes.length > 0) {
        for (const _ of line.dashes) path.unshift(0);
        dash = line.dashes[0];
        indent = line.dashes[0] as number;
      }
      continue;
    }
    const isParentOfList = dash !== undefined && line.dashes.length === 0 && line.indent <= dash && line.value !== undefined;
    if (isParentOfList || (dash === undefined && line.indent < indent && line.value !== undefined)) {
      path.unshift(line.key);
      indent = line.indent;
      dash = undefined;
      if (line.dashes.length > 0) {
        for (const _ of line.dashes) path.unshift(0);
        dash = line.dashes[0];
        indent = line.dashes[0] as number;
      }
    }
    if (indent === 0 && dash === undefined) break;
  }
  return { path, key: here.key, value: here.value, siblings };
}
