/**
 * EventRateLimit: limits the rate of events before they fill the store.
 *
 *   apiVersion: eventratelimit.admission.<pd>/v1alpha1
 *   kind: Configuration
 *   limits:
 *   - { type: Namespace, qps: 50, burst: 100, cacheSize: 2000 }
 */

import type { Event } from '@plat-dev/kinds/core/schema/events';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import { readChoice } from '@plat-dev/lib/flags';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { checkType, object, refuseUnknown } from '../configuration.ts';
import { kinds, type MakePlugin, type PluginConfiguration } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';

const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
type LimitType = (typeof limitTypes)[number];
const DEFAULT_CACHE_SIZE = 4096;

interface Limit {
  readonly type: LimitType;
  readonly qps: number;
  readonly burst: number;
  readonly cacheSize: number;
}

export const eventRateLimit: MakePlugin = ({ identity, clock }, configuration) => {
  const limits = readLimits(configuration, identity).map((limit) => ({ limit, buckets: new Buckets(limit, clock) }));
  return {
    name: 'EventRateLimit',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    // Both kinds of events share one store.
    concerns: kinds('events', 'events/events'),
    validate(request) {
      if (request.dryRun) return;
      const reachedLimits: string[] = [];
      for (const { limit, buckets } of limits) {
        const key = keyOf(limit.type, request);
        if (!buckets.take(key)) reachedLimits.push(`limit reached on type ${limit.type} for key ${key}`);
      }
      if (reachedLimits.length === 0) return;
      const text = reachedLimits.length === 1 ? (reachedLimits[0] as string) : `[${reachedLimits.join(', ')}]`;
      throw new ApiError(429, 'TooManyRequests', `Too many requests: ${text}`);
    },
  };
};

function keyOf(type: LimitType, { namespace, user, object: event }: AdmissionRequest): string {
  if (type === 'Namespace') return namespace;
  if (type === 'User') return user.name;
  if (type === 'Server') return '';
  const { source, involvedObject } = event as unknown as Event;
  const { kind, namespace: of, name, uid, apiVersion } = involvedObject;
  return [source.component, source.host, kind, of, name, uid, apiVersion].map((part) => part ?? '').join('');
}

/** A token bucket for each key; beyond the limit the least recently used key is evicted. */
class Buckets {
  private readonly limit: Limit;
  private readonly clock: Clock;
  private readonly buckets: BoundedCache<string, { tokens: number; at: number }>;

  constructor(limit: Limit, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
    this.buckets = new BoundedCache(limit.cacheSize);
  }
  take(key: string): boolean {
    const { qps, burst } = this.limit;
    const now = this.clock.monotonic();
    const bucket = this.buckets.get(key) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * qps);
    bucket.at = now;
    this.buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

function readLimits(configuration: PluginConfiguration | undefined, identity: Identity): Limit[] {
  if (configuration === undefined) throw new Error('EventRateLimit needs a configuration');
  const value = checkType(configuration.value, 'Configuration', [
    joinApiVersion(groupName(identity, 'eventratelimit.admission'), 'v1alpha1'),
  ]);
  refuseUnknown(value, ['apiVersion', 'kind', 'limits'], 'the configuration');
  const { limits } = value;
  if (!Array.isArray(limits) || limits.length === 0) throw new Error('limits must be a list that is not empty');
  return limits.map((entry, i) => {
    const limit = object(entry, `limits[${i}]`);
    refuseUnknown(limit, ['type', 'qps', 'burst', 'cacheSize'], `limits[${i}]`);
    const { type, qps, burst, cacheSize } = limit;
    const positive = (name: string, value: unknown): number => {
      if (typeof value !== 'number' || !Number.isInteger(value) || value <= 0)
        throw new Error(`limits[${i}].${name} must be a positive number`);
      return value;
    };
    const size = cacheSize === undefined || cacheSize === 0 ? DEFAULT_CACHE_SIZE : positive('cacheSize', cacheSize);
    return { type: readChoice(String(type), limitTypes), qps: positive('qps', qps), burst: positive('burst', burst), cacheSize: size };
  });
}
