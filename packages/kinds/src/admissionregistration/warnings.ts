/** Warnings about client configurations of webhooks that are accepted, but cannot work. */
import { X509Certificate } from 'node:crypto';
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from './schema/v1.ts';

/** Why a CA bundle cannot be used; undefined if it can. */
export function bundleProblem(caBundle: string | undefined): string | undefined {
  if (caBundle === undefined || caBundle === '') return undefined;
  const text = Buffer.from(caBundle, 'base64').toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (blocks === null) return 'the caBundle is malformed: it holds no PEM certificate';
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return 'the caBundle is malformed: one of its PEM certificates cannot be read';
  }
}

/** `name.namespace.svc`, with or without the domain of a cluster. */
const mayNameService = /svc|%|[^\u0020-\u007e]/i;
const serviceHost = /^[a-z0-9-]+\.[a-z0-9-]+\.svc(\.[a-z0-9.-]+)?$/;

export function clientWarnings({ webhooks }: MutatingWebhookConfiguration | ValidatingWebhookConfiguration): string[] {
  const warnings: string[] = [];
  (webhooks ?? []).forEach(({ clientConfig }, i) => {
    const at = `webhooks[${i}].clientConfig`;
    const { url = '', caBundle } = clientConfig;
    // Few URLs hold the word, in any case and form: only those are parsed.
    if (mayNameService.test(url) && URL.canParse(url) && serviceHost.test(new URL(url).hostname))
      warnings.push(`${at}.url: names a service of a cluster, which is found by clientConfig.service, not by a URL`);
    const problem = bundleProblem(caBundle);
    if (problem !== undefined) warnings.push(`${at}.caBundle: ${problem}, so that calls will fail`);
  });
  return warnings;
}
