/**
 * Which versions of objects are kept, and for how long.
 *
 *   secrets=7d,values                  Secrets with their values, for a week
 *   pods@ci=1h                         pods of the namespace ci
 *   *@team-a=30d                       everything in the namespace team-a that no rule of its kind names
 *   leases.coordination.plat.dev=never
 *
 * The most specific rule counts for each setting: kind, group and namespace; kind and namespace; kind and group; kind; namespace; all.
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { parseDuration } from '@plat-dev/lib/time';
import { baseGroup, type Identity } from '@plat-dev/meta/identity';
import type { HistoryPolicy, HistoryRule } from '@plat-dev/storage/history';

interface HistorySettings {
  readonly retentionMs?: number;
  readonly values?: boolean;
  readonly mostBytesPerKey?: number;
}
interface RuleOfHistory {
  /** Plural name, or `*`. */
  readonly plural: string;
  /** Full name; undefined: any. */
  readonly group: string | undefined;
  /** Undefined: any. */
  readonly namespace: string | undefined;
  readonly settings: HistorySettings;
}

interface HistoryOptions {
  readonly retentionMs: number;
  readonly rules: readonly string[];
  readonly mostBytes: number;
}

const MOST_BYTES_PER_OBJECT = 4 * 2 ** 20;
/** Events and Leases change all the time and tell little; values of Secrets are not kept in more places than needed. */
const defaultRules: readonly RuleOfHistory[] = [
  { plural: 'events', group: undefined, namespace: undefined, settings: { retentionMs: 0 } },
  { plural: 'leases', group: undefined, namespace: undefined, settings: { retentionMs: 0 } },
  { plural: 'secrets', group: undefined, namespace: undefined, settings: { values: false } },
];

/** Throws an Error that says what is wrong with a rule. */
export function historyPolicy(identity: Identity, { retentionMs, rules, mostBytes }: HistoryOptions): HistoryPolicy {
  const allRules = [...rules.map(readHistoryRule), ...defaultRules];
  // The first of equally specific rules counts: those that were given come before the default ones, later ones before earlier.
  const ordered = allRules.map((rule, i) => ({ rule, rank: rankOf(rule), at: i < rules.length ? -i : i }));
  ordered.sort((a, b) => b.rank - a.rank || a.at - b.at);
  const resolved = new BoundedCache<string, { readonly rule: HistoryRule | undefined }>(MOST_RESOLVED);
  const namespaces = new Set(ordered.flatMap(({ rule }) => (rule.namespace === undefined ? [] : [rule.namespace])));
  const ruleFor = (group: string, plural: string, namespace: string): HistoryRule | undefined => {
    const matching = ordered.filter(({ rule }) => matches(identity, rule, group, plural, namespace)).map(({ rule }) => rule.settings);
    const setting = <K extends keyof HistorySettings>(name: K): HistorySettings[K] =>
      matching.find((one) => one[name] !== undefined)?.[name];
    const retention = setting('retentionMs') ?? retentionMs;
    if (retention === 0) return undefined;
    return {
      retentionMs: retention,
      values: setting('values') ?? true,
      mostBytesPerKey: setting('mostBytesPerKey') ?? MOST_BYTES_PER_OBJECT,
    };
  };
  return {
    // A store that was kept by other rules is looked through again.
    id: JSON.stringify({ retentionMs, rules: allRules }),
    mostBytes,
    ruleOf: (key) => {
      // Namespaces that no rule names share one entry.
      const name = namespaces.size === 0 ? kindPart(key) : namedPart(key, namespaces);
      const entry = resolved.get(name);
      if (entry !== undefined) return entry.rule;
      const { group, plural, namespace } = placeOf(key);
      const rule = plural === '' || notObjects.has(group) ? undefined : ruleFor(group, plural, namespace);
      resolved.set(name, { rule });
      return rule;
    },
  };
}
/** Kinds times the namespaces that rules name. */
const MOST_RESOLVED = 10_000;
/** What the store holds besides objects of the API. */
const notObjects: ReadonlySet<string> = new Set(['alloc', 'cluster']);

/** `core/pods/ci/web` → `core/pods`. */
function kindPart(key: string): string {
  const end = key.indexOf('/', key.indexOf('/') + 1);
  return end < 0 ? key : key.slice(0, end);
}
/** `core/pods/ci/web` → `core/pods/ci` where a rule names the namespace, else `core/pods`. */
function namedPart(key: string, namespaces: ReadonlySet<string>): string {
  const { namespace } = placeOf(key);
  return namespaces.has(namespace) ? `${kindPart(key)}/${namespace}` : kindPart(key);
}

