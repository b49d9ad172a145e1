/**
 * Revoked certificates, by serial number:
 *
 *   # lost laptop
 *   4f:1a:90:2c
 *   0x4F1A902D   platform-ca      only of the CA with this common name
 *   serial=4F1A902E               as `openssl x509 -noout -serial` prints it
 */
import type { X509Certificate } from 'node:crypto';

/** Maximum lines of a file; more than this needs a CA of its own. */
const MOST_LINES = 100_000;

export interface Revoked {
  has(certificate: X509Certificate): boolean;
}

export function readRevoked(text: string): Revoked {
  const lines = text.split('\n');
  if (lines.length > MOST_LINES) throw new Error(`more than ${MOST_LINES} lines`);
  /** Serial number → the CAs that it is revoked for; undefined: all. */
  const serials = new Map<string, Set<string> | undefined>();
  for (const [index, line] of lines.entries()) {
    const entry = line.trim();
    if (entry === '' || entry.startsWith('#')) continue;
    const space = entry.search(/\s/);
    const serial = serialOf(space < 0 ? entry : entry.slice(0, space));
    if (serial === undefined) throw new Error(`line ${index + 1}: not a serial number in hexadecimal digits`);
    const issuer = space < 0 ? undefined : entry.slice(space).trim();
    if (issuer === undefined) serials.set(serial, undefined);
    else if (!serials.has(serial)) serials.set(serial, new Set([issuer]));
    else serials.get(serial)?.add(issuer);
  }
  return {
    has(certificate) {
      const serial = serialOf(certificate.serialNumber);
      if (serial === undefined || !serials.has(serial)) return false;
      const issuers = serials.get(serial);
      return issuers === undefined || issuers.has(commonNameOf(certificate.issuer));
    },
  };
}

/** Hexadecimal digits without leading zeros; colons between bytes, and a prefix `0x` or `serial=`, are allowed. */
function serialOf(text: string): string | undefined {
  const digits = text
    .replace(/^serial=/i, '')
    .replace(/^0x/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (!/^[0-9a-f]{1,64}$/.test(digits)) return undefined;
  return digits.replace(/^0+(?=.)/, '');
}

/** The subject's text has one `KEY=value` per line. */
const commonNameOf = (name: string): string =>
  name
    .split('\n')
    .find((part) => part.startsWith('CN='))
    ?.slice(3) ?? '';
