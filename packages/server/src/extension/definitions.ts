/**
 * Keeps the kinds that the server serves in step with the custom resource definitions: accepts their names, establishes
 * those that may be served, and deletes the objects of those that are deleted. The states of a definition:
 *
 *   new          → its names are checked                                                   → accepted, or waiting
 *   waiting      for a name that another definition has; checked again when it is deleted  → accepted
 *   accepted     → established: its kind is served
 *   established  a change replaces its kind; changed names are checked again
 *   terminating  no object can be created; existing ones are deleted                       → deleted, once it has no finalizers
 */

import { approvalCondition } from '@plat-dev/kinds/apiextensions/approval';
import { conditionOf, isTrue, setCondition } from '@plat-dev/kinds/apiextensions/conditions';
import { cleanupFinalizer } from '@plat-dev/kinds/apiextensions/custom-resource-definition';
import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import type { Log } from '@plat-dev/lib/log';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { inSlices, SLICED_FROM, Slices, soonOrInSlices } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import { ApiError } from '@plat-dev/meta/errors';
import { type Identity, shortWord } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { shapeOf } from '@plat-dev/patch/shape';
import type { WebhookClient } from '../admission/webhooks/client.ts';
import { prefixOf, type Resource } from '../registry/catalog.ts';
import type { RegistryDeps } from '../registry/context.ts';
import { SystemWriter } from '../registry/system.ts';
import { acceptNames, established, takenNames } from './accepted-names.ts';
import type { ConversionTools } from './conversion/webhook.ts';
import { type CustomKind, customKind } from './custom-kind.ts';
import { removeLeftovers } from './leftovers.ts';

const [GROUP, PLURAL] = ['apiextensions', 'customresourcedefinitions'];
/** Delay of retries, and interval of checks whether all objects are deleted. */
const AGAIN_MS = 1000;
/** Limit of parallel deletions of the objects of a definition. */
const DELETE_WIDTH = 16;
/** When to look for objects of requests that outlived their definition: soon, and when no such request can be left. */
const LEFTOVER_DELAYS_MS = [1000, 90_000];

export interface DefinitionsOptions {
  readonly registry: RegistryDeps;
  readonly live: LiveSource;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly log: Log;
  readonly conversions: ConversionTools & { readonly client: WebhookClient };
  /** The definitions of the server that this one is a fork of: schemas that are the same are not compiled again. */
  readonly from?: ReadonlyMap<string, ServedDefinition> | undefined;
}

/** A definition that is served. */
export interface ServedDefinition {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly spec: CustomResourceDefinition['spec'];
  readonly names: CustomResourceDefinition['status']['acceptedNames'];
  readonly terminating: boolean;
  readonly custom: CustomKind;
  /** Whether its rules are enforced. */
  readonly byRules: boolean;
  readonly release: ApiRelease;
}

/** The generation grows with each change of the spec. */
function sameSpec(servedDefinition: ServedDefinition, { metadata, spec }: CustomResourceDefinition): boolean {
  return (
    (servedDefinition.generation !== undefined && servedDefinition.generation === metadata.generation) || equal(servedDefinition.spec, spec)
  );
}

type FailurePhrase = 'cannot delete objects of a CustomResourceDefinition' | 'cannot remove objects of a deleted CustomResourceDefinition';

export class Definitions {
  private readonly options: DefinitionsOptions;
  private readonly definitions: LiveView<CustomResourceDefinition>;
  private readonly writer: SystemWriter;
  private readonly served = new Map<string, ServedDefinition>();
  /** Definitions to reconcile, in the order in which they changed. */
  private readonly due = new Set<string>();
  private working: Promise<void> | undefined;
  private stopFollowing: () => void = () => {};
  private readonly waitingCalls = new Set<() => void>();
  private readonly tasks = new Set<Promise<unknown>>();
  /** Definitions whose objects are being deleted. */
  private readonly cleaning = new Set<string>();
  private readonly release: ApiRelease;
  private readonly byRules: boolean;
  private closed = false;

  constructor(options: DefinitionsOptions) {
    this.options = options;
    this.byRules = options.registry.env.feature('CustomResourceValidationExpressions');
    this.release = options.registry.env.release;
    this.definitions = options.live<ApiObject>(GROUP, PLURAL) as unknown as LiveView<CustomResourceDefinition>;
    this.writer = new SystemWriter(options.registry, `${shortWord(options.identity)}-apiserver`);
  }

