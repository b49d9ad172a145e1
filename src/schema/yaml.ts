/**
 * YAML bodies to plain JSON values, as clients of a stock server expect it: YAML 1.1 with `yes` and `0644`, keys always
 * texts, times left as texts, merge keys followed. What it costs is bounded: depth, and how much aliases may multiply.
 */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { DecodeError, type Problem } from './errors.ts';
import { setKey } from './plain.ts';
import type { JsonObject, JsonValue } from './types.ts';
import { resolvePlain } from './yaml-scalars.ts';

export { stringifyYaml } from './yaml-write.ts';

export interface YamlOptions {
  /** More than one document is an error; otherwise the first one counts, as it does for a stock server. */
  readonly single?: boolean;
  /** Told of every repeated key. The last value counts. */
  readonly report?: ((problem: Problem) => void) | undefined;
}

/** How many values may come out of aliases; a small text can otherwise grow without bound. */
const maxAliased = 100_000;
/**
 * The bound on nested values. The library composes them by recursion, several frames a level, and a stack that runs out
 * inside a regular expression ends the process; so depth is measured on its flat tokens before that.
 */
const maxDepth = 200;

/** Reads one value; no document at all is null. Throws DecodeError. */
export function parseYaml(input: string | Buffer, options: YamlOptions = {}): JsonValue {
  const text = typeof input === 'string' ? input : input.toString('utf8');
  const { documents, lines } = read(text);
  if (options.single === true && documents.length > 1) throw new DecodeError('yaml: expected a single document');
  const document = documents[0];
  return document === undefined ? null : new Converter(document, lines, options.report).convert();
}

/** Reads every document of a text. Throws DecodeError. */
export function parseYamlDocuments(input: string | Buffer): JsonValue[] {
  const { documents, lines } = read(typeof input === 'string' ? input : input.toString('utf8'));
  return documents.map((document) => new Converter(document, lines, undefined).convert());
}

function read(text: string): { documents: Document.Parsed[]; lines: LineCounter } {
  const lines = new LineCounter();
  // The failsafe schema leaves every scalar a text; what it means is decided here.
  const composer = new Composer({ version: '1.1', schema: 'failsafe', uniqueKeys: false });
  const documents: Document.Parsed[] = [];
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    checkDepth(token);
    for (const document of composer.next(token)) documents.push(document as Document.Parsed);
  }
  for (const document of composer.end()) documents.push(document as Document.Parsed);
  return { documents, lines };
}

function checkDepth(root: CST.Token): void {
  const waiting: { readonly token: CST.Token; readonly depth: number }[] = [{ token: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (depth > maxDepth) throw new DecodeError('exceeded max depth');
    if (token.type === 'document' && token.value !== undefined) waiting.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) waiting.push({ token: item.key, depth: depth + 1 });
      if (item.value) waiting.push({ token: item.value, depth: depth + 1 });
    }
  }
}

class Converter {
  private readonly document: Document.Parsed;
  private readonly lines: LineCounter;
  private readonly report: ((problem: Problem) => void) | undefined;
  /** What each anchor names at this place of the document. */
  private readonly anchors = new Map<string, Node>();
  /** What each alias was found to mean where it stands; its anchor may be given away again later. */
  private readonly targets = new Map<Alias, Node>();
  /** Targets of aliases that are being read, so that none contains itself. */
  private readonly open = new Set<Node>();
  private aliased = 0;

  constructor(document: Document.Parsed, lines: LineCounter, report: ((problem: Problem) => void) | undefined) {
    this.document = document;
    this.lines = lines;
    this.report = report;
  }

  convert(): JsonValue {
    const [error] = this.document.errors;
    if (error !== undefined) throw this.failure(error.pos[0], error.message);
    return this.node(this.document.contents, '');
  }

  private failure(offset: number | undefined, message: string): DecodeError {
    return new DecodeError(offset === undefined ? `yaml: ${message}` : `yaml: line ${this.lines.linePos(offset).line}: ${message}`);
  }

  private node(node: Node | null | undefined, path: string): JsonValue {
    if (this.open.size > 0 && ++this.aliased > maxAliased) throw new DecodeError('yaml: document contains excessive aliasing');
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.alias(node, path);
    if (node.anchor !== undefined && this.open.size === 0) this.anchors.set(node.anchor, node);
    if (isScalar(node)) return this.scalar(node);
    if (isSeq(node)) return node.items.map((item, i) => this.node(item as Node, `${path}[${i}]`));
    if (isMap(node)) return this.map(node, path);
    throw this.failure(undefined, 'unsupported node');
  }

  private alias(node: Alias, path: string): JsonValue {
    const target = this.targets.get(node) ?? this.anchors.get(node.source);
    if (target === undefined) throw this.failure(node.range?.[0], `unknown anchor '${node.source}' referenced`);
    this.targets.set(node, target);
    if (this.open.has(target)) throw this.failure(node.range?.[0], `anchor '${node.source}' value contains itself`);
    if (this.open.size >= maxDepth) throw new DecodeError('exceeded max depth');
    this.open.add(target);
    const value = this.node(target, path);
    this.open.delete(target);
    return value;
  }

  private map(map: YAMLMap, path: string): JsonObject {
    const out: JsonObject = {};
    const merged: JsonValue[] = [];
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      if (isScalar(pair.key) && pair.key.value === '<<' && pair.key.type === Scalar.PLAIN) {
        const value = this.node(pair.value, path);
        merged.push(...(Array.isArray(value) ? value : [value]));
        continue;
      }
      const key = this.key(pair.key);
      const keyPath = path === '' ? key : `${path}.${key}`;
      if (Object.hasOwn(out, key)) this.report?.({ type: 'duplicate', path: keyPath });
      setKey(out, key, this.node(pair.value, keyPath));
    }
    // What is merged in yields to what is written, and earlier ones before later ones.
    for (const source of merged) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        throw this.failure(map.range?.[0], 'map merge requires map or sequence of maps as the value');
      }
      for (const key of Object.keys(source)) if (!Object.hasOwn(out, key)) setKey(out, key, source[key] as JsonValue);
    }
    return out;
  }

  private key(node: Node): string {
    const value = this.node(node, '');
    if (typeof value === 'object') throw this.failure(node?.range?.[0], 'unsupported map key');
    return String(value);
  }

  private scalar(node: Scalar): JsonValue {
    const text = String(node.value ?? '');
    if (node.tag !== undefined) return this.tagged(node, text);
    if (node.type !== Scalar.PLAIN && node.type !== undefined) return text;
    const value = resolvePlain(node.source ?? text);
    if (typeof value === 'number' && !Number.isFinite(value)) throw this.failure(node.range?.[0], `unsupported value: ${text}`);
    return value;
  }

  private tagged(node: Scalar, text: string): JsonValue {
    const tag = (node.tag as string).replace('tag:yaml.org,2002:', '!!');
    switch (tag) {
      case '!!binary':
        return Buffer.from(text, 'base64').toString('utf8');
      case '!!int':
      case '!!float':
      case '!!bool':
      case '!!null': {
        const value = resolvePlain(text);
        if (typeof value === 'string' || (typeof value === 'number' && !Number.isFinite(value))) {
          throw this.failure(node.range?.[0], `cannot decode !!str \`${text}\` as a ${tag}`);
        }
        return value;
      }
      default:
        return text;
    }
  }
}
