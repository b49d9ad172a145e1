/**
 * The keys of an OpenID provider: found by its discovery document, reloaded when a token names an unknown key,
 * and periodically so that a withdrawn key is dropped. Tokens can trigger a reload, but not more than
 * one per second, regardless of the tokens.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@plat-dev/lib/clock';
import { Outbound, OutboundError, type OutboundLimits } from '../../http-client/outbound.ts';

export interface ProviderKey {
  readonly id: string | undefined;
  readonly key: KeyObject;
}

/** Time between two reloads that tokens with unknown keys trigger. */
const askInterval = 1000;
/** Time before expired keys are reloaded again after a failure. */
const retryInterval = 10_000;
const maxAge = 10 * 60 * 1000;
const maxKeys = 100;

const object = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new OutboundError('not a JSON object');
  return value as Record<string, unknown>;
};

function readKeys(text: string): ProviderKey[] {
  const { keys } = object(text);
  if (!Array.isArray(keys)) throw new OutboundError('the key set has no keys');
  const providerKeys: ProviderKey[] = [];
  for (const jwk of keys.slice(0, maxKeys) as ((JsonWebKey & { use?: string; kid?: string }) | null)[]) {
    if (typeof jwk !== 'object' || jwk === null) continue;
    // A published set has no symmetric keys; a key for encryption signs nothing.
    if ((jwk.kty !== 'RSA' && jwk.kty !== 'EC') || (jwk.use !== undefined && jwk.use !== 'sig')) continue;
    try {
      providerKeys.push({ id: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }) });
    } catch {
      // A key of an unsupported type does not invalidate the others.
    }
  }
  return providerKeys;
}

export interface ProviderOptions {
  /** https only, as the tokens name it. */
  readonly issuerURL: string;
  /** Where the provider describes itself; absent: below the issuer. */
  readonly discoveryURL?: string | undefined;
  /** PEM. Absent: the roots of the host. */
  readonly ca?: string | undefined;
  readonly clock: Clock;
  /** Limits of calls to the provider, if not the defaults. */
  readonly limits?: Partial<OutboundLimits> | undefined;
}

export class ProviderKeys {
  private readonly issuer: string;
  private readonly discoveryURL: string;
  private readonly outbound: Outbound;
  private readonly clock: Clock;
  private keysAddress: string | undefined;
  private keys: readonly ProviderKey[] | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private triedAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  private underWay: Promise<void> | undefined;

  constructor({ issuerURL: issuer, discoveryURL, ca, clock, limits = {} }: ProviderOptions) {
    this.issuer = issuer;
    this.discoveryURL = discoveryURL ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    this.clock = clock;
    this.outbound = new Outbound({ server: this.discoveryURL, ca, authoritiesOnly: true }, clock, {
      timeoutMillis: 10_000,
      maxBytes: 1 << 20,
      maxCalls: 4,
      ...limits,
    });
  }

  /** The keys as last loaded; the same array until they are reloaded. Undefined before the first load. */
  current(): readonly ProviderKey[] | undefined {
    if (this.keys !== undefined && this.clock.now() - this.readAt > maxAge && this.clock.now() - this.triedAt >= retryInterval)
      void this.read().catch(() => {});
    return this.keys;
  }

  /** Reloads because of a token with an unknown key. Undefined if that was done, or failed, less than a second ago. */
  ask(): Promise<void> | undefined {
    if (this.underWay !== undefined) return this.underWay;
    if (this.clock.now() - this.askedAt < askInterval) return undefined;
    this.askedAt = this.clock.now();
    return this.read();
  }

  /** Loads the keys, one load at a time. */
  read(): Promise<void> {
    if (this.underWay === undefined) {
      this.triedAt = this.clock.now();
      this.underWay = this.readNow().finally(() => {
        this.underWay = undefined;
      });
    }
    return this.underWay;
  }

  close(): void {
    this.outbound.close();
  }

  private async readNow(): Promise<void> {
    this.keysAddress ??= await this.discover();
    try {
      const answer = await this.outbound.get(this.keysAddress);
      if (answer.status !== 200) throw new OutboundError(`the provider answered ${answer.status} for its keys`);
      this.keys = readKeys(answer.text);
      this.readAt = this.clock.now();
    } catch (error) {
      // The URL of the keys may have changed: the next load reads the discovery document again.
      this.keysAddress = undefined;
      throw error;
    }
  }

  private async discover(): Promise<string> {
    const answer = await this.outbound.get(this.discoveryURL);
    if (answer.status !== 200) throw new OutboundError(`the provider answered ${answer.status} for its configuration`);
    const { issuer, jwks_uri: address } = object(answer.text);
    if (issuer !== this.issuer) throw new OutboundError('the provider names another issuer than the one that is trusted');
    if (typeof address !== 'string' || !address.startsWith('https://'))
      throw new OutboundError('the provider names no https address for its keys');
    return address;
  }
}
