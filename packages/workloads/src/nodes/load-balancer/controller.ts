/**
 * Gives addresses to services of type LoadBalancer, with the finalizer, the status and the events of a stock service controller.
 * Nothing listens there. Services with a class of their own are left to others, and so is a status that someone else has written.
 *
 *   created   EnsuringLoadBalancer   finalizer, then status   EnsuredLoadBalancer
 *   deleted, or of another type      DeletingLoadBalancer     neither   DeletedLoadBalancer
 */
import { unlessGone } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { familiesOf, type ServiceObject } from '@plat-dev/controllers/endpoints/service';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { domainName } from '@plat-dev/meta/identity';
import { formatIP, type IPFamily, ipFamily, parseIP } from '@plat-dev/meta/ip';
import { addressRange } from '@plat-dev/meta/ranges';
import { type About, EventRecorder } from '../../shared/events.ts';
import { BalancerAddresses } from './addresses.ts';

/** `ranges`: `198.18.0.0/16`, at least one. */
export function loadBalancers(ranges: readonly string[]): Controller {
  return {
    name: 'simulated-load-balancers',
    account: 'service-controller',
    start: (context) => void new LoadBalancers(context, ranges),
  };
}

type Ingress = { readonly ip?: string; readonly hostname?: string };

class LoadBalancers {
  private readonly context: ControllerContext;
  private readonly addresses: BalancerAddresses;
  private readonly finalizer: string;
  private readonly recorder: EventRecorder;
  private readonly services;
  private readonly work: WorkQueue;
  /** Keys of services for which no address is left, or whose address another one has. */
  private readonly waiting = new Set<string>();

  constructor(context: ControllerContext, ranges: readonly string[]) {
    const { client, clock, identity, informers } = context;
    this.context = context;
    this.addresses = new BalancerAddresses(ranges.map(addressRange));
    this.finalizer = domainName(identity, 'load-balancer-cleanup', 'service');
    this.recorder = new EventRecorder({ client, clock, component: 'service-controller' });
    this.services = informers.of<ServiceObject>(refs.services);
    this.work = context.queue((key) => this.settle(key), { after: [this.services.synced] });
    this.services.onChange(({ type, object }) => {
      const key = keyOf(object);
      if (type === 'deleted') this.release(key, []);
      else if (wantsBalancer(object) || this.isServed(object)) this.work.add(key);
      // The queue begins when all services are known: no address is given away that one of them has.
      if (type === 'added' && this.isServed(object)) for (const { ip } of ingressOf(object)) this.addresses.hold(key, ip ?? '');
    });
  }
  private isServed({ metadata }: ServiceObject): boolean {
    return metadata.finalizers?.includes(this.finalizer) === true;
  }
  private release(key: string, keptAddresses: readonly string[]): void {
    this.waiting.delete(key);
    if (!this.addresses.keepOnly(key, keptAddresses)) return;
    for (const other of this.waiting) this.work.add(other);
    this.waiting.clear();
  }

  private async settle(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const service = this.services.get(namespace, name);
    if (service === undefined) return;
    if (!wantsBalancer(service) || service.metadata.deletionTimestamp != null) return this.clear(key, service);
    const ingress = ingressOf(service);
    if (ingress.length > 0 && !this.isOwn(key, ingress)) return;
    const wantedAddresses = this.addressesFor(key, service);
    if (typeof wantedAddresses === 'string') {
      this.waiting.add(key);
      this.addresses.keepOnly(
        key,
        ingress.map(({ ip = '' }) => ip),
      );
      this.event(
        service,
        'Warning',
        'SyncLoadBalancerFailed',
        `Error syncing load balancer: failed to ensure load balancer: ${wantedAddresses}`,
      );
      return;
    }
    const isSame = wantedAddresses.length === ingress.length && wantedAddresses.every((ip, i) => ingress[i]?.ip === ip);
    if (!isSame || !this.isServed(service)) await this.ensure(service, wantedAddresses);
    this.release(key, wantedAddresses);
  }
  /** Whether a status is what was written here: others may write theirs. */
  private isOwn(key: string, ingress: readonly Ingress[]): boolean {
    return ingress.every(({ ip, hostname }) => hostname === undefined && ip !== undefined && this.addresses.of(key).has(ip));
  }
  /** The addresses that a service is to have, or why it cannot. */
  private addressesFor(key: string, service: ServiceObject): readonly string[] | string {
    const { addresses } = this;
    const requested = parseIP(service.spec?.loadBalancerIP ?? '');
    const address = requested === undefined ? undefined : formatIP(requested);
    const ingressAddresses: string[] = [];
    for (const family of familiesOf(service)) {
      if (address !== undefined && ipFamily(address) === family) {
        if (!addresses.hold(key, address)) return `the address ${address} is in use by service ${addresses.holderOf(address)}`;
        ingressAddresses.push(address);
      } else if (addresses.has(family)) {
        const next = this.heldOf(key, family) ?? addresses.take(key, family);
        if (next === undefined) return `no addresses are left in ${addresses.textOf(family)}`;
        ingressAddresses.push(next);
      }
    }
    return ingressAddresses.length > 0 ? ingressAddresses : `there is no range of ${familiesOf(service).join(' or ')} addresses`;
  }
  private heldOf(key: string, family: IPFamily): string | undefined {
    for (const address of this.addresses.of(key)) if (ipFamily(address) === family) return address;
    return undefined;
  }

  /** The finalizer comes first: no service goes before its addresses are taken back. */
  private async ensure(service: ServiceObject, ips: readonly string[]): Promise<void> {
    this.event(service, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    let current: ServiceObject | undefined = service;
    if (!this.isServed(service))
      current = await this.patch(service, { metadata: { finalizers: [...(service.metadata.finalizers ?? []), this.finalizer] } });
    if (current === undefined) return;
    const patched = await this.patch(current, { status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } });
    if (patched === undefined) return;
    this.event(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
    await this.services.whenArrived(patched);
  }
  private async clear(key: string, service: ServiceObject): Promise<void> {
    if (!this.isServed(service)) return this.release(key, []);
    this.event(service, 'Normal', 'DeletingLoadBalancer', 'Deleting load balancer');
    const finalizers = (service.metadata.finalizers ?? []).filter((one) => one !== this.finalizer);
    // In a merge patch what is gone is null.
    await this.patch(service, { metadata: { finalizers }, status: { loadBalancer: { ingress: null } } });
    this.event(service, 'Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
    this.release(key, []);
  }
  /** Undefined if the service is gone. */
  private patch(
    { metadata }: ServiceObject,
    change: { readonly metadata?: object; readonly status?: object },
  ): Promise<ServiceObject | undefined> {
    const { namespace = '', name = '', resourceVersion } = metadata;
    const patch = { ...change, metadata: { ...change.metadata, resourceVersion } };
    return this.context.client.patch<ServiceObject>(refs.services, namespace, name, patch, 'status').catch(unlessGone);
  }
  private event({ metadata }: ServiceObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const about: About = { apiVersion: 'v1', kind: 'Service', metadata };
    this.recorder.event(about, type, reason, message);
  }
}

const wantsBalancer = ({ spec }: ServiceObject): boolean => spec?.type === 'LoadBalancer' && spec.loadBalancerClass == null;
const ingressOf = ({ status }: ServiceObject): readonly Ingress[] => (status?.loadBalancer?.ingress ?? []) as readonly Ingress[];
