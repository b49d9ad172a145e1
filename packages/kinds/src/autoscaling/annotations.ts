/**
 * Values that an older version of an autoscaler has no fields for are annotations of the object in that version;
 * the hub has none of them. Malformed text is dropped.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { decodeValue } from '@plat-dev/schema/json/decode';
import { parseExact } from '@plat-dev/schema/json/parse';
import { list, type Type } from '@plat-dev/schema/types';
import { compact } from '../compact.ts';
import type { ObjectMeta } from '../meta.ts';
import * as old from './schema/v1-annotations.ts';
import * as v2 from './schema/v2.ts';
import * as flat from './schema/v2beta1.ts';

export interface Notes {
  metrics?: flat.MetricSpec[];
  currentMetrics?: flat.MetricStatus[];
  conditions?: v2.HorizontalPodAutoscalerCondition[];
  behavior?: v2.HorizontalPodAutoscalerBehavior;
}

interface Note {
  readonly name: string;
  write(value: never): string;
  read(text: string): unknown;
}
/** Version 1 leaves out empty fields; reading it restores the required ones. */
const typed = (name: string, writtenType: Type, read: Type = writtenType): Note => ({
  name,
  write: (value) => encode(writtenType, value),
  read: (text) => decodeValue(read, parseExact(text)),
});
const notes: Readonly<Record<keyof Notes, Note>> = {
  behavior: { name: 'behavior', write: behaviorText, read: readBehavior },
  conditions: typed('conditions', list(old.HorizontalPodAutoscalerCondition), list(v2.HorizontalPodAutoscalerCondition)),
  currentMetrics: typed('current-metrics', list(old.MetricStatus), list(flat.MetricStatus)),
  metrics: typed('metrics', list(old.MetricSpec), list(flat.MetricSpec)),
};
const keys = Object.keys(notes) as (keyof Notes)[];
const annotation = (identity: Identity, key: keyof Notes): QualifiedName => domainName(identity, notes[key].name, 'autoscaling.alpha');

/** Adds the annotations for the given values. */
export function writeNotes(metadata: ObjectMeta, identity: Identity, autoscalingNotes: Notes): void {
  for (const key of keys) {
    const value = autoscalingNotes[key];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    metadata.annotations ??= {};
    metadata.annotations[annotation(identity, key)] = notes[key].write(value as never);
  }
}

/** The values of the annotations, which are kept. */
export function readNotes(metadata: ObjectMeta | undefined, identity: Identity): Notes {
  const readFields: Record<string, unknown> = {};
  for (const key of keys) {
    const text = metadata?.annotations?.[annotation(identity, key)];
    if (text === undefined) continue;
    try {
      readFields[key] = notes[key].read(text);
    } catch {
      // Malformed text is ignored.
    }
  }
  return readFields;
}

/** Drops empty annotations. */
export function dropIdleNotes(metadata: ObjectMeta, identity: Identity): void {
  const read = readNotes(metadata, identity);
  dropNotes(metadata, identity, (key) => {
    const value = read[key];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  });
}

export function dropNotes(metadata: ObjectMeta | undefined, identity: Identity, which: (key: keyof Notes) => boolean = () => true): void {
  const { annotations } = metadata ?? {};
  if (metadata === undefined || annotations === undefined) return;
  for (const key of keys) if (which(key)) delete annotations[annotation(identity, key)];
  if (Object.keys(annotations).length === 0) delete metadata.annotations;
}

// ---- behaviour ---------------------------------------------------------------------------------------------------

type Rules = v2.HPAScalingRules;

/** Here the names of fields begin with capitals, and absent values are null. */
function behaviorText({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior): string {
  return jsonText({ ScaleUp: capitalRules(scaleUp), ScaleDown: capitalRules(scaleDown) });
}
function capitalRules(rules: Rules | undefined): object | null {
  if (rules === undefined) return null;
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies: rules.policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ?? null,
  };
}

function readBehavior(text: string): v2.HorizontalPodAutoscalerBehavior | undefined {
  const behavior = decode(v2.HorizontalPodAutoscalerBehavior, uncapitalized(parseExact(text)));
  return behavior.scaleUp === undefined && behavior.scaleDown === undefined ? undefined : behavior;
}
/** The same value with names of fields that begin with a small letter; nulls are left out. */
function uncapitalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(uncapitalized);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name.charAt(0).toLowerCase() + name.slice(1),
    field === null ? undefined : uncapitalized(field),
  ]);
  return compact(Object.fromEntries(entries));
}
