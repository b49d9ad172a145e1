/**
 * Addresses and node ports of services: allocated when a service is created or changes its type, kept on updates,
 * and released when the service no longer needs them or is deleted.
 */
import type { Service, ServicePort } from '@plat-dev/kinds/core/schema/service';
import { headless, needsClusterIP, needsHealthCheck, needsNodePorts } from '@plat-dev/kinds/core/services/service-types';
import type { KindEnv } from '@plat-dev/kinds/kind';
import { invalidText, listText } from '@plat-dev/kinds/validation/go-text';
import { serviceUnavailable, unprocessable } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { formatIP, type IPFamily, ipFamily, parseIP } from '@plat-dev/meta/ip';
import type { AddressRange, Range } from '@plat-dev/meta/ranges';
import type { Operation } from '@plat-dev/storage/engine';
import type { Hook, HookRequest } from '../hooks.ts';
import type { AddressObjects } from './address-objects.ts';
import { patchAllocated, syncClusterIPs } from './allocated-values.ts';
import { Claims } from './claims.ts';
import { fillFamilies, keepsPreference, refuse } from './families.ts';
import type { AllocationTable } from './table.ts';

export interface ServiceAllocation {
  readonly addresses: AllocationTable<AddressRange>;
  readonly ports: AllocationTable;
  readonly randomBelow: (limit: number) => number;
  readonly now: () => number;
  /** Writes the objects of addresses, in releases that have them. */
  readonly objects?: AddressObjects | undefined;
  /** Deletes the endpoints of a service together with it. */
  readonly alsoDelete?: (service: Service) => Operation | undefined;
}

const clusterIPsPath = Path.of('spec', 'clusterIPs');
const portsPath = Path.of('spec', 'ports');

/** The hook of `core/services`. */
export function serviceHook(allocation: ServiceAllocation): Hook {
  return async (request: HookRequest) => {
    const service = request.object as Service | undefined;
    const old = request.old as Service | undefined;
    const uid = (service ?? old)?.metadata.uid ?? '';
    const run = new Run(allocation, new Claims(uid, request.dryRun, request.operations));
    if (service === undefined) run.remove(old as Service, request.operations);
    else if (old === undefined) run.create(service, request.env);
    else run.update(service, old, request.env);
    if (allocation.objects === undefined || request.dryRun) return;
    const [addresses, oldAddresses] = [service, old].map((one) => (one === undefined ? [] : addressesOf(one))) as [string[], string[]];
    request.operations.push(...allocation.objects.changes((service ?? old) as Service, oldAddresses, addresses));
  };
}

/** The address as it is spelled in keys of the store. */
const canonicalAddress = (ip: string): string => {
  const bytes = parseIP(ip);
  return bytes === undefined ? ip : formatIP(bytes);
};

/** Addresses and ports that a service holds. */
export function addressesOf(service: Service): string[] {
  if (!needsClusterIP(service)) return [];
  return (service.spec.clusterIPs ?? []).filter((ip) => ip !== headless && ip !== '').map(canonicalAddress);
}
export function portsOf(service: Service): number[] {
  const ports = nodePortsOf(service);
  const { healthCheckNodePort = 0 } = service.spec;
  return needsHealthCheck(service) && healthCheckNodePort > 0 ? [...ports, healthCheckNodePort] : ports;
}
const nodePortsOf = ({ spec }: Service): number[] =>
  [...new Set((spec.ports ?? []).map((port) => port.nodePort ?? 0))].filter((p) => p > 0);

/** One write of a service. */
class Run {
  private readonly allocation: ServiceAllocation;
  private readonly claims: Claims;

  constructor(allocation: ServiceAllocation, claims: Claims) {
    this.allocation = allocation;
    this.claims = claims;
  }
  private get families(): IPFamily[] {
    return [...new Set(this.allocation.addresses.ranges.map((range) => range.family))];
  }

  create(service: Service, env: KindEnv): void {
    syncClusterIPs(service, undefined);
    fillFamilies(service, undefined, this.families, env);
    this.giveAddresses(service);
    if (needsNodePorts(service)) this.giveNodePorts(service);
    if (needsHealthCheck(service)) this.giveHealthCheckPort(service);
  }

