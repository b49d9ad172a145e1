/**
 * IPAddress objects: for each address of a service one that names the service. They are written in the commit of the service, as are the
 * keys that give addresses out (table.ts). Addresses that users take for other objects have such a key as well, so that no service
 * gets them.
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { IPAddress } from '@plat-dev/kinds/networking/schema/service-addresses';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import { ipFamily } from '@plat-dev/meta/ip';
import { formatTime } from '@plat-dev/meta/time';
import type { Operation } from '@plat-dev/storage/engine';
import type { Resource } from '../catalog.ts';
import type { Hook } from '../hooks.ts';
import type { AllocationTable } from './table.ts';

const KIND = ['networking', 'ipaddresses'] as const;
export const addressHookName = KIND.join('/');

interface AddressObjectOptions {
  readonly identity: Identity;
  /** The resource of the objects. */
  readonly resource: () => Resource;
  readonly newUid: () => string;
  readonly now: () => number;
}

export class AddressObjects {
  private readonly options: AddressObjectOptions;

  constructor(options: AddressObjectOptions) {
    this.options = options;
  }

  /** What a write of a service changes: `old` are the addresses before it, `addresses` those after it. */
  changes(service: Service, old: readonly string[], addresses: readonly string[]): Operation[] {
    const added = addresses.filter((address) => !old.includes(address) && !this.has(address));
    const removed = old.filter((address) => !addresses.includes(address) && this.has(address));
    return [
      ...added.map((address) => this.put(service, address)),
      ...removed.map((address): Operation => ({ type: 'delete', key: this.key(address) })),
    ];
  }

  /** The object of an address of a service. */
  put(service: Service, address: string): Operation {
    const object = this.objectOf(service, address);
    return { type: 'put', key: this.key(address), value: this.options.resource().versions.encode(object), expect: 0 };
  }

  private key(address: string): string {
    return `${this.options.resource().collection?.prefix}${address}`;
  }
  has(address: string): boolean {
    return this.options.resource().collection?.items.get(address) !== undefined;
  }

  private objectOf({ metadata }: Service, address: string): ApiObject {
    const { identity, resource, newUid, now } = this.options;
    const label = (name: string): string => domainName(identity, name, 'ipaddress');
    const object: IPAddress = {
      kind: 'IPAddress',
      apiVersion: resource().hub.apiVersion,
      metadata: {
        name: address,
        uid: newUid(),
        creationTimestamp: formatTime(now()),
        labels: { [label('ip-family')]: ipFamily(address) ?? '', [label('managed-by')]: groupName(identity, 'ipallocator') },
      },
      spec: { parentRef: { resource: 'services', namespace: metadata.namespace ?? '', name: metadata.name ?? '' } },
    };
    return object;
  }
}

/** The hook of addresses that users take. */
export function addressHook(addresses: AllocationTable): Hook {
  return async ({ object, old, dryRun, operations }) => {
    if (dryRun || (object !== undefined && old !== undefined)) return;
    const { name = '', uid = '' } = (object ?? old)?.metadata ?? {};
    const operation = object === undefined ? addresses.free(name, uid) : addresses.isUsed(name) ? undefined : addresses.take(name, uid);
    if (operation !== undefined) operations.push(operation);
  };
}
