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
  /** JSON pointers with their changes: `+/spec/volumes`, `~/spec/priority`, `-/metadata/labels/a`. */
  readonly changed: readonly string[];
  readonly refused?: string;
  /** A note of the plug-in: `failed open`, `not called: dry run`. */
  readonly note?: string;
}

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

  /** Called before a plug-in runs; the returned function is called after it. */
  begin(step: string, phase: ExplainedStep['phase'], request: Explained): (millis: number, failure: unknown) => void {
    const objectBefore = phase === 'admit' && request.object !== undefined ? structuredClone(request.object) : undefined;
    // Validation runs once, even if mutation ran twice.
    const round = phase === 'admit' && request.reinvocation === 'running' ? 1 : 0;
    return (millis, failure) => {
      const changed = objectBefore === undefined ? [] : changes(objectBefore as JsonValue, request.object as JsonValue);
      const refused = failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure);
      this.add({ step, phase, round, millis, changed, ...(refused !== undefined && { refused }) });
    };
  }

  add(step: ExplainedStep): void {
    if (this.steps.length < MAX_STEPS) this.steps.push(step);
  }

  /** One line of ASCII. Steps without effect are dropped first when it would be too long. */
  header(): string {
    const all = this.steps.map(compact);
    const whole = jsonText(all);
    if (whole.length <= HEADER_LIMIT) return ascii(whole);
    const effectiveSteps = this.steps
      .filter((step) => step.changed.length > 0 || step.refused !== undefined || step.note !== undefined)
      .map(compact);
    while (effectiveSteps.length > 0 && jsonText(effectiveSteps).length > HEADER_LIMIT - 40) effectiveSteps.pop();
    return ascii(jsonText([...effectiveSteps, { left_out: all.length - effectiveSteps.length }]));
  }

  /** The same as causes of a Status. */
  causes(): { reason: string; message: string; field: string }[] {
    return this.steps.map((step) => ({ reason: 'AdmissionStep', message: sentence(step), field: step.step }));
  }
}

const rounded = (millis: number): number => Math.round(millis * 1000) / 1000;
const ascii = (text: string): string => text.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

function compact({ step, phase, round, millis, changed, refused, note }: ExplainedStep): JsonObject {
  return {
    step,
    phase,
    ...(round > 0 && { round }),
    ms: rounded(millis),
    ...(changed.length > 0 && { changed: [...changed] }),
    ...(refused !== undefined && { refused }),
    ...(note !== undefined && { note }),
  };
}

function sentence({ phase, round, millis, changed, refused, note }: ExplainedStep): string {
  const parts = [`${phase}${round > 0 ? ' again' : ''}: ${rounded(millis)} ms`];
  if (changed.length > 0) parts.push(`changed ${changed.join(' ')}`);
  if (note !== undefined) parts.push(note);
  if (refused !== undefined) parts.push(`refused: ${refused}`);
  return parts.join(', ');
}

/** The differences between two values, as marked JSON pointers. */
export function changes(before: JsonValue, after: JsonValue): string[] {
  const changeTexts: string[] = [];
  let more = 0;
  const report = (text: string): void => {
    if (changeTexts.length < MAX_CHANGES) changeTexts.push(text);
    else more++;
  };
  const compare = (a: JsonValue | undefined, b: JsonValue | undefined, path: string): void => {
    if (a === b) return;
    if (a === undefined || b === undefined) {
      report(`${a === undefined ? '+' : '-'}${path}`);
      return;
    }
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) {
      if (jsonText(a) !== jsonText(b)) report(`~${path}`);
      return;
    }
    const left = a as JsonObject;
    const right = b as JsonObject;
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      compare(own(left, key), own(right, key), `${path}/${escaped(key)}`);
  };
  compare(before, after, '');
  return more === 0 ? changeTexts : [...changeTexts, `(${more} more)`];
}
const escaped = (key: string): string => key.replace(/~/g, '~0').replace(/\//g, '~1');
