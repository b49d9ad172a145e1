/**
 * Whether a text holds a match of a pattern, in time that grows with the length of the text alone: a user that may write objects
 * cannot hold up the server with a text that a pattern tries in a million ways.
 *
 * The tree becomes a net of steps; a text is read once, and with each character the set of steps that may come next moves
 * on. Sets that were met before are found again, so that most characters cost one look into a table.
 */
import type { Look, Tree } from './parse.ts';
import { type CharSet, includes, lineEnd, wordChars } from './sets.ts';

type PatternNode =
  | { readonly step: 'char'; readonly set: CharSet; readonly next: number }
  | { readonly step: 'look'; readonly look: Look; readonly next: number }
  | { readonly step: 'fork'; readonly ways: number[] }
  | { readonly step: 'match' };

/** Counts the work of matching, and throws where that is too much. */
export interface Meter {
  /** Steps of a pattern that are looked at: some ten nanoseconds each. */
  spend(steps: number): void;
  /** Characters of a text that are read: some nanoseconds each. */
  read(characters: number): void;
}

/** Steps of one pattern; what needs more is no pattern that a person wrote. */
export const MOST_STEPS = 10_000;
/** Sets of steps that are kept for one pattern; beyond it all are forgotten. */
const MOST_STATES = 500;

export class TooLarge extends Error {}

class Net {
  readonly steps: PatternNode[] = [];
  private readonly meter: Meter;

  constructor(meter: Meter) {
    this.meter = meter;
  }
  add(step: PatternNode): number {
    if (this.steps.length >= MOST_STEPS) throw new TooLarge();
    this.meter.spend(1);
    return this.steps.push(step) - 1;
  }
  /** The first step of a tree that goes on with `next`. */
  build(tree: Tree, next: number): number {
    switch (tree.node) {
      case 'char':
        return this.add({ step: 'char', set: tree.set, next });
      case 'look':
        return this.add({ step: 'look', look: tree.look, next });
      case 'choice':
        return this.add({ step: 'fork', ways: tree.parts.map((part) => this.build(part, next)) });
      case 'sequence':
        return tree.parts.reduceRight((then, part) => this.build(part, then), next);
      case 'repeat': {
        let then = tree.most === undefined ? this.loop(tree.part, tree.lazy, next) : next;
        for (let i = tree.least; i < (tree.most ?? 0); i++)
          then = this.add({ step: 'fork', ways: preferred(tree.lazy, this.build(tree.part, then), next) });
        for (let i = 0; i < tree.least; i++) then = this.build(tree.part, then);
        return then;
      }
    }
  }
  private loop(part: Tree, lazy: boolean, next: number): number {
    const ways: number[] = [];
    const fork = this.add({ step: 'fork', ways });
    ways.push(...preferred(lazy, this.build(part, fork), next));
    return fork;
  }
}
/** The ways of a repetition, the one that is tried first in front: it matters for which match is found, not for whether there is one. */
const preferred = (lazy: boolean, again: number, next: number): number[] => (lazy ? [next, again] : [again, next]);

/** The characters next to a position in a text. */
const EDGE = 1;
const WORD = 2;
const LINE = 4;

interface State {
  /** Steps that may come next, before it is known what does. */
  readonly steps: readonly number[];
  /** What stands before. */
  readonly previousChar: number;
  /** By the class of the next character. */
  readonly next: (State | undefined)[];
  /** Whether the text may end here. */
  end: boolean | undefined;
}

/** A way through the pattern that is followed: the step it is at, and where in the text it began. */
interface Thread {
  readonly at: number;
  readonly begin: number;
}

const matched: State = { steps: [], previousChar: 0, next: [], end: true };

export class Matcher {
  private readonly steps: readonly PatternNode[];
  private readonly start: number;
  /** A match can only begin where the text does. */
  private readonly anchored: boolean;
  /** First characters of the classes that the pattern does not distinguish. */
  private readonly bounds: readonly number[];
  private readonly ascii: Uint16Array;
  /** EDGE, WORD and LINE of every class. */
  private readonly kinds: readonly number[];
  private readonly members: Map<CharSet, Uint8Array>;
  private states = new Map<string, State>();
  private first: State;
  /** Steps that compiling the pattern took. */
  readonly cost: number;
  meter: Meter;

