/** Runs the plug-ins in order, without awaiting synchronous ones. */

import type { ApiObject, Kind } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import { badRequest } from '@plat-dev/meta/errors';
import type { AdmissionChain, AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './types.ts';

export type Phase = 'admit' | 'validate';

/** Called with the duration of each plug-in and each phase, in seconds. */
export interface ChainObserver {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  plugin(name: string, phase: Phase, operation: AdmissionOperation): Observe;
  phase(phase: Phase, operation: AdmissionOperation): Observe;
}
export type Observe = (seconds: number, rejected: boolean) => void;

const unobserved: ChainObserver = { now: () => 0, plugin: () => () => {}, phase: () => () => {} };

interface Handler {
  readonly name: string;
  readonly plugin: AdmissionPlugin;
  /** The method of the plug-in for this phase. A bound one would be another call. */
  readonly handle: NonNullable<AdmissionPlugin['admit']>;
  readonly observe: Observe;
}
/** The plug-ins for one kind, by phase and operation. */
interface Lists {
  readonly admit: Readonly<Record<AdmissionOperation, readonly Handler[]>>;
  readonly validate: Readonly<Record<AdmissionOperation, readonly Handler[]>>;
}
const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

export function admissionChain(plugins: readonly AdmissionPlugin[], observer: ChainObserver = unobserved): AdmissionChain {
  const runner = new Runner(plugins, observer);
  return {
    admit: (request) => runner.admit(request),
    validate: (request) => runner.phase('validate', request),
    close: () => {
      for (const plugin of plugins) plugin.close?.();
    },
  };
}

class Runner {
  private readonly plugins: readonly AdmissionPlugin[];
  private readonly observer: ChainObserver;
  private readonly lists = new WeakMap<Kind, Lists>();
  private readonly phases: Readonly<Record<Phase, Readonly<Record<AdmissionOperation, Observe>>>>;

  constructor(plugins: readonly AdmissionPlugin[], observer: ChainObserver) {
    this.plugins = plugins;
    this.observer = observer;
    this.phases = { admit: byOperation((o) => observer.phase('admit', o)), validate: byOperation((o) => observer.phase('validate', o)) };
  }

  /** A webhook that changed the object makes the whole array run once more, so that earlier plug-ins see the change. */
  admit(request: AdmissionRequest): MaybePromise<void> {
    // Plug-ins change objects in place: the state to compare with is copied before.
    const { name, namespace, uid, generateName } = request.object?.metadata ?? nameless;
    const first = this.phase('admit', request);
    if (!isPending(first) && request.reinvocation !== 'wanted') checkSame(request, name, namespace, uid, generateName);
    else return this.admitAgain(first, request, { name, namespace, uid, generateName });
  }
  private async admitAgain(first: MaybePromise<void>, request: AdmissionRequest, metadataBefore: ApiObject['metadata']): Promise<void> {
    await first;
    if (request.reinvocation === 'wanted') {
      request.reinvocation = 'running';
      await this.phase('admit', request);
    }
    checkSame(request, metadataBefore.name, metadataBefore.namespace, metadataBefore.uid, metadataBefore.generateName);
  }

  phase(phase: Phase, request: AdmissionRequest): MaybePromise<void> {
    const { operation, served } = request;
    const handlers = (this.lists.get(served.kind) ?? this.listsOf(served))[phase][operation];
    if (handlers.length === 0) return;
    const observe = this.phases[phase][operation];
    const began = this.observer.now();
    try {
      const answer =
        request.explanation === undefined ? this.run(handlers, 0, request, began) : this.runExplained(handlers, phase, request);
      if (isPending(answer)) {
        const observed = this.observed(answer, observe, began);
        return request.timing?.during('admission', this.observer.now, observed) ?? observed;
      }
      observe((answer - began) / 1000, false);
    } catch (error) {
      observe((this.observer.now() - began) / 1000, true);
      throw error;
    }
  }
  // Closures are made where something is waited for, and nowhere else: the plug-ins of most requests answer at once.
  private observed(answer: Promise<number>, observe: Observe, began: number): Promise<void> {
    return answer.then(
      (endedAt) => observe((endedAt - began) / 1000, false),
      (error: unknown) => {
        observe((this.observer.now() - began) / 1000, true);
        throw error;
      },
    );
  }

  /** Returns the end time of the last one: the clock is read once for each. */
  private run(handlers: readonly Handler[], start: number, request: AdmissionRequest, since: number): MaybePromise<number> {
    let began = since;
    let i = start;
    try {
      for (; i < handlers.length; i++) {
        const one = handlers[i] as Handler;
        const answer = one.handle.call(one.plugin, request);
        if (isPending(answer)) return this.runRest(answer, handlers, i, request, began);
        const ended = this.observer.now();
        one.observe((ended - began) / 1000, false);
        began = ended;
      }
      return began;
    } catch (error) {
      (handlers[i] as Handler).observe((this.observer.now() - began) / 1000, true);
      throw error;
    }
  }
  private runRest(
    answer: Promise<void>,
    handlers: readonly Handler[],
    at: number,
    request: AdmissionRequest,
    began: number,
  ): Promise<number> {
    const { observe } = handlers[at] as Handler;
    return answer.then(
      () => {
        const endedAt = this.observer.now();
        observe((endedAt - began) / 1000, false);
        return this.run(handlers, at + 1, request, endedAt);
      },
      (error: unknown) => {
        observe((this.observer.now() - began) / 1000, true);
        throw error;
      },
    );
  }

  private async runExplained(handlers: readonly Handler[], phase: Phase, request: AdmissionRequest): Promise<number> {
    const explanation = request.explanation as NonNullable<AdmissionRequest['explanation']>;
    for (const one of handlers) {
      const done = explanation.begin(one.name, phase, request);
      const began = this.observer.now();
      let failure: unknown;
      try {
        await one.handle.call(one.plugin, request);
      } catch (error) {
        failure = error ?? new Error('refused');
      }
      const millis = this.observer.now() - began;
      one.observe(millis / 1000, failure !== undefined);
      done(millis, failure);
      if (failure !== undefined) throw failure;
    }
    return this.observer.now();
  }

  private listsOf(served: ServedKind): Lists {
    const concerned = this.plugins.filter((plugin) => plugin.concerns === undefined || plugin.concerns(served));
    const pick = (phase: Phase) =>
      byOperation((operation): readonly Handler[] =>
        concerned
          .filter((plugin) => plugin[phase] !== undefined && plugin.handles(operation))
          .map((plugin) => ({
            name: plugin.name,
            plugin,
            handle: plugin[phase] as Handler['handle'],
            observe: this.observer.plugin(plugin.name, phase, operation),
          })),
      );
    const lists: Lists = { admit: pick('admit'), validate: pick('validate') };
    this.lists.set(served.kind, lists);
    return lists;
  }
}

const nameless: ApiObject['metadata'] = {};

/**
 * The request was authorized for the object that it names, in the namespace of its path: a mutation may not
 * make it another one.
 */
function checkSame({ object }: AdmissionRequest, name = '', namespace = '', uid = '', generateName = ''): void {
  const now = object?.metadata ?? nameless;
  if ((now.namespace ?? '') !== namespace) throw changedBy('namespace', namespace, now.namespace);
  if ((now.name ?? '') !== name) throw changedBy('name', name, now.name);
  if ((now.uid ?? '') !== uid) throw changedBy('uid', uid, now.uid);
  if ((now.generateName ?? '') !== generateName) throw changedBy('generateName', generateName, now.generateName);
}
const changedBy = (field: string, from: string, to = ''): Error =>
  badRequest(
    `admission changed metadata.${field} from ${JSON.stringify(from)} to ${JSON.stringify(to)}: a mutating webhook may not change it`,
  );

function byOperation<T>(make: (operation: AdmissionOperation) => T): Readonly<Record<AdmissionOperation, T>> {
  const table = {} as Record<AdmissionOperation, T>;
  for (const operation of operations) table[operation] = make(operation);
  return table;
}
