/** NodePool and PodLifecycle objects: follows them once their definitions are served. */

import { isConflict, unlessGone } from '@plat-dev/client/http';
import { keyOf } from '@plat-dev/client/informer';
import { builtin, type ControllerContext } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { simulationGroup } from '@plat-dev/meta/identity';
import { fromLabelSelector, type LabelSelectorObject } from '@plat-dev/meta/labels';
import { type Definition, definitionsOf, VERSION } from './definitions.ts';
import type { Fleet } from './fleet.ts';
import { Lifecycles, type StageSpec } from './lifecycle/lifecycle.ts';
import { type ChosenFor, type ConfiguredLifecycle, LifecycleIndex } from './lifecycle/lifecycle-index.ts';
import { poolLabel } from './node-object.ts';
import { DEFAULT_POOL, type NodePoolSpec } from './settings.ts';

type NodePool = ApiObject & {
  spec?: NodePoolSpec;
  status?: { nodes?: number; ready?: number; observedGeneration?: number; message?: string };
};
type PodLifecycle = ApiObject & {
  spec?: { selector?: LabelSelectorObject; namespaces?: readonly string[]; images?: readonly string[]; stages?: readonly StageSpec[] };
};

/** Delay between looks at definitions that are not served yet. */
const ESTABLISH_MS = 50;

export class Configuration {
  readonly lifecycles = new LifecycleIndex();
  private readonly lifecyclesByName = new Map<string, ConfiguredLifecycle>();
  /** Life cycles as they were before and after changes whose pods are still to be looked at. */
  private touched = new LifecycleIndex();
  private readonly context: ControllerContext;
  private readonly fleet: Fleet;
  private readonly definitions;
  private status: WorkQueue | undefined;
  /** Definitions that were replaced, each once. */
  private readonly replaced = new Set<string>();

  constructor(context: ControllerContext, fleet: Fleet) {
    this.context = context;
    this.fleet = fleet;
    this.definitions = builtin(context.identity, 'apiextensions', 'v1', 'customresourcedefinitions', false);
  }
  /** Begins. `changed` is called when pods may have another life cycle, with those that may; many changes may be one call. */
  follow(changed: (isAffected: (pod: ChosenFor) => boolean) => Promise<void>): void {
    const { context } = this;
    const follow: Readonly<Record<string, () => void>> = {
      nodepools: () => this.followPools(),
      podlifecycles: () => this.followLifecycles(changed),
    };
    const definitionsByPlural = new Map(definitionsOf(context.identity).map((one) => [one.spec?.names?.plural ?? '', one]));
    const install = context.queue(
      async (plural) => {
        const definition = definitionsByPlural.get(plural);
        if (definition === undefined || !(await this.install(definition))) return ESTABLISH_MS;
        own(follow, plural)?.();
        return undefined;
      },
      { name: 'simulated-nodes-kinds' },
    );
    for (const plural of definitionsByPlural.keys()) install.add(plural);
  }

  /** Whether the kind is served, as this release defines it: a store may have the definition of an older one. */
  private async install(definition: Definition): Promise<boolean> {
    const { client } = this.context;
    const name = definition.metadata.name ?? '';
    const existing = await client.find<Definition>(this.definitions, '', name);
    if (existing === undefined) {
      await client.create(this.definitions, '', definition).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
      return false;
    }
    if (!this.replaced.has(name) && !equal(schemasOf(existing), schemasOf(definition))) {
      const { versions } = definition.spec ?? {};
      await client.update(this.definitions, { ...existing, spec: { ...existing.spec, versions } } as ApiObject);
      this.replaced.add(name);
      return false;
    }
    return existing.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true;
  }

