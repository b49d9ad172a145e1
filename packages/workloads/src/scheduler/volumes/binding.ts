/**
 * Writes what a pod's claims need before the pod is bound: the claim into a volume that exists, or the chosen node into a claim that
 * is to be provisioned. Then the controller of volumes binds them, and the pod goes on when all are bound:
 *
 *   begin ──written──→ waiting ──every claim is bound──→ bound
 *                         └──the chosen node is gone from a claim, or it takes too long──→ an error, and the pod is decided again
 */
import type { Client } from '@plat-dev/client/dynamic';
import type { Informer } from '@plat-dev/client/informer';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { Clock } from '@plat-dev/lib/clock';
import { type Claim, claimKey, type Volume, type VolumeObjects } from './objects.ts';
import type { VolumeActions } from './pod-volumes.ts';

/** How long volumes may take to be bound. */
const BIND_TIMEOUT_MS = 600_000;

export interface BindingOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly objects: VolumeObjects;
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<Volume>;
}

/** The claims of one pod on their way to volumes. */
export class VolumeBinding {
  readonly actions: VolumeActions;
  readonly keys: readonly string[];
  private readonly options: BindingOptions;
  private readonly node: string;
  private readonly until: number;
  private isWritten = false;

  constructor(options: BindingOptions, actions: VolumeActions, node: string) {
    this.options = options;
    this.actions = actions;
    this.node = node;
    this.until = options.clock.monotonic() + BIND_TIMEOUT_MS;
    this.keys = [...actions.bind.map(({ claim }) => claimKey(claim)), ...actions.provision.map(claimKey)];
    for (const { claim, volume } of actions.bind) options.objects.chosenVolumes.set(volume.metadata.name ?? '', claimKey(claim));
  }
  /** Milliseconds until it has taken too long; undefined when all claims are bound. Throws when they cannot be bound. */
  async advance(): Promise<number | undefined> {
    if (!this.isWritten) {
      await this.write();
      this.isWritten = true;
    }
    if (this.keys.every((key) => this.isBound(key))) return undefined;
    const remainingMs = this.until - this.options.clock.monotonic();
    if (remainingMs <= 0) throw new Error('binding volumes: timed out waiting for the condition');
    return remainingMs;
  }
  /** Volumes that were not bound are free again. */
  end(): void {
    for (const { claim, volume } of this.actions.bind) {
      const name = volume.metadata.name ?? '';
      if (this.options.objects.chosenVolumes.get(name) === claimKey(claim)) this.options.objects.chosenVolumes.delete(name);
    }
  }

  private async write(): Promise<void> {
    const { client, objects, claims, volumes } = this.options;
    for (const { claim, volume } of this.actions.bind) {
      const { namespace, name, uid, resourceVersion } = claim.metadata;
      const patchedVolume = await client.patch(refs.persistentVolumes, '', volume.metadata.name ?? '', {
        metadata: {
          resourceVersion: volume.metadata.resourceVersion,
          annotations: { [objects.annotations.boundByController]: 'yes' },
        },
        spec: { claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion } },
      });
      await volumes.whenArrived(patchedVolume);
    }
    for (const claim of this.actions.provision) {
      if (objects.selectedNode(claim) === this.node) continue;
      const { namespace = '', name = '', resourceVersion } = claim.metadata;
      const annotations = { [objects.annotations.selectedNode]: this.node };
      const patchedClaim = await client.patch(refs.persistentVolumeClaims, namespace, name, { metadata: { resourceVersion, annotations } });
      await claims.whenArrived(patchedClaim);
    }
  }
  private isBound(key: string): boolean {
    const { objects } = this.options;
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    const claim = objects.claim(key.slice(0, slash), name);
    if (claim === undefined) throw new Error(`binding volumes: persistentvolumeclaim ${JSON.stringify(name)} not found`);
    if (objects.isBound(claim)) return true;
    // A provisioner that fails takes the node back, so that another is chosen.
    const mustName = this.actions.provision.some((one) => claimKey(one) === key);
    if (mustName && objects.selectedNode(claim) !== this.node)
      throw new Error(`binding volumes: provisioning failed for PVC ${JSON.stringify(name)}`);
    return false;
  }
}
