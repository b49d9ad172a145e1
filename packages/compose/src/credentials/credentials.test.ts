import { X509Certificate } from 'node:crypto';
import { kubernetes } from '@plat-dev/meta/identity';
import { ownAddresses } from '@plat-dev/pki/own-addresses';
import { expect, test } from 'vitest';
import { parseServerFlags, type ServerOptions } from '../config/server-options.ts';
import { prepareCredentials } from './credentials.ts';

const now = Date.UTC(2026, 0, 1);
async function serving(...flags: string[]): Promise<{ certificate: X509Certificate; options: ServerOptions }> {
  const options = parseServerFlags(['--store=memory', ...flags]) as ServerOptions;
  const credentials = await prepareCredentials(options, kubernetes, now);
  return { certificate: new X509Certificate(credentials.serving.certificate), options };
}

test.each(['127.0.0.1', '0.0.0.0', '::'])(
  'a certificate of a server on %s names the advertised address and those of the machine',
  async (bind) => {
    const { certificate, options } = await serving(`--bind-address=${bind}`, '--advertise-address=198.51.100.7');
    const addresses = ownAddresses(options);
    expect(addresses).toContain('198.51.100.7');
    for (const address of ['127.0.0.1', ...addresses]) expect(certificate.checkIP(address), address).toBe(address);
    expect(certificate.checkIP('198.51.100.8')).toBeUndefined();
  },
);
