/**
 * A report of one request's way through admission, for a client that requested it: which plug-ins and webhooks ran, in
 * which order, how long each took, what it changed or why it refused. Costs a copy of the object per plug-in, and is
 * therefore made only on demand.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export interface ExplainedStep {
  /** `ServiceAccount`, or `MutatingAdmissionWebhook/config/webhook.example.com` for one call of a webhook. */
  readonly step: string;
  readonly phase: 'admit' | 'validate';
  /** 1 when plug-ins ran again because a webhook changed the object. */
  readonly round: number;
  readonly millis: number;
  readonly changes: Changes;
  readonly refused?: string;
  /** A note of the plug-in: `failed open`, `not called: dry run`. */
  readonly note?: string;
}

/** What a step changed, as operations of a JSON patch. */
export interface Changes {
  readonly operations: readonly ChangeOperation[];
  /** How many further ones there are. */
  readonly more: number;
}
interface ChangeOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  /** Of what is added or replaced. */
  readonly value?: JsonValue;
}
export const noChanges: Changes = { operations: [], more: 0 };

/** Maximum changes of one step; further ones are only counted. */
const MAX_CHANGES = 24;
/** Maximum steps; the steps of further webhooks are left out. */
const MAX_STEPS = 200;
/** Maximum length of the header: intermediaries commonly refuse heads of more than 8 KB. */
const HEADER_LIMIT = 6144;

interface Explained {
  readonly object: unknown;
  readonly reinvocation?: 'wanted' | 'running';
}

export class Explanation {
  readonly steps: ExplainedStep[] = [];
  private readonly withValues: boolean;

  /** `withValues`: changes are shown as a JSON patch where that fits, and by their paths alone otherwise. */
  constructor({ withValues = false }: { readonly withValues?: boolean } = {}) {
    this.withValues = withValues;
  }

  /** Called before a plug-in runs; the returned function is called after it. */
  begin(step: string, phase: ExplainedStep['phase'], request: Explained): (millis: number, failure: unknown) => void {
    const objectBefore = phase === 'admit' && request.object !== undefined ? structuredClone(request.object) : undefined;
    // Validation runs once, even if mutation ran twice.
    const round = phase === 'admit' && request.reinvocation === 'running' ? 1 : 0;
    return (millis, failure) => {
      const stepChanges = objectBefore === undefined ? noChanges : changesBetween(objectBefore as JsonValue, request.object as JsonValue);
      const refused = failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure);
      this.add({ step, phase, round, millis, changes: stepChanges, ...(refused !== undefined && { refused }) });
    };
  }

  add(step: ExplainedStep): void {
    if (this.steps.length < MAX_STEPS) this.steps.push(step);
  }

  /** One line of ASCII. When it would be too long, values are dropped first, then steps without effect, then the last ones. */
  header(): string {
    for (const withValues of this.withValues ? [true, false] : [false]) {
      const whole = ascii(jsonText(this.steps.map((step) => compact(step, withValues))));
      if (whole.length <= HEADER_LIMIT) return whole;
    }
    const effectiveSteps = this.steps
      .filter((step) => step.changes.operations.length > 0 || step.refused !== undefined || step.note !== undefined)
      .map((step) => compact(step, false));
    while (effectiveSteps.length > 0 && jsonText(effectiveSteps).length > HEADER_LIMIT - 40) effectiveSteps.pop();
    return ascii(jsonText([...effectiveSteps, { left_out: this.steps.length - effectiveSteps.length }]));
  }

  /** The same as causes of a Status. */
  causes(): { reason: string; message: string; field: string }[] {
    return this.steps.map((step) => ({ reason: 'AdmissionStep', message: sentence(step), field: step.step }));
  }
}

const rounded = (millis: number): number => Math.round(millis * 1000) / 1000;
const ascii = (text: string): string => text.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

function compact({ step, phase, round, millis, changes, refused, note }: ExplainedStep, withValues: boolean): JsonObject {
  const { operations, more } = changes;
  return {
    step,
    phase,
    ...(round > 0 && { round }),
    ms: rounded(millis),
    ...(operations.length > 0 && (withValues ? { patch: operations as unknown as JsonValue } : { changed: changeTexts(changes) })),
    ...(withValues && more > 0 && { more }),
    ...(refused !== undefined && { refused }),
    ...(note !== undefined && { note }),
  };
}

function sentence({ phase, round, millis, changes, refused, note }: ExplainedStep): string {
  const parts = [`${phase}${round > 0 ? ' again' : ''}: ${rounded(millis)} ms`];
  if (changes.operations.length > 0) parts.push(`changed ${changeTexts(changes).join(' ')}`);
  if (note !== undefined) parts.push(note);
  if (refused !== undefined) parts.push(`refused: ${refused}`);
  return parts.join(', ');
}

/** JSON pointers with their changes: `+/spec/volumes`, `~/spec/priority`, `-/metadata/labels/a`. */
function changeTexts({ operations, more }: Changes): string[] {
  const texts = operations.map(({ op, path }) => `${marks[op]}${path}`);
  return more === 0 ? texts : [...texts, `(${more} more)`];
}
const marks = { add: '+', replace: '~', remove: '-' } as const;

/** The differences between two values. Later plug-ins change the object, so that values are copied. Items of a list are removed from its end, so that the patch can be applied. */
export function changesBetween(before: JsonValue, after: JsonValue): Changes {
  const operations: ChangeOperation[] = [];
  let more = 0;
  const report = (operation: ChangeOperation): void => {
    if (operations.length < MAX_CHANGES) operations.push(operation);
    else more++;
  };
  const compare = (a: JsonValue | undefined, b: JsonValue | undefined, path: string): void => {
    if (a === b) return;
    if (b === undefined) report({ op: 'remove', path });
    else if (a === undefined) report({ op: 'add', path, value: structuredClone(b) });
    else if (isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)) compareParts(a, b, path);
    else if (jsonText(a) !== jsonText(b)) report({ op: 'replace', path, value: structuredClone(b) });
  };
  const compareParts = (a: object, b: object, path: string): void => {
    const left = a as JsonObject;
    const right = b as JsonObject;
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    const ordered = Array.isArray(b) ? [...keys.slice(0, b.length), ...keys.slice(b.length).reverse()] : keys;
    for (const key of ordered) compare(own(left, key), own(right, key), `${path}/${escaped(key)}`);
  };
  compare(before, after, '');
  return { operations, more };
}
const isContainer = (value: JsonValue): value is JsonObject | JsonValue[] => typeof value === 'object' && value !== null;
const escaped = (key: string): string => key.replace(/~/g, '~0').replace(/\//g, '~1');
