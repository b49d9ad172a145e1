import dns from 'node:dns';
import { systemClock } from '@plat-dev/lib/clock';
import { expect, test, vi } from 'vitest';
import { Outbound } from './outbound.ts';

test('a host none of whose addresses answers is reported with the reason', async () => {
  const several = (_host: string, _options: unknown, done: (error: null, addresses: object[]) => void): void =>
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(several as never);
  const service = new Outbound({ server: 'http://nobody.example:1' }, systemClock);
  try {
    await expect(service.get()).rejects.toThrow(/ECONNREFUSED 127\.0\.0\.1:1/);
  } finally {
    lookup.mockRestore();
    service.close();
  }
});
