/** The addresses of this machine by which remote clients reach a server: its certificate has to name them. */
import { isIPv4 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

type Interfaces = Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address' | 'internal'>[] | undefined>>;

/** A machine with more addresses than this needs a certificate of its own: `--tls-cert-file`. */
export const MOST_OWN_ADDRESSES = 64;

const isLinkLocal = (address: string): boolean => /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address);

/**
 * Only the advertised one for a server that listens on a single address, which the certificate names anyway. Link-local
 * addresses are left out: remote clients cannot use them.
 */
export function ownAddresses(
  { bindAddress, advertiseAddress }: { readonly bindAddress: string; readonly advertiseAddress?: string | undefined },
  interfaces: () => Interfaces = networkInterfaces,
): readonly string[] {
  const advertised = advertiseAddress === undefined ? [] : [advertiseAddress];
  if (bindAddress !== '0.0.0.0' && bindAddress !== '::') return advertised;
  const localAddresses = Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address, internal }) => !internal && !isLinkLocal(address) && (bindAddress === '::' || isIPv4(address)))
    .map(({ address }) => address)
    .sort();
  return [...new Set([...advertised, ...localAddresses])].slice(0, MOST_OWN_ADDRESSES);
}
