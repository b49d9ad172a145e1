/**
 * Objects that select others by labels: services, budgets, sets, jobs. Their selectors are compiled once for each version of an object,
 * and a change finds those that it may concern by a label that they require.
 *
 *   web: app=web, tier in (a, b)     found by app=web
 *   all: !debug                      found by every change
 */
import type { Informer } from '@plat-dev/client/informer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { own } from '@plat-dev/lib/own';
import { isTurnUsed, Slices } from '@plat-dev/lib/slices';
import { fromLabelSelector, type LabelSelector, type LabelSelectorObject, type Labels } from '@plat-dev/meta/labels';

/** A required label of a selector; without values it only has to be there. */
interface RequiredLabel {
  readonly key: string;
  readonly values: readonly string[];
}
/** Beyond so many values only the key of a requirement is used. */
const MOST_VALUES = 16;
/** With more keys than this, the labels of an object are fewer than those of an index. */
const MANY_KEYS = 64;

/** The objects of one namespace by a label that they require. */
class ByLabel<T> {
  private readonly byKey = new Map<string, Map<string | undefined, Set<T>>>();
  private readonly others = new Set<T>();

  add(object: T, required: RequiredLabel | undefined): void {
    if (required === undefined) {
      this.others.add(object);
      return;
    }
    const values = this.byKey.get(required.key) ?? new Map<string | undefined, Set<T>>();
    this.byKey.set(required.key, values);
    for (const value of valuesOf(required)) {
      const objects = values.get(value) ?? new Set<T>();
      values.set(value, objects.add(object));
    }
  }
  remove(object: T, required: RequiredLabel | undefined): void {
    if (required === undefined) {
      this.others.delete(object);
      return;
    }
    const values = this.byKey.get(required.key);
    for (const value of valuesOf(required)) {
      const objects = values?.get(value);
      if (objects?.delete(object) && objects.size === 0) values?.delete(value);
    }
    if (values?.size === 0) this.byKey.delete(required.key);
  }
  get isEmpty(): boolean {
    return this.byKey.size === 0 && this.others.size === 0;
  }
  /** Those that may select an object with such labels. */
  *candidates(labels: Labels): Generator<T> {
    yield* this.others;
    if (this.byKey.size < MANY_KEYS) for (const key of this.byKey.keys()) yield* this.requiring(key, own(labels, key));
    else for (const key in labels) yield* this.requiring(key, labels[key]);
  }
  private *requiring(key: string, value: string | undefined): Generator<T> {
    if (value === undefined) return;
    const values = this.byKey.get(key);
    yield* values?.get(value) ?? [];
    yield* values?.get(undefined) ?? [];
  }
}
/** Undefined stands for any value. */
const valuesOf = ({ values }: RequiredLabel): readonly (string | undefined)[] => (values.length === 0 ? [undefined] : values);

type Followed<T extends ApiObject> = Pick<Informer<T>, 'onChange' | 'list'>;

export class SelectorIndex<T extends ApiObject> {
  private readonly informer: Followed<T>;
  private readonly selectorIn: (object: T) => LabelSelectorObject | undefined;
  private readonly compiled = new WeakMap<T, LabelSelector | null>();
  private readonly namespaces = new Map<string, ByLabel<T>>();
  /** Namespaces whose changes took the time of this turn: what to call with each of their objects. */
  private readonly deferred = new Map<string, Set<(object: T) => void>>();

  /** `selectorIn`: undefined for an object that selects nothing. Make it before other listeners, which then find it up to date. */
  constructor(informer: Followed<T>, selectorIn: (object: T) => LabelSelectorObject | undefined) {
    this.informer = informer;
    this.selectorIn = selectorIn;
    informer.onChange(({ type, object, old }) => {
      if (old !== undefined) this.remove(old);
      if (type !== 'deleted') this.add(object);
    });
  }
  /** Undefined for a selector that is not valid, which selects nothing. */
  selectorOf(object: T): LabelSelector | undefined {
    let selector = this.compiled.get(object);
    if (selector === undefined) {
      try {
        selector = fromLabelSelector(this.selectorIn(object));
      } catch {
        selector = null;
      }
      this.compiled.set(object, selector);
    }
    return selector ?? undefined;
  }
  /**
   * Calls with each object of a namespace that selects what has these labels. Where the changes of one turn take long, it calls with
   * every object of the namespace, at once and again after the turn: the work on each finds out what it selects. So a caller gives
   * the same function for all changes.
   */
  forLabels(namespace: string, labels: Labels | undefined, call: (object: T) => void): void {
    const index = this.namespaces.get(namespace);
    if (index === undefined || this.deferred.get(namespace)?.has(call)) return;
    for (const object of index.candidates(labels ?? {})) {
      if (isTurnUsed()) {
        this.forAllAfterTurn(namespace, call);
        return;
      }
      if (this.selectorOf(object)?.matches(labels)) call(object);
    }
  }

  private forAllAfterTurn(namespace: string, call: (object: T) => void): void {
    if (this.deferred.size === 0)
      inNextTurn(() => {
        const deferredLooks = [...this.deferred];
        this.deferred.clear();
        for (const [of, calls] of deferredLooks) for (const one of calls) this.forAll(of, one);
      });
    this.deferred.set(namespace, (this.deferred.get(namespace) ?? new Set()).add(call));
    this.forAll(namespace, call);
  }
  private forAll(namespace: string, call: (object: T) => void): void {
    for (const object of this.informer.list(namespace)) if (this.selectorIn(object) !== undefined) call(object);
  }
  private add(object: T): void {
    const selector = this.selectorIn(object);
    if (selector === undefined) return;
    const { namespace = '' } = object.metadata;
    let index = this.namespaces.get(namespace);
    if (index === undefined) {
      index = new ByLabel();
      this.namespaces.set(namespace, index);
    }
    index.add(object, requiredBy(selector));
  }
  private remove(object: T): void {
    const selector = this.selectorIn(object);
    const { namespace = '' } = object.metadata;
    const index = this.namespaces.get(namespace);
    if (selector === undefined || index === undefined) return;
    index.remove(object, requiredBy(selector));
    if (index.isEmpty) this.namespaces.delete(namespace);
  }
}

function requiredBy({ matchLabels, matchExpressions }: LabelSelectorObject): RequiredLabel | undefined {
  for (const key in matchLabels) return { key, values: [matchLabels[key] as string] };
  const requirement = matchExpressions?.find(({ operator }) => operator === 'In' || operator === 'Exists');
  if (requirement === undefined) return undefined;
  const { key, values = [] } = requirement;
  return { key, values: values.length > MOST_VALUES ? [] : values };
}

/** Those of some objects that a selector selects. */
export async function selectedBy<O extends ApiObject>(selector: LabelSelector, objects: Iterable<O>): Promise<O[]> {
  const selectedObjects: O[] = [];
  const slices = new Slices();
  // They may change while others are due.
  for (const object of [...objects]) {
    if (slices.due) await slices.pause();
    if (selector.matches(object.metadata.labels)) selectedObjects.push(object);
  }
  return selectedObjects;
}
