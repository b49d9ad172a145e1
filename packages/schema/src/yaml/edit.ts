/**
 * Edits a YAML or JSON text so that its documents have new values, and leaves the rest of the text as it is: comments, order, quotes,
 * blank lines, line ends.
 *
 *   spec:                                       spec:
 *     backend: # the shop      with backend →     defaultBackend: # the shop
 *       serviceName: web       defaultBackend       service:
 *       servicePort: 80                               name: web
 *                                                     port:
 *                                                       number: 80
 *
 * The result is parsed again. A document with another value than intended (an edit within an anchor changes its aliases) is
 * rewritten, without its comments.
 */
import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonValue } from '../types.ts';
import { type EditContext, emit } from './emit.ts';
import { parseYamlDocuments } from './index.ts';
import { removedPlaces } from './moved-values.ts';
import { type PlacedDocument, placedDocuments } from './places.ts';
import { stringifyYaml } from './write.ts';

export interface EditedYaml {
  readonly text: string;
  /** Numbers of documents, from 0, that were rewritten: their comments are lost. */
  readonly rewritten: readonly number[];
}

/** `values` are those of the documents, in their order. Throws DecodeError for a text that cannot be read. */
export function editYaml(text: string, values: readonly JsonValue[]): EditedYaml {
  const source = new Source(text);
  const documents = placedDocuments(source.plain);
  const rewritten: number[] = [];
  let out = '';
  let at = 0;
  documents.forEach((document, i) => {
    const value = values[i] as JsonValue;
    if (equal(document.value, value)) return;
    const edited = edit(source.plain, document, value);
    if (edited === undefined) throw new Error(`document ${i + 1} cannot be edited: its text has keys after question marks`);
    if (edited.isNew) rewritten.push(i);
    out += source.original(at, edited.start) + source.withLineEnds(edited.text);
    at = edited.end;
  });
  return { text: out + source.original(at, source.plain.length), rewritten };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly isNew: boolean;
}
function edit(text: string, { place, value: old }: PlacedDocument, value: JsonValue): Edit | undefined {
  if (place === undefined) return undefined;
  const context: EditContext = { text, moved: removedPlaces(place, value) };
  const { text: edited, end } = emit(place, value, 0, context);
  if (old !== null && reads(' '.repeat(place.column) + edited, value)) return { start: place.start, end, text: edited, isNew: false };
  const isFlow = place.type === 'flowMap' || place.type === 'flowList';
  const whole = isFlow ? jsonText(value, 2) : stringifyYaml(value).trimEnd();
  return { start: place.start, end: place.end, text: whole, isNew: true };
}
function reads(text: string, value: JsonValue): boolean {
  try {
    const documents = parseYamlDocuments(text);
    return documents.length === 1 && equal(documents[0], value);
  } catch {
    return false;
  }
}

/** A text as it was read, and the same with LF line ends, whose offsets are used for edits. */
class Source {
  readonly plain: string;
  private readonly text: string;
  private readonly lineEnd: string;
  /** Offsets of `plain` behind which a CR was left out. */
  private readonly left: number[] = [];
  private readonly mark: number;

  constructor(text: string) {
    this.text = text;
    this.mark = text.charCodeAt(0) === 0xfeff ? 1 : 0;
    const body = this.mark === 1 ? text.slice(1) : text;
    for (let i = body.indexOf('\r\n'); i >= 0; i = body.indexOf('\r\n', i + 2)) this.left.push(i - this.left.length);
    this.plain = body.replaceAll('\r\n', '\n');
    this.lineEnd = this.left.length > 0 ? '\r\n' : '\n';
  }
  /** The text as it was read between two offsets of `plain`. */
  original(start: number, end: number): string {
    return this.text.slice(start === 0 ? 0 : this.offset(start), end === this.plain.length ? this.text.length : this.offset(end));
  }
  /** An LF stands behind its CR: offsets at an LF are before the CR. */
  private offset(at: number): number {
    let low = 0;
    let high = this.left.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.left[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return this.mark + at + low;
  }
  withLineEnds(text: string): string {
    return this.lineEnd === '\n' ? text : text.replaceAll('\n', this.lineEnd);
  }
}
