/**
 * ImagePolicyWebhook: a webhook decides whether the images of a pod may run.
 *
 *   imagePolicy:
 *     kubeConfigFile: /etc/plat/image-policy.conf
 *     allowTTL: 50          # seconds for which a permission is cached
 *     denyTTL: 50
 *     retryBackoff: 500     # milliseconds before a failed call is retried
 *     defaultAllow: false   # the decision while the webhook is unavailable
 */

import { resolve } from 'node:path';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { ImageReview, type ImageReviewSpec, type ImageReviewStatus } from '@plat-dev/kinds/imagepolicy/schema/v1alpha1';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { decode } from '@plat-dev/schema/json';
import type { MessageType } from '@plat-dev/schema/types';
import { ExpiringCache } from '../../../expiring-cache.ts';
import { Outbound } from '../../../http-client/outbound.ts';
import { object, refuseUnknown } from '../../configuration.ts';
import { kinds, type MakePlugin, type PluginConfiguration, type PluginEnv } from '../../plugin.ts';
import { eachContainer } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

interface Settings {
  readonly file: string;
  readonly allowMs: number;
  readonly denyMs: number;
  readonly backoffMs: number;
  readonly defaultAllow: boolean;
}
const MAX_REMEMBERED = 1024;
const ATTEMPTS = 5;

export const imagePolicyWebhook: MakePlugin = async (env, configuration) => {
  const settings = readSettings(configuration);
  const group = groupName(env.identity, 'imagepolicy');
  if (!env.apiEnabled(group, 'v1alpha1')) throw new Error(`it needs --runtime-config=${group}/v1alpha1=true`);
  const remote = new Outbound(await env.remoteOf(settings.file), env.clock, { timeoutMillis: 30_000, maxBytes: 1 << 20 });
  const policy = new ImagePolicy(env, settings, remote);
  return {
    name: 'ImagePolicyWebhook',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    validate(request) {
      const { subresource } = request;
      if (subresource === '' || subresource === 'ephemeralcontainers') return policy.pod(request);
    },
    close: () => remote.close(),
  };
};

class ImagePolicy {
  private readonly env: PluginEnv;
  private readonly settings: Settings;
  private readonly remote: Outbound;
  private readonly remembered: ExpiringCache<ImageReviewStatus>;

  constructor(env: PluginEnv, settings: Settings, remote: Outbound) {
    this.env = env;
    this.settings = settings;
    this.remote = remote;
    this.remembered = new ExpiringCache(MAX_REMEMBERED, () => env.clock.monotonic());
  }

  async pod(request: AdmissionRequest): Promise<void> {
    const auditPrefix = `imagepolicywebhook.image-policy.${this.env.identity.groupSuffix}/`;
    let status: ImageReviewStatus;
    try {
      status = await this.ask(specOf(request, this.env.identity));
    } catch (error) {
      if (!this.settings.defaultAllow) throw refusal(request, (error as Error).message);
      request.annotate(`${auditPrefix}failed-open`, 'true');
      return;
    }
    for (const [key, value] of Object.entries(status.auditAnnotations ?? {})) request.annotate(auditPrefix + key, value);
    if (status.allowed) return;
    const reason = status.reason ?? '';
    throw refusal(
      request,
      reason === ''
        ? 'one or more images rejected by webhook backend'
        : `image policy webhook backend denied one or more images: ${reason}`,
    );
  }

  private async ask(spec: ImageReviewSpec): Promise<ImageReviewStatus> {
    const key = JSON.stringify(spec);
    const cachedDecision = this.remembered.get(key);
    if (cachedDecision !== undefined) return cachedDecision;
    const status = await this.call(spec);
    this.remembered.set(key, status, status.allowed ? this.settings.allowMs : this.settings.denyMs);
    return status;
  }

  private async call(spec: ImageReviewSpec): Promise<ImageReviewStatus> {
    const apiVersion = joinApiVersion(groupName(this.env.identity, 'imagepolicy'), 'v1alpha1');
    const review = { kind: 'ImageReview', apiVersion, metadata: { creationTimestamp: null }, spec, status: { allowed: false } };
    let wait = this.settings.backoffMs;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.remote.postJson(review).catch((error: Error) => error);
      const failure =
        answer instanceof Error ? answer : answer.status >= 500 ? new Error(`the webhook answered ${answer.status}`) : undefined;
      if (failure === undefined && !(answer instanceof Error)) {
        if (answer.status !== 200 && answer.status !== 201) throw new Error(`the webhook answered ${answer.status}`);
        return (decode(ImageReview as MessageType, JSON.parse(answer.text)) as ImageReview).status;
      }
      if (attempt >= ATTEMPTS) throw failure as Error;
      await this.env.clock.sleep(wait);
      wait *= 1.5;
    }
  }
}

/** Debug containers are reviewed when they are added; the other containers were reviewed before. */
function specOf({ object: reviewed, subresource, namespace }: AdmissionRequest, identity: Identity): ImageReviewSpec {
  const pod = reviewed as unknown as Pod;
  const containers: { image?: string }[] = [];
  eachContainer(pod.spec, ({ image }, _path, type) => {
    if ((subresource === 'ephemeralcontainers') === (type === 'ephemeral container')) containers.push(image === undefined ? {} : { image });
  });
  const mark = `.image-policy.${identity.groupSuffix}/`;
  const annotations = Object.fromEntries(Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => key.includes(mark)));
  return { containers, ...(Object.keys(annotations).length > 0 && { annotations }), namespace };
}

function readSettings(configuration: PluginConfiguration | undefined): Settings {
  if (configuration === undefined) throw new Error('ImagePolicyWebhook needs a configuration');
  const value = object(configuration.value, 'the configuration');
  refuseUnknown(value, ['imagePolicy'], 'the configuration');
  const { imagePolicy } = value;
  const policy = object(imagePolicy, 'imagePolicy');
  refuseUnknown(policy, ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'], 'imagePolicy');
  if (policy.defaultAllow !== undefined && typeof policy.defaultAllow !== 'boolean')
    throw new Error('imagePolicy.defaultAllow must be true or false');
  if (typeof policy.kubeConfigFile !== 'string' || policy.kubeConfigFile === '') throw new Error('imagePolicy.kubeConfigFile is needed');
  return {
    file: resolve(configuration.directory, policy.kubeConfigFile),
    allowMs: span('allowTTL', policy.allowTTL, 1000, 300, 1, 1800),
    denyMs: span('denyTTL', policy.denyTTL, 1000, 30, 1, 1800),
    backoffMs: span('retryBackoff', policy.retryBackoff, 1, 500, 1, 300_000),
    defaultAllow: policy.defaultAllow === true,
  };
}

/** A number of units; absent or 0 is the default, a negative one switches it off. */
function span(name: string, value: unknown, unitMs: number, usual: number, least: number, most: number): number {
  if (value === undefined || value === null || value === 0) return usual * unitMs;
  if (typeof value !== 'number') throw new Error(`imagePolicy.${name} must be a number`);
  if (value < 0) return 0;
  if (value < least || value > most) throw new Error(`imagePolicy.${name} must be between ${least} and ${most}`);
  return value * unitMs;
}
