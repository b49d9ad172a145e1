/**
 * Whether what clients saw of one object can be explained by an order of its operations, each at one moment between its call
 * and its answer (linearizability). The search is that of Wing and Gong, with the memory of states that Lowe added.
 *
 *   A  create a ─────────── created, revision 5
 *   B        get ──── missing        get ──── a, revision 5            can be explained
 *   B        get ──── a, revision 5          get ──── missing          cannot: nobody deletes it
 *
 * An operation whose outcome is unknown may have happened at any time after its call, or never.
 */
export type Outcome =
  /** A write that happened; 0 where the answer does not tell the revision. */
  | { readonly type: 'done'; readonly revision: number }
  | { readonly type: 'found'; readonly token: string; readonly revision: number }
  | { readonly type: 'missing' | 'exists' | 'conflict' | 'unknown' };

export interface Operation {
  readonly kind: 'create' | 'update' | 'delete' | 'get';
  /** Moments of one clock. An unknown outcome has no end. */
  readonly start: number;
  readonly end: number;
  /** What a create or update writes; no two write the same. */
  readonly token?: string;
  /** Revision that an update or delete demands. */
  readonly guard?: number | undefined;
  readonly outcome: Outcome;
}

export type Verdict = { readonly result: 'ok' | 'undecided' } | { readonly result: 'violation'; readonly text: string };

interface State {
  readonly present: boolean;
  readonly token: string;
  /** 0: nobody ever learned it. */
  readonly revision: number;
  /** The highest revision so far: those of one object only grow. */
  readonly highest: number;
}
const ABSENT: State = { present: false, token: '', revision: 0, highest: 0 };
/** Steps after which a history counts as undecided; an honest one needs little more than it has operations. */
const MOST_STEPS = 2_000_000;

interface Node {
  readonly operation: Operation;
  readonly index: number;
  /** Of a call: its answer; undefined for an answer, and for a call that has none. */
  answer: Node | undefined;
  readonly call: boolean;
  previous: Node | undefined;
  next: Node | undefined;
}

/** `revisions`: what is known from elsewhere of the revisions at which tokens were written. */
export function checkObject(operations: readonly Operation[], revisions: ReadonlyMap<string, number> = new Map()): Verdict {
  const needed = operations.filter(({ kind, outcome }) => kind !== 'get' || outcome.type !== 'unknown');
  const head = listOf(needed);
  const linearized = new Uint8Array(needed.length);
  const seen = new Set<string>();
  const stack: { node: Node; state: State; last: number; forced: boolean }[] = [];
  let state = ABSENT;
  let last = -1;
  let best = -1;
  let bestState = state;
  let stuck: Operation | undefined;
  let node = head.next;
  let definite = needed.filter(({ outcome }) => outcome.type !== 'unknown').length;
  const take = (taken: Node, next: State, forced: boolean) => {
    stack.push({ node: taken, state, last, forced });
    if (next !== state) last = taken.index;
    state = next;
    if (taken.operation.outcome.type !== 'unknown') definite--;
    linearized[taken.index] = 1;
    lift(taken);
    // What leaves the state as it is can only help where it fits, so that nothing else need be tried in its place.
    const read = readable(head, state, revisions);
    if (read !== undefined) take(read, state, true);
    else node = head.next;
  };
  const first = readable(head, state, revisions);
  if (first !== undefined) take(first, state, true);
  for (let steps = 0; definite > 0; steps++) {
    if (steps > MOST_STEPS) return { result: 'undecided' };
    if (node?.call) {
      const tried: Node = node;
      node = node.next;
      const next = apply(state, tried.operation, revisions);
      if (next === undefined || next === state) continue;
      linearized[tried.index] = 1;
      const key = `${tried.index}:${Buffer.from(linearized).toString('latin1')}`;
      linearized[tried.index] = 0;
      if (seen.has(key)) continue;
      seen.add(key);
      take(tried, next, false);
      continue;
    }
    // An answer whose operation found no place, or nothing left but calls without answers that do not help.
    if (stack.length > best) {
      best = stack.length;
      bestState = state;
      stuck = node?.operation;
    }
    for (let forced = true; forced; ) {
      const undone = stack.pop();
      if (undone === undefined) return { result: 'violation', text: explain(stuck, bestState, best, needed.length) };
      unlift(undone.node);
      linearized[undone.node.index] = 0;
      if (undone.node.operation.outcome.type !== 'unknown') definite++;
      ({ state, last, forced } = undone);
      node = undone.node.next;
    }
  }
  return { result: 'ok' };
}

/** An operation that may come next and leaves the state as it is. */
function readable(head: Node, state: State, revisions: ReadonlyMap<string, number>): Node | undefined {
  for (let node = head.next; node?.call; node = node.next) if (apply(state, node.operation, revisions) === state) return node;
  return undefined;
}

/** The state after an operation with this outcome; undefined when the outcome is impossible here. */
function apply(state: State, operation: Operation, revisions: ReadonlyMap<string, number>): State | undefined {
  const { kind, outcome, guard } = operation;
  const matches = guard === undefined || guard === state.revision;
  switch (outcome.type) {
    case 'found':
      return state.present && state.token === outcome.token && (state.revision === 0 || state.revision === outcome.revision)
        ? state
        : undefined;
    case 'missing':
      return state.present ? undefined : state;
    case 'exists':
      return state.present ? state : undefined;
    case 'conflict':
      return state.present && !matches ? state : undefined;
    default: {
      if (kind === 'get') return state;
      if (state.present !== (kind !== 'create') || !matches) return undefined;
      if (kind === 'delete') return { ...ABSENT, highest: Math.max(state.highest, state.revision) };
      const token = operation.token as string;
      const revision = outcome.type === 'done' ? outcome.revision : (revisions.get(token) ?? 0);
      if (revision !== 0 && revision <= state.highest) return undefined;
      return { present: true, token, revision, highest: Math.max(state.highest, revision) };
    }
  }
}

/** Calls and answers in the order of their time; a call before an answer of the same moment. */
function listOf(operations: readonly Operation[]): Node {
  const nodes: { at: number; node: Node }[] = [];
  operations.forEach((operation, index) => {
    const make = (call: boolean): Node => ({ operation, index, answer: undefined, call, previous: undefined, next: undefined });
    const call = make(true);
    nodes.push({ at: operation.start, node: call });
    if (operation.outcome.type === 'unknown') return;
    call.answer = make(false);
    nodes.push({ at: operation.end, node: call.answer });
  });
  nodes.sort((a, b) => a.at - b.at || Number(b.node.call) - Number(a.node.call));
  const head: Node = { operation: {} as Operation, index: -1, answer: undefined, call: false, previous: undefined, next: undefined };
  let tail = head;
  for (const { node } of nodes) {
    node.previous = tail;
    tail.next = node;
    tail = node;
  }
  return head;
}

function lift(node: Node): void {
  for (const one of [node, node.answer]) {
    if (one === undefined) continue;
    (one.previous as Node).next = one.next;
    if (one.next !== undefined) one.next.previous = one.previous;
  }
}
function unlift(node: Node): void {
  for (const one of [node.answer, node]) {
    if (one === undefined) continue;
    (one.previous as Node).next = one;
    if (one.next !== undefined) one.next.previous = one;
  }
}

function explain(stuck: Operation | undefined, state: State, reached: number, all: number): string {
  const said = state.present ? `${state.token} at ${state.revision}` : 'absent';
  return `${reached} of ${all} operations have an order; then, with the object ${said}, there is no place for ${JSON.stringify(stuck)}`;
}