  /**
   * From a matcher: the same pattern without the sets that the other has met, so that what a search costs depends on the texts that
   * this one searches alone.
   */
  constructor(from: Tree | Matcher, meter: Meter) {
    let spent = 0;
    const counting: Meter = {
      spend(steps) {
        spent += steps;
        meter.spend(steps);
      },
      read: () => undefined,
    };
    this.meter = counting;
    if (from instanceof Matcher) {
      this.start = from.start;
      this.steps = from.steps;
      this.bounds = from.bounds;
      this.kinds = from.kinds;
      this.ascii = from.ascii;
      this.members = from.members;
      this.anchored = from.anchored;
    } else {
      const net = new Net(counting);
      this.start = net.build(from, net.add({ step: 'match' }));
      this.steps = net.steps;
      this.bounds = boundsOf(net.steps);
      this.kinds = this.bounds.map((code) => (includes(wordChars, code) ? WORD : 0) | (includes(lineEnd, code) ? LINE : 0));
      this.ascii = Uint16Array.from({ length: 128 }, (_, code) => this.classOf(code));
      this.members = new Map();
      this.anchored = this.reach([this.start], undefined, 0).length === 0;
    }
    this.first = this.state([this.start], EDGE);
    this.cost = spent;
    this.meter = meter;
  }

  /** How many steps the pattern has. */
  get size(): number {
    return this.steps.length;
  }

