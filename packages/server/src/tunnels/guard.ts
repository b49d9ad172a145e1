/**
 * Restricts connections to pods, services and nodes when they are made: the addresses of a name are
 * checked and connected to in one step, so that a name cannot change between the check and the connection.
 */
import type { X509Certificate } from 'node:crypto';
import { isIP, type LookupFunction } from 'node:net';
import { badRequest } from '@plat-dev/meta/errors';
import { OwnServer } from '../connections/own-certificates.ts';

export interface Guard {
  /** Whether an address, in any spelling, may be connected to. Absent: all may. */
  readonly allowed?: ((address: string) => boolean) | undefined;
  /** Addresses of a host name. */
  readonly lookup: (host: string) => Promise<readonly string[]>;
  /** Whether connections to a server with this certificate are refused. */
  readonly refused: (certificate: X509Certificate) => boolean;
}

const NOT_ALLOWED = 'address not allowed';

/** The target is at an address that clients may not connect to. */
class AddressNotAllowed extends Error {
  constructor() {
    super(NOT_ALLOWED);
    this.name = 'AddressNotAllowed';
  }
}

/** The client's error if the failure is its own fault; undefined for others. */
export const guardFault = (error: Error): Error | undefined =>
  error instanceof AddressNotAllowed || error instanceof OwnServer ? badRequest(error.message) : undefined;

/** Refuses a host that is an address and not allowed. Names are checked when they are resolved. */
export function checkHost({ allowed }: Guard, host: string): void {
  if (allowed !== undefined && isIP(host) !== 0 && !allowed(host)) throw badRequest(NOT_ALLOWED);
}

/** For `net.connect`: a name is allowed only if all its addresses are. */
export function guardedLookup({ allowed, lookup }: Guard): LookupFunction {
  return (host, options, done) => {
    const answer = (addresses: readonly string[]): void => {
      if (addresses.length === 0) throw Object.assign(new Error(`lookup ${host}: no such host`), { code: 'ENOTFOUND' });
      if (allowed !== undefined && !addresses.every((address) => isIP(address) !== 0 && allowed(address))) throw new AddressNotAllowed();
      const all = addresses.map((address) => ({ address, family: isIP(address) }));
      if (options.all) done(null, all);
      else done(null, all[0]?.address as string, all[0]?.family);
    };
    lookup(host)
      .then(answer)
      .catch((error: Error) => done(error, options.all ? [] : ''));
  };
}