  private followPools(): void {
    const { context, fleet } = this;
    const { informers, identity, queue } = context;
    const group = simulationGroup(identity);
    const ref = { group, version: VERSION, name: 'nodepools', namespaced: false };
    const pools = informers.of<NodePool>(ref);
    this.status = queue(
      async (name) => {
        const pool = pools.get('', name);
        if (pool !== undefined) await this.reportPool(ref, pool);
      },
      { name: 'simulated-nodes-pools', after: [pools.synced, fleet.nodes.synced] },
    );
    pools.onChange(({ type, object, old }) => {
      const name = object.metadata.name ?? '';
      // The nodes of the settings have this name.
      if (name === DEFAULT_POOL) return;
      if (type === 'deleted') {
        fleet.removePool(name);
        return;
      }
      if (old === undefined || !equal(old.spec, object.spec)) {
        const owner = { apiVersion: joinApiVersion(group, VERSION), kind: 'NodePool', uid: object.metadata.uid ?? '' };
        fleet.setPool({ ...(object.spec ?? { count: 0 }), name, owner });
      }
      this.status?.add(name);
    });
    // Nodes of many pools change at once: each pool is written once for some of them.
    fleet.resized = (name) => this.status?.addAfter(name, ESTABLISH_MS);
    const label = poolLabel(identity);
    fleet.nodes.onChange(({ object }) => {
      const pool = object.metadata.labels?.[label];
      if (pool !== undefined && pool !== DEFAULT_POOL) this.status?.addAfter(pool, ESTABLISH_MS);
    });
  }
  private async reportPool(ref: Parameters<ControllerContext['client']['patch']>[0], pool: NodePool): Promise<void> {
    const { client } = this.context;
    const name = pool.metadata.name ?? '';
    const message = this.fleet.shortageOf(name);
    const status = {
      ...this.fleet.members.counts(name),
      observedGeneration: pool.metadata.generation ?? 0,
      ...(message !== undefined && { message }),
    };
    if (equal(status, pool.status)) return;
    // In a merge patch what is gone is null.
    await client.patch(ref, '', name, { status: { message: null, ...status } }, 'status').catch(unlessGone);
  }

  private followLifecycles(changed: (isAffected: (pod: ChosenFor) => boolean) => Promise<void>): void {
    const { informers, identity, log, queue } = this.context;
    const ref = { group: simulationGroup(identity), version: VERSION, name: 'podlifecycles', namespaced: false };
    const { lifecyclesByName, lifecycles } = this;
    const changes = queue(
      async () => {
        const { touched } = this;
        this.touched = new LifecycleIndex();
        await changed((pod) => touched.first(pod) !== undefined);
      },
      { name: 'simulated-nodes-lifecycles' },
    );
    informers.of<PodLifecycle>(ref).onChange(({ type, object }) => {
      const name = keyOf(object);
      const oldLifecycle = lifecyclesByName.get(name);
      if (oldLifecycle !== undefined) {
        lifecyclesByName.delete(name);
        lifecycles.delete(oldLifecycle);
        this.touched.add(oldLifecycle);
      }
      const after = type === 'deleted' ? undefined : read(object);
      if (after !== undefined) {
        lifecyclesByName.set(name, after);
        lifecycles.add(after);
        this.touched.add(after);
      }
      if (oldLifecycle !== undefined || after !== undefined) changes.add('');
    });
    function read(object: PodLifecycle): ConfiguredLifecycle | undefined {
      try {
        return configured(object);
      } catch (error) {
        log.warn('invalid PodLifecycle ignored', { name: object.metadata.name, error: String(error) });
        return undefined;
      }
    }
  }
}

const schemasOf = ({ spec }: Definition): unknown => spec?.versions?.map(({ schema }) => schema);

function configured({ metadata, spec }: PodLifecycle): ConfiguredLifecycle {
  return {
    name: metadata.name ?? '',
    // An absent selector selects all pods, an absent one of a service would select none.
    selector: fromLabelSelector(spec?.selector ?? {}),
    namespaces: spec?.namespaces ?? [],
    images: spec?.images ?? [],
    lifecycles: new Lifecycles(spec?.stages ?? []),
  };
}