  /** Serves what was established before, then follows the definitions. */
  async start(): Promise<void> {
    for (const definition of this.definitions.list()) if (isTrue(definition, 'Established')) await this.serve(definition);
    this.stopFollowing = this.definitions.onChange(({ type, key, object, old }) => {
      // Whoever learns that the definition is gone finds its kind gone, too, whatever is being reconciled.
      if (type === 'deleted') this.withdraw(key);
      this.look(key);
      // Another definition may wait for a name that is free now.
      if (!equal(object.status.acceptedNames, old?.status.acceptedNames) || old === undefined) this.lookAtWaiting(object.spec.group);
    });
    for (const definition of this.definitions.list()) if (!this.isAsBefore(definition)) this.look(definition.metadata.name ?? '');
  }
  /** Whether the definition was reconciled completely by the server that this one is a fork of. */
  private isAsBefore(definition: CustomResourceDefinition): boolean {
    const compiledKind = this.compiledBefore(definition);
    return (
      compiledKind !== undefined &&
      compiledKind === this.served.get(definition.metadata.name ?? '')?.custom &&
      !isTrue(definition, 'Terminating')
    );
  }

  /** The served definitions, for a fork of this server. */
  state(): ReadonlyMap<string, ServedDefinition> {
    return new Map(this.served);
  }
  get isBusy(): boolean {
    return this.working !== undefined || this.tasks.size > 0;
  }
  /** Resolves when every known change of definitions is served, and no clean-up is in progress. */
  async settled(): Promise<void> {
    while (this.isBusy) {
      await this.working;
      await Promise.all(this.tasks);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.stopFollowing();
    for (const cancel of this.waitingCalls) cancel();
    await this.working;
    await Promise.all(this.tasks);
    this.options.conversions.client.close();
  }

  private lookAtWaiting(group: string): void {
    for (const waitingDefinition of this.definitions.list())
      if (waitingDefinition.spec.group === group && !isTrue(waitingDefinition, 'NamesAccepted'))
        this.look(waitingDefinition.metadata.name ?? '');
  }
  private look(name: string): void {
    if (this.closed) return;
    this.due.add(name);
    this.working ??= this.work();
  }
  private lookAgain(name: string): void {
    this.later(AGAIN_MS, () => this.look(name));
  }
  private later(millis: number, call: () => void): void {
    if (this.closed) return;
    const cancel = this.options.clock.after(millis, () => {
      this.waitingCalls.delete(cancel);
      call();
    });
    this.waitingCalls.add(cancel);
  }
  /** Runs a task in the background; `close` waits for it. */
  private inBackground(phrase: FailurePhrase, name: string, task: Promise<unknown>): void {
    const done: Promise<unknown> = task
      .catch((error: unknown) => {
        if (!this.closed) this.options.log.warn(phrase, { name, error: String(error) });
      })
      .finally(() => this.tasks.delete(done));
    this.tasks.add(done);
  }

  private async work(): Promise<void> {
    // The writes below are seen at once; they are reconciled in the next turn of the loop.
    await Promise.resolve();
    for (const name of this.due) {
      if (this.closed) break;
      this.due.delete(name);
      try {
        await this.reconcile(name);
      } catch (error) {
        if (this.closed) break;
        this.options.log.warn('cannot serve a CustomResourceDefinition', { name, error: String(error) });
        this.lookAgain(name);
      }
    }
    this.working = undefined;
    if (this.due.size > 0 && !this.closed) this.working = this.work();
  }

  private async reconcile(name: string): Promise<void> {
    const definition = this.definitions.get('', name);
    if (this.served.get(name)?.uid !== definition?.metadata.uid) this.withdraw(name);
    if (definition === undefined) {
      this.lookAtWaiting(name.slice(name.indexOf('.') + 1));
      return;
    }
    await this.acceptNames(name);
    const current = this.definitions.get('', name);
    if (current === undefined) return;
    // The kind is served before the condition is written: a client that sees it established can use it.
    if (isTrue(current, 'NamesAccepted') || isTrue(current, 'Established')) {
      if (this.isLarge(name)) await nextTurn();
      await this.serve(current);
    }
    await this.establish(name);
    if (current.metadata.deletionTimestamp !== undefined) this.beginCleanUp(name);
  }

  /** To read and to compile a schema of a megabyte takes a turn of the loop each. */
  private isLarge(name: string): boolean {
    return (this.writer.find(GROUP, PLURAL, '', name)?.bytes.length ?? 0) > SLICED_FROM;
  }

  private now(): string {
    return formatTime(this.options.registry.env.now());
  }
  private async changeStatus(name: string, change: (definition: CustomResourceDefinition) => void): Promise<void> {
    // The status is mostly up to date: then a schema of a megabyte is not read again.
    const definition = this.definitions.get('', name);
    if (definition !== undefined) {
      const changedDefinition = { ...definition, status: structuredClone(definition.status) };
      change(changedDefinition);
      if (equal(changedDefinition.status, definition.status)) return;
    }
    await this.writer.change(GROUP, PLURAL, '', name, (object) => change(object as unknown as CustomResourceDefinition), 'status');
  }

  private acceptNames(name: string): Promise<void> {
    return this.changeStatus(name, (object) => {
      const others = this.definitions.list().filter(({ metadata }) => metadata.name !== name);
      acceptNames(object, takenNames(others, object.spec.group), this.now());
      const approval = approvalCondition(object, this.options.identity);
      if (approval !== undefined) setCondition(object.status, { ...approval, lastTransitionTime: this.now() });
    });
  }
  private establish(name: string): Promise<void> {
    return this.changeStatus(name, (object) => {
      if (isTrue(object, 'NamesAccepted') && !isTrue(object, 'Established'))
        setCondition(object.status, { type: 'Established', lastTransitionTime: this.now(), ...established });
    });
  }

  // ---- kinds ---------------------------------------------------------------------------------------------------

  private async serve(definition: CustomResourceDefinition): Promise<void> {
    const { metadata, spec, status } = definition;
    const name = metadata.name ?? '';
    const servedDefinition = this.served.get(name);
    const terminating = isTrue(definition, 'Terminating');
    if (
      servedDefinition !== undefined &&
      servedDefinition.terminating === terminating &&
      sameSpec(servedDefinition, definition) &&
      equal(servedDefinition.names, status.acceptedNames)
    )
      return;
    const reusedKind = servedDefinition === undefined ? this.compiledBefore(definition) : undefined;
    const custom = reusedKind ?? (await this.compile(definition));
    if (!this.isCurrent(definition)) return;
    const { catalog, cache } = this.options.registry;
    const reread =
      reusedKind !== undefined
        ? !cache.readsBy(prefixOf(reusedKind.kind), reusedKind.read)
        : servedDefinition === undefined || !sameSpec(servedDefinition, definition);
    await catalog.add(custom.kind, custom.read, reread);
    if (!this.isCurrent(definition)) {
      catalog.remove(custom.kind, true);
      return;
    }
    this.served.set(name, {
      uid: metadata.uid ?? '',
      generation: metadata.generation,
      spec,
      names: status.acceptedNames,
      terminating,
      custom,
      byRules: this.byRules,
      release: this.release,
    });
    this.dropConnections();
  }
  private async compile(definition: CustomResourceDefinition): Promise<CustomKind> {
    const compiling = customKind(definition, this.options.identity, this.options.conversions, this.byRules, this.release);
    if (!this.isLarge(definition.metadata.name ?? '')) return soonOrInSlices(compiling);
    const custom = await inSlices(compiling, new Slices());
    // The shapes for field ownership are prepared here as well, so that the first object need not wait for them.
    for (const { schema } of Object.values(custom.kind.versions)) {
      await nextTurn();
      shapeOf(schema);
    }
    return custom;
  }
  /** The kind of the server that this one is a fork of; one that calls a webhook is compiled again, with connections of its own. */
  private compiledBefore(definition: CustomResourceDefinition): CustomKind | undefined {
    const earlierDefinition = this.options.from?.get(definition.metadata.name ?? '');
    if (
      earlierDefinition === undefined ||
      earlierDefinition.uid !== definition.metadata.uid ||
      earlierDefinition.spec.conversion?.strategy === 'Webhook'
    )
      return undefined;
    const isSame =
      earlierDefinition.byRules === this.byRules &&
      earlierDefinition.release === this.release &&
      earlierDefinition.terminating === isTrue(definition, 'Terminating') &&
      sameSpec(earlierDefinition, definition) &&
      equal(earlierDefinition.names, definition.status.acceptedNames);
    return isSame ? earlierDefinition.custom : undefined;
  }
  /** Whether the definition was not deleted meanwhile. */
  private isCurrent({ metadata }: CustomResourceDefinition): boolean {
    return this.definitions.get('', metadata.name ?? '')?.metadata.uid === metadata.uid;
  }
  private withdraw(name: string): void {
    const servedDefinition = this.served.get(name);
    if (servedDefinition === undefined) return;
    const { kind } = servedDefinition.custom;
    this.served.delete(name);
    this.options.registry.catalog.remove(kind, true);
    this.dropConnections();
    this.removeLeftoversLater(name, prefixOf(kind));
  }
  /** Closes connections to webhooks that no definition names any more. */
  private dropConnections(): void {
    const clientConfigs = [...this.served.values()].flatMap(({ spec }) => spec.conversion?.webhook?.clientConfig ?? []);
    this.options.conversions.client.keepOnly(clientConfigs);
  }

  // ---- deletion ------------------------------------------------------------------------------------------------

  /** Runs in the background: other definitions do not wait until all objects are deleted. */
  private beginCleanUp(name: string): void {
    if (this.cleaning.has(name)) return;
    this.cleaning.add(name);
    const task = this.cleanUp(name).finally(() => this.cleaning.delete(name));
    task.catch(() => this.lookAgain(name));
    this.inBackground('cannot delete objects of a CustomResourceDefinition', name, task);
  }

  private async cleanUp(name: string): Promise<void> {
    const definition = this.definitions.get('', name);
    if (definition === undefined) return;
    const finalizer = cleanupFinalizer(this.options.identity);
    if (!definition.metadata.finalizers?.includes(finalizer)) return;
    const say = (status: string, reason: string, message: string) =>
      this.changeStatus(name, (object) =>
        setCondition(object.status, { type: 'Terminating', status, lastTransitionTime: this.now(), reason, message }),
      );
    if (conditionOf(definition, 'Terminating')?.reason !== 'InstanceDeletionCompleted')
      await say('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
    // Objects that were being created when the definition was deleted are included.
    const heldObjects = await this.deleteObjects(name);
    if (heldObjects > 0) {
      this.lookAgain(name);
      return;
    }
    await say('False', 'InstanceDeletionCompleted', 'removed all instances');
    await this.writer.change(GROUP, PLURAL, '', name, ({ metadata }) => {
      metadata.finalizers = (metadata.finalizers ?? []).filter((existingFinalizer) => existingFinalizer !== finalizer);
      if (metadata.finalizers.length === 0) delete metadata.finalizers;
    });
  }

  /** Returns how many objects are left, such as those with finalizers. */
  private async deleteObjects(name: string): Promise<number> {
    const servedDefinition = this.served.get(name);
    if (servedDefinition === undefined) return 0;
    const resource = this.options.registry.catalog.stored(servedDefinition.custom.kind);
    if (resource?.collection === undefined) return 0;
    const { collection } = resource;
    await collection.pending?.();
    const keys = collection.items.all().map(({ key }) => key);
    for (let i = 0; i < keys.length; i += DELETE_WIDTH)
      await Promise.all(keys.slice(i, i + DELETE_WIDTH).map((key) => this.deleteObject(resource, key)));
    return collection.items.all().length;
  }
  /** By prefix, because the kind is dropped before. */
  private removeLeftoversLater(name: string, prefix: string): void {
    const { catalog, cache } = this.options.registry;
    const definition = `${catalog.builtin(GROUP, PLURAL).collection?.prefix}${name}`;
    const remove = (): void =>
      this.inBackground('cannot remove objects of a deleted CustomResourceDefinition', name, removeLeftovers(cache, prefix, definition));
    for (const delay of LEFTOVER_DELAYS_MS) this.later(delay, remove);
  }
  private async deleteObject(resource: Resource, key: string): Promise<void> {
    const slash = key.indexOf('/');
    const [namespace, name] = slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)];
    try {
      await this.writer.removeFrom(resource, namespace, name);
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
    }
  }
}