  update(service: Service, old: Service, env: KindEnv): void {
    patchAllocated(service, old);
    syncClusterIPs(service, old);
    fillFamilies(service, old, this.families, env);
    this.changeAddresses(service, old);
    this.changePorts(service, old);
  }

  remove(old: Service, operations: Operation[]): void {
    for (const ip of addressesOf(old)) this.claims.free(this.allocation.addresses, ip);
    for (const port of portsOf(old)) this.claims.free(this.allocation.ports, String(port));
    const also = this.allocation.alsoDelete?.(old);
    if (also !== undefined) operations.push(also);
  }

  // ---- addresses -------------------------------------------------------------------------------------------------

  /** Every family of the service gets an address, the requested one or a free one. */
  private giveAddresses(service: Service): void {
    const { spec } = service;
    if (!needsClusterIP(service) || spec.clusterIPs?.[0] === headless) return;
    const requestedIPs = spec.clusterIPs ?? [];
    const clusterIPs = (spec.ipFamilies ?? []).map((family, i) => this.giveAddress(service, family as IPFamily, requestedIPs[i] ?? ''));
    spec.clusterIPs = [...clusterIPs, ...requestedIPs.slice(clusterIPs.length)];
    spec.clusterIP = clusterIPs[0] ?? spec.clusterIP ?? '';
  }

  private giveAddress(service: Service, family: IPFamily, requestedIP: string): string {
    const { addresses, randomBelow, now } = this.allocation;
    const ranges = addresses.ranges.filter((range) => range.family === family);
    if (requestedIP === '') {
      const ip = proposal(ranges, (range) => addresses.propose(range, randomBelow, now()));
      if (ip === undefined) throw serviceUnavailable('failed to allocate a serviceIP: range is full');
      this.claims.note(addresses, ip);
      return ip;
    }
    const fail = (why: string): never => {
      const errors = new FieldErrors();
      invalidText(errors, clusterIPsPath, listText(service.spec.clusterIPs), `failed to allocate IP ${requestedIP}: ${why}`);
      refuse(service, errors);
      throw new Error(why);
    };
    const ip = canonicalAddress(requestedIP);
    if (ranges.every((range) => range.indexOf(ip) === undefined)) {
      const texts = ranges.map(({ text }) => text).join(', ');
      fail(`the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${texts}`);
    }
    if (this.claims.take(addresses, ip) === 'in use') fail('provided IP is already allocated');
    return requestedIP;
  }

  private changeAddresses(service: Service, old: Service): void {
    const { addresses } = this.allocation;
    if (keepsPreference(service, old)) {
      this.keepAddresses(service);
      return;
    }
    if (!needsClusterIP(old)) {
      if (needsClusterIP(service)) this.giveAddresses(service);
      return;
    }
    if (old.spec.clusterIPs?.[0] === headless) return;
    const oldAddresses = addressesOf(old);
    if (!needsClusterIP(service)) {
      for (const ip of oldAddresses) this.claims.free(addresses, ip);
      return;
    }
    const { spec } = service;
    const [oldFamilyCount, now] = [old.spec.ipFamilies?.length ?? 0, spec.ipFamilies?.length ?? 0];
    if (oldFamilyCount === 1 && now === 2) {
      const second = this.giveAddress(service, spec.ipFamilies?.[1] as IPFamily, spec.clusterIPs?.[1] ?? '');
      spec.clusterIPs = [spec.clusterIPs?.[0] ?? '', second];
    } else if (oldFamilyCount === 2 && now === 1 && oldAddresses[1] !== undefined) this.claims.free(addresses, oldAddresses[1]);
    this.keepAddresses(service);
  }
  private keepAddresses(service: Service): void {
    for (const ip of addressesOf(service)) if (ipFamily(ip) !== undefined) this.claims.keep(this.allocation.addresses, ip);
  }

  // ---- ports -----------------------------------------------------------------------------------------------------

