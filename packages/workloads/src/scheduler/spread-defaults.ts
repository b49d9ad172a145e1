/** Pods without spread constraints are spread with those that the same services and the same controller select. */

import type { Change, Informer } from '@plat-dev/client/informer';
import type { ReplicaSet } from '@plat-dev/kinds/apps/schema/replica-set';
import type { ReplicationController } from '@plat-dev/kinds/core/schema/replication-controller';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { setOwn } from '@plat-dev/lib/own';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { fromLabelSelector, fromLabels, LabelSelector, type Labels } from '@plat-dev/meta/labels';
import type { SpreadDefaults } from './plan.ts';
import type { Owner, PodClass } from './state.ts';

type Store<T extends Selecting> = Pick<Informer<T>, 'get' | 'list' | 'onChange'>;
export type ServiceObject = Wire<Service>;
export type Replication = Wire<ReplicationController>;
/** Replica sets and stateful sets select pods in the same way. */
export type PodSet = Wire<Pick<ReplicaSet, 'metadata' | 'spec' | 'status'>>;
type Selecting = ServiceObject | Replication | PodSet;

export interface SelectingStores {
  readonly services: Store<ServiceObject>;
  readonly replications: Store<Replication>;
  readonly replicaSets: Store<PodSet>;
  readonly statefulSets: Store<PodSet>;
}

export class OwnSelectors implements SpreadDefaults {
  private readonly stores: SelectingStores;
  private readonly versions = new Map<string, number>();
  private changes = 0;

  constructor(stores: SelectingStores) {
    this.stores = stores;
    const changed = ({ type, object, old }: Change<Selecting>): void => {
      if (type === 'modified' && equal(object.spec?.selector, old?.spec?.selector)) return;
      this.versions.set(object.metadata.namespace ?? '', ++this.changes);
    };
    stores.services.onChange(changed);
    stores.replications.onChange(changed);
    stores.replicaSets.onChange(changed);
    stores.statefulSets.onChange(changed);
  }
  version(namespace: string): number {
    return this.versions.get(namespace) ?? 0;
  }
  /** Versions of a namespace that has gone are not kept. */
  forget(namespace: string): void {
    this.versions.delete(namespace);
  }
  selector(podClass: PodClass): LabelSelector | undefined {
    const { namespace, owner } = podClass;
    const labels: Record<string, string> = {};
    for (const { spec } of this.stores.services.list(namespace)) {
      const selector: Labels | undefined = spec?.selector;
      if (selector !== undefined && Object.keys(selector).length > 0 && fromLabels(selector).matches(podClass.labels))
        for (const key in selector) setOwn(labels, key, selector[key] as string);
    }
    const own = owner === undefined ? undefined : this.ownerSelector(namespace, owner);
    const requirements = [...fromLabels(labels).requirements, ...(own?.requirements ?? [])];
    return requirements.length === 0 ? undefined : new LabelSelector(requirements);
  }

  private ownerSelector(namespace: string, { apiVersion, kind, name }: Owner): LabelSelector | undefined {
    const { group } = splitApiVersion(apiVersion);
    if (group === '' && kind === 'ReplicationController') {
      const selector = this.stores.replications.get(namespace, name)?.spec?.selector;
      return selector === undefined ? undefined : fromLabels(selector);
    }
    if (group !== 'apps') return undefined;
    const store = kind === 'ReplicaSet' ? this.stores.replicaSets : kind === 'StatefulSet' ? this.stores.statefulSets : undefined;
    const selector = store?.get(namespace, name)?.spec?.selector;
    return selector === undefined ? undefined : fromLabelSelector(selector);
  }
}
