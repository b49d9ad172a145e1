/**
 * Removes requests that are no longer needed:
 *
 *   approved, denied or failed   an hour after that
 *   pending                      a day after they were created
 *   any                          when the certificate has expired
 */
import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { notAfterOf, readBundle } from '@plat-dev/pki';
import type { Controller } from '../runtime/controller.ts';
import { conditionOf, pemOf, requestsRef, type SigningRequest } from './request.ts';

const HOUR = 3_600_000;
const ages = { approvedMs: HOUR, deniedMs: HOUR, failedMs: HOUR, pendingMs: 24 * HOUR } as const;

/** When a request is to be removed, in milliseconds since 1970. */
function endOf(request: SigningRequest): number {
  const ends: number[] = [];
  const after = (type: string, age: number): void => {
    const condition = conditionOf(request, type);
    if (condition === undefined) return;
    const since = Date.parse(condition.lastUpdateTime ?? request.metadata.creationTimestamp ?? '');
    ends.push(since + age);
  };
  after('Approved', ages.approvedMs);
  after('Denied', ages.deniedMs);
  after('Failed', ages.failedMs);
  if (ends.length === 0) ends.push(Date.parse(request.metadata.creationTimestamp ?? '') + ages.pendingMs);
  ends.push(expiryOf(request));
  return Math.min(...ends.filter((end) => !Number.isNaN(end)));
}

function expiryOf({ status }: SigningRequest): number {
  if ((status?.certificate ?? '') === '') return Number.POSITIVE_INFINITY;
  try {
    const [first] = readBundle(pemOf(status?.certificate ?? ''));
    return first === undefined ? Number.POSITIVE_INFINITY : notAfterOf(first);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export const certificateCleaner: Controller = {
  name: 'csrcleaner',
  account: 'certificate-controller',
  start({ informers, queue, client, identity, clock }) {
    const ref = requestsRef(identity);
    const requests = informers.of<SigningRequest>(ref);
    const work = queue(
      async (key) => {
        const { name } = splitKey(key);
        const request = requests.get('', name);
        if (request === undefined) return;
        const remainingMs = endOf(request) - clock.now();
        if (remainingMs > 0) return Number.isFinite(remainingMs) ? remainingMs : undefined;
        const { uid = '' } = request.metadata;
        await client.delete(ref, '', name, { preconditions: { uid } }).catch(unlessGoneOrReplaced);
      },
      { after: [requests.synced] },
    );
    requests.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};