  private takePort(service: Service, port: number, at: Path): void {
    const why = this.tryPort(port);
    if (why === undefined) return;
    const errors = new FieldErrors();
    errors.invalid(at, port, why);
    refuse(service, errors);
  }
  /** Returns why a port cannot be allocated. */
  private tryPort(port: number): string | undefined {
    const { ports } = this.allocation;
    const range = ports.ranges[0] as Range;
    if (range.indexOf(String(port)) === undefined)
      return `provided port is not in the valid range. The range of valid ports is ${range.at(0)}-${range.at(range.size - 1)}`;
    return this.claims.take(ports, String(port)) === 'in use' ? 'provided port is already allocated' : undefined;
  }
  private freshPort(): number | undefined {
    const { ports, randomBelow, now } = this.allocation;
    const range = ports.ranges[0] as Range;
    for (let tries = 0; tries < range.size; tries++) {
      const port = ports.propose(range, randomBelow, now());
      if (port === undefined) return undefined;
      if (this.claims.isMine(ports, port)) continue;
      this.claims.note(ports, port);
      return Number(port);
    }
    return undefined;
  }
  private freshNodePort(): number {
    const port = this.freshPort();
    if (port === undefined) throw serviceUnavailable('failed to allocate a nodePort: range is full');
    return port;
  }

  /** Ports of a service that share their number, one for each protocol, share their node port. */
  private giveNodePorts(service: Service): void {
    const ports = service.spec.ports ?? [];
    const byPort = new Map<number, number>();
    ports.forEach((port, i) => {
      if (!port.nodePort && !allocatesNodePorts(service)) return;
      const sharedNodePort = byPort.get(port.port);
      const at = portsPath.index(i).child('nodePort');
      if (sharedNodePort === undefined) {
        const requestedPort = ports.find((p) => p.port === port.port && p.nodePort)?.nodePort;
        if (requestedPort !== undefined) this.takePort(service, requestedPort, at);
        port.nodePort = requestedPort ?? this.freshNodePort();
        byPort.set(port.port, port.nodePort);
      } else if (!port.nodePort) port.nodePort = sharedNodePort;
      else if (port.nodePort !== sharedNodePort) this.takePort(service, port.nodePort, at);
    });
  }

  private changePorts(service: Service, old: Service): void {
    const { ports } = this.allocation;
    const oldPorts = nodePortsOf(old);
    if (needsNodePorts(service)) {
      this.changeNodePorts(service, new Set(oldPorts));
      const newPorts = new Set(nodePortsOf(service));
      for (const port of oldPorts) if (!newPorts.has(port)) this.claims.free(ports, String(port));
    } else if (needsNodePorts(old)) for (const port of oldPorts) this.claims.free(ports, String(port));
    const had = needsHealthCheck(old);
    const has = needsHealthCheck(service);
    if (!had && has) this.giveHealthCheckPort(service);
    else if (had && !has && old.spec.healthCheckNodePort) this.claims.free(ports, String(old.spec.healthCheckNodePort));
    else if (has && service.spec.healthCheckNodePort) this.claims.keep(ports, String(service.spec.healthCheckNodePort));
  }

  private changeNodePorts(service: Service, oldPorts: ReadonlySet<number>): void {
    const { ports } = this.allocation;
    const keep = (port: number): void => this.claims.keep(ports, String(port));
    service.spec.ports?.forEach((port: ServicePort, i) => {
      if (port.nodePort) {
        if (oldPorts.has(port.nodePort)) keep(port.nodePort);
        else if (!this.claims.isMine(ports, String(port.nodePort)))
          this.takePort(service, port.nodePort, portsPath.index(i).child('nodePort'));
      } else if (allocatesNodePorts(service)) port.nodePort = this.freshNodePort();
    });
  }

  private giveHealthCheckPort(service: Service): void {
    const { healthCheckNodePort: requestedPort } = service.spec;
    if (requestedPort) {
      const why = this.tryPort(requestedPort);
      if (why !== undefined) throw unprocessable(`failed to allocate requested HealthCheck NodePort ${requestedPort}: ${why}`);
      return;
    }
    const port = this.freshPort();
    if (port === undefined) throw serviceUnavailable('failed to allocate a HealthCheck NodePort 0: range is full');
    service.spec.healthCheckNodePort = port;
  }
}

/** The proposal of the first range that has one. */
function proposal(ranges: readonly AddressRange[], propose: (range: AddressRange) => string | undefined): string | undefined {
  for (const range of ranges) {
    const ip = propose(range);
    if (ip !== undefined) return ip;
  }
  return undefined;
}

/** A load balancer may have no node ports; ports that the client requests are allocated all the same. */
const allocatesNodePorts = ({ spec }: Service): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === true);
