/** Authorization by a webhook, with SubjectAccessReviews. Its answers are cached for a time. */

import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { ExpiringCache } from '../../expiring-cache.ts';
import type { Remote } from '../../http-client/outbound.ts';
import { noRules } from '../authz/simple.ts';
import { secretKey } from '../secret.ts';
import type { Selectors } from '../selectors.ts';
import type { Attributes, Authorizer, Decision } from '../types.ts';
import { type RetryOptions, ReviewClient, shortText } from './call.ts';

export interface WebhookAuthorizerOptions {
  readonly identity: Identity;
  readonly remote: Remote;
  readonly version: 'v1' | 'v1beta1';
  readonly allowedMillis: number;
  readonly refusedMillis: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly retry?: Partial<RetryOptions>;
  /** What is said of it; absent: Webhook. */
  readonly name?: string | undefined;
  /** What a failure decides; absent: the next authorizer may still allow the request. */
  readonly onFailure?: 'none' | 'deny' | undefined;
  /** Called after each question that was sent. */
  readonly answered?: ((result: 'success' | 'error') => void) | undefined;
  /** Whether reviews have the selectors of requests. */
  readonly selectors?: boolean | undefined;
}

const cacheSize = 8192;
/** A larger review is not cached: its size is up to the caller. */
const maxKeptLength = 10_000;

/** Empty fields are omitted, as in any object. */
const present = (fields: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

/** The selectors as a review has them. */
const selectorsOf = ({ fields, labels }: Selectors = {}) => ({
  ...(fields && { fieldSelector: { requirements: fields } }),
  ...(labels && { labelSelector: { requirements: labels } }),
});

function specOf(attributes: Attributes, version: 'v1' | 'v1beta1', withSelectors: boolean) {
  const { user, verb, group, version: apiVersion, resource, subresource, name, namespace, path } = attributes;
  return {
    ...(attributes.resourceRequest
      ? {
          resourceAttributes: {
            ...present({ namespace, verb, group, version: apiVersion, resource, subresource, name }),
            ...(withSelectors && selectorsOf(attributes.selectors)),
          },
        }
      : { nonResourceAttributes: present({ path, verb }) }),
    user: user.name,
    // The older version has its own name for groups.
    ...(user.groups.length > 0 && { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(user.extra !== undefined && { extra: user.extra }),
    ...(user.uid !== undefined && { uid: user.uid }),
  };
}

function decisionOf(status: Record<string, unknown>): Decision {
  const reason = shortText(status.reason);
  const evaluationError = shortText(status.evaluationError);
  const error = evaluationError === '' ? {} : { error: evaluationError };
  if (status.allowed === true && status.denied === true) {
    return { decision: 'deny', reason, error: 'the authorization webhook answered both allow and deny' };
  }
  if (status.denied === true) return { decision: 'deny', reason, ...error };
  return { decision: status.allowed === true ? 'allow' : 'none', reason, ...error };
}

export interface WebhookAuthorizer extends Authorizer {
  close(): void;
}

export function webhookAuthorizer(options: WebhookAuthorizerOptions): WebhookAuthorizer {
  const { identity, version, remote, clock, random, retry } = options;
  const client = new ReviewClient({
    remote,
    apiVersion: joinApiVersion(groupName(identity, 'authorization'), version),
    kind: 'SubjectAccessReview',
    clock,
    random,
    retry,
  });
  const cachedDecisions = new ExpiringCache<Decision>(cacheSize, () => clock.now());
  const underWay = new Map<string, Promise<Decision>>();

  const ask = async (key: string, spec: object, keep: boolean): Promise<Decision> => {
    try {
      const decision = decisionOf(await client.ask(spec));
      options.answered?.('success');
      if (keep) cachedDecisions.set(key, decision, decision.decision === 'allow' ? options.allowedMillis : options.refusedMillis);
      return decision;
    } catch (error) {
      options.answered?.('error');
      // A webhook that fails allows nothing.
      return { decision: options.onFailure ?? 'none', reason: '', error: `the authorization webhook failed: ${(error as Error).message}` };
    } finally {
      underWay.delete(key);
    }
  };

  return {
    name: options.name ?? 'Webhook',
    close: () => client.close(),
    authorize(attributes) {
      const spec = specOf(attributes, version, options.selectors === true);
      const text = JSON.stringify(spec);
      const key = secretKey(text);
      const earlierDecision = cachedDecisions.get(key) ?? underWay.get(key);
      if (earlierDecision !== undefined) return earlierDecision;
      const asking = ask(key, spec, text.length <= maxKeptLength);
      underWay.set(key, asking);
      return asking;
    },
    rulesFor: async () => ({ ...noRules, incomplete: true, error: 'webhook authorizer does not support user rule resolution' }),
  };
}
