/**
 * Keeps the allocation of addresses and the objects that show it in step: at start-up, when an object of a service's address is deleted
 * by hand, and when ranges come and go.
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import type { IPAddress, ServiceCIDR } from '@plat-dev/kinds/networking/schema/service-addresses';
import type { Log } from '@plat-dev/lib/log';
import { type AddressRange, addressRange } from '@plat-dev/meta/ranges';
import type { Cache } from '@plat-dev/storage/cache';
import type { AddressObjects } from './address-objects.ts';
import { commitAll, type Holding } from './repair.ts';
import { addressesOf } from './services.ts';
import type { AllocationTable } from './table.ts';

interface AddressObjectState {
  readonly cache: Cache;
  readonly addresses: AllocationTable<AddressRange>;
  readonly objects: AddressObjects;
  readonly services: LiveView<Service>;
  readonly live: LiveSource;
  readonly log: Log;
}

/** Most ranges besides those of the flags; further ones give out no addresses. */
const MOST_RANGES = 256;

/** Returns the addresses that are not those of services. */
export async function followAddressObjects(state: AddressObjectState): Promise<Holding[]> {
  const { live, cache, objects, services } = state;
  const views = [live<IPAddress>('networking', 'ipaddresses'), live<ServiceCIDR>('networking', 'servicecidrs')] as const;
  for (const view of views) await view.pending?.();
  const [addressView, rangeView] = views;
  followRanges(state, rangeView);
  const missing = services.list().flatMap((service) =>
    addressesOf(service)
      .filter((address) => !objects.has(address))
      .map((address) => objects.put(service, address)),
  );
  await commitAll(cache, missing);
  restoreDeleted(state, addressView);
  const ofServices = new Set(services.list().flatMap(addressesOf));
  return addressView
    .list()
    .map(({ metadata: { name = '', uid = '' } }): Holding => ({ member: name, uid }))
    .filter(({ member }) => !ofServices.has(member));
}

/** An address object that goes while its service stays comes back. */
function restoreDeleted({ cache, objects, services, log }: AddressObjectState, view: LiveView<IPAddress>): void {
  view.onChange(({ type, key, old }) => {
    const { namespace = '', name = '', resource } = old?.spec.parentRef ?? {};
    if (type !== 'deleted' || resource !== 'services') return;
    // The service may go in the same commit.
    queueMicrotask(() => {
      const service = services.get(namespace, name);
      if (service === undefined || !addressesOf(service).includes(key)) return;
      commitAll(cache, [objects.put(service, key)]).catch((error: unknown) =>
        log.error('cannot restore the object of an address', { address: key, error: String(error) }),
      );
    });
  });
}

const isReady = ({ metadata, status: { conditions = [] } }: ServiceCIDR): boolean =>
  metadata.deletionTimestamp === undefined && conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

function followRanges({ addresses }: AddressObjectState, view: LiveView<ServiceCIDR>): void {
  const fixed = addresses.ranges;
  const byText = new Map(fixed.map((range) => [range.text, range]));
  const update = (): void => {
    const texts = new Set(
      view
        .list()
        .filter(isReady)
        .slice(0, MOST_RANGES)
        .flatMap(({ spec }) => spec.cidrs ?? []),
    );
    for (const { text } of fixed) texts.delete(text);
    for (const text of texts) if (!byText.has(text)) byText.set(text, addressRange(text));
    for (const text of byText.keys()) if (!texts.has(text) && !fixed.some((range) => range.text === text)) byText.delete(text);
    const further = [...texts].map((text) => byText.get(text) as AddressRange);
    addresses.follow([...fixed, ...further]);
  };
  view.onChange(update);
  update();
}