  test(text: string): boolean {
    const { ascii } = this;
    this.meter.read(text.length);
    let state = this.first;
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
        code = text.codePointAt(i) as number;
        if (code > 0xffff) i++;
      }
      const kind = code < 128 ? (ascii[code] as number) : this.classOf(code);
      state = state.next[kind] ?? this.move(state, kind);
      if (state === matched) return true;
      if (this.anchored && state.steps.length === 0) return false;
    }
    state.end ??= this.reach(state.steps, state.previousChar, EDGE).includes(MATCH);
    return state.end;
  }

  /**
   * The first match from a place on, as its begin and end: of those that begin first the one that the pattern prefers. Undefined
   * where there is none.
   */
  find(text: string, from: number): readonly [number, number] | undefined {
    let longest: readonly [number, number] | undefined;
    let open: Thread[] = [];
    for (let at = from; ; ) {
      if (longest === undefined && (at === 0 || !this.anchored)) open.push({ at: this.start, begin: at });
      if (open.length === 0) return longest;
      const code = text.codePointAt(at);
      const kind = code === undefined ? undefined : this.classOf(code);
      const after = kind === undefined ? EDGE : (this.kinds[kind] as number);
      const next: Thread[] = [];
      for (const thread of this.reachInOrder(open, this.kindBefore(text, at), after)) {
        if (thread.at === MATCH) {
          longest = [thread.begin, at];
          break;
        }
        const step = this.steps[thread.at] as PatternNode;
        if (kind !== undefined && step.step === 'char' && this.membersOf(step.set)[kind] === 1)
          next.push({ at: step.next, begin: thread.begin });
      }
      if (code === undefined) return longest;
      open = next;
      at += code > 0xffff ? 2 : 1;
    }
  }
  private kindBefore(text: string, at: number): number {
    if (at === 0) return EDGE;
    // Half a character is no word and no end of a line, just as a whole one of two halves.
    return this.kinds[this.classOf(text.charCodeAt(at - 1))] as number;
  }
  /** The same as `reach`, in the order of preference. */
  private reachInOrder(open: readonly Thread[], previousChar: number, after: number): Thread[] {
    const visited = new Set<number>();
    const threads: Thread[] = [];
    const waiting = open.toReversed();
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      if (visited.has(thread.at)) continue;
      visited.add(thread.at);
      const step = this.steps[thread.at] as PatternNode;
      if (step.step === 'char' || step.step === 'match') threads.push(thread);
      else if (step.step === 'look') {
        if (holds(step.look, previousChar, after)) waiting.push({ at: step.next, begin: thread.begin });
      } else for (const way of step.ways.toReversed()) waiting.push({ at: way, begin: thread.begin });
    }
    this.meter.spend(5 * (visited.size + 1));
    return threads;
  }

  /** The class of a character: the last bound that is not beyond it. */
  private classOf(code: number): number {
    let low = 0;
    let high = this.bounds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.bounds[middle] as number) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private move(from: State, kind: number): State {
    const after = this.kinds[kind] as number;
    const next = new Set<number>();
    for (const at of this.reach(from.steps, from.previousChar, after)) {
      if (at === MATCH) return this.remember(from, kind, matched);
      const step = this.steps[at] as PatternNode;
      if (step.step === 'char' && this.membersOf(step.set)[kind] === 1) next.add(step.next);
    }
    if (!this.anchored) next.add(this.start);
    return this.remember(
      from,
      kind,
      this.state(
        [...next].sort((a, b) => a - b),
        after,
      ),
    );
  }
  private remember(from: State, kind: number, to: State): State {
    from.next[kind] = to;
    return to;
  }
  private state(steps: readonly number[], previousChar: number): State {
    // To sort the steps and to write them as a key takes longer than to reach them.
    this.meter.spend(2 * steps.length);
    const key = `${previousChar}:${steps.join()}`;
    let state = this.states.get(key);
    if (state === undefined) {
      if (this.states.size >= MOST_STATES) {
        this.states = new Map();
        this.first = { ...this.first, next: [] };
      }
      state = { steps, previousChar, next: [], end: undefined };
      this.states.set(key, state);
    }
    return state;
  }

  private membersOf(set: CharSet): Uint8Array {
    let members = this.members.get(set);
    if (members === undefined) {
      members = Uint8Array.from(this.bounds, (code) => (includes(set, code) ? 1 : 0));
      this.members.set(set, members);
    }
    return members;
  }

  /** Steps over a character, and the match, that can be had from here without one. `previousChar` undefined: somewhere, but not at the beginning. */
  private reach(from: readonly number[], previousChar: number | undefined, after: number): number[] {
    const visited = new Set<number>(from);
    const open = [...from];
    const reachedSteps: number[] = [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const step = this.steps[at] as PatternNode;
      if (step.step === 'char' || step.step === 'match') {
        reachedSteps.push(at);
        continue;
      }
      const ways = step.step === 'fork' ? step.ways : holds(step.look, previousChar, after) ? [step.next] : [];
      for (const way of ways)
        if (!visited.has(way)) {
          visited.add(way);
          open.push(way);
        }
    }
    this.meter.spend(visited.size);
    return reachedSteps;
  }
}
/** The first step that is made. */
const MATCH = 0;

function holds(look: Look, previousChar: number | undefined, after: number): boolean {
  if (previousChar === undefined) return look !== 'begin';
  switch (look) {
    case 'begin':
      return (previousChar & EDGE) !== 0;
    case 'end':
      return (after & EDGE) !== 0;
    case 'lineBegin':
      return (previousChar & (EDGE | LINE)) !== 0;
    case 'lineEnd':
      return (after & (EDGE | LINE)) !== 0;
    case 'word':
      return ((previousChar ^ after) & WORD) !== 0;
    case 'notWord':
      return ((previousChar ^ after) & WORD) === 0;
  }
}

/** Where one class of characters ends and the next begins. */
function boundsOf(steps: readonly PatternNode[]): number[] {
  const bounds = new Set([0]);
  const split = (set: CharSet): void => {
    for (let i = 0; i < set.length; i += 2) {
      bounds.add(set[i] as number);
      bounds.add((set[i + 1] as number) + 1);
    }
  };
  split(wordChars);
  split(lineEnd);
  for (const set of new Set(steps.flatMap((step) => (step.step === 'char' ? [step.set] : [])))) split(set);
  return [...bounds].filter((code) => code <= 0x10ffff).sort((a, b) => a - b);
}