/** `core/pods/ci/web` → core, pods, ci; `~example.com/seeds/ci/a` → ~example.com, seeds, ci. */
function placeOf(key: string): { group: string; plural: string; namespace: string } {
  const first = key.indexOf('/');
  const second = key.indexOf('/', first + 1);
  if (first < 0 || second < 0) return { group: key, plural: '', namespace: '' };
  const third = key.indexOf('/', second + 1);
  return {
    group: key.slice(0, first),
    plural: key.slice(first + 1, second),
    namespace: third < 0 ? '' : key.slice(second + 1, third),
  };
}

function matches(identity: Identity, rule: RuleOfHistory, group: string, plural: string, namespace: string): boolean {
  if (rule.namespace !== undefined && rule.namespace !== namespace) return false;
  if (rule.plural !== '*' && rule.plural !== plural) return false;
  return rule.group === undefined || storedGroup(identity, rule.group) === group;
}
/** As it stands in keys. */
function storedGroup(identity: Identity, group: string): string {
  const base = baseGroup(identity, group);
  return base === undefined ? `~${group}` : base === '' ? 'core' : base;
}

/** The more specific a rule, the higher. */
const rankOf = ({ plural, group, namespace }: RuleOfHistory): number =>
  (plural === '*' ? 0 : 4) +
  (plural !== '*' && namespace !== undefined ? 2 : 0) +
  (group !== undefined || (plural === '*' && namespace !== undefined) ? 1 : 0);

const FORM = 'KIND[.GROUP][@NAMESPACE]=SETTING,… such as secrets=7d,values or *@team-a=30d';

/** The rules as they were given. Throws an Error that says what is wrong. */
export function readHistoryRules(values: readonly string[]): readonly string[] {
  for (const value of values) readHistoryRule(value);
  return values;
}
function readHistoryRule(text: string): RuleOfHistory {
  const match = /^([^=@\s]+)(?:@([^=@\s]+))?=([^=]+)$/.exec(text.trim());
  if (match === null) throw new Error(`${JSON.stringify(text)} is not of the form ${FORM}`);
  const [, kind = '', namespace, settings = ''] = match;
  if (!/^(\*|[a-z][a-z0-9]*(\.[a-z0-9.-]+)?)$/.test(kind))
    throw new Error(`${JSON.stringify(kind)} is not the plural name of a kind in lower case, with its group or without, nor *`);
  const dot = kind.indexOf('.');
  return {
    plural: dot < 0 ? kind : kind.slice(0, dot),
    group: dot < 0 ? undefined : kind.slice(dot + 1),
    namespace,
    settings: readSettings(settings),
  };
}

function readSettings(text: string): HistorySettings {
  const settings: { -readonly [K in keyof HistorySettings]: HistorySettings[K] } = {};
  for (const word of text.split(',').map((part) => part.trim())) {
    if (word === 'values' || word === 'novalues') settings.values = word === 'values';
    else if (word === 'never') settings.retentionMs = 0;
    else if (/^\d+(Ki|Mi|Gi)$/.test(word)) settings.mostBytesPerKey = readBytes(word);
    else settings.retentionMs = readSpan(word);
  }
  return settings;
}

/** A duration, of which days may be a part: `7d`, `1d12h`, `30m`. Milliseconds. */
export function readSpan(text: string): number {
  const match = /^(?:(\d{1,6})d)?(.*)$/s.exec(text) as RegExpExecArray;
  const [, days = '0', rest = ''] = match;
  const millis = Number(days) * 24 * 3600 * 1000 + (rest === '' && match[1] !== undefined ? 0 : Number(parseRest(text, rest) / 1_000_000n));
  if (millis < 0) throw new Error(`${text} is negative`);
  return millis;
}
function parseRest(text: string, rest: string): bigint {
  try {
    return parseDuration(rest);
  } catch {
    throw new Error(`${JSON.stringify(text)} is neither a duration such as 7d or 90m, nor never, values, novalues or a size such as 4Mi`);
  }
}

/** `64Mi` → 67108864; a number alone is bytes. */
export function readBytes(text: string): number {
  const match = /^(\d{1,12})(Ki|Mi|Gi)?$/.exec(text);
  if (match === null) throw new Error(`${JSON.stringify(text)} is not a number of bytes such as 64Mi`);
  return Number(match[1]) * (units.get(match[2] ?? '') ?? 1);
}
const units: ReadonlyMap<string, number> = new Map([
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
]);
