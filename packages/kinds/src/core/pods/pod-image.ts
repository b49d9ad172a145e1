/** The default pull policy of an image reference. */

import { own } from '@plat-dev/lib/own';
import { TextCache } from '@plat-dev/lib/text-cache';

// Every character matches in one way: matching is linear.
const nameComponent = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const domainComponent = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `${domainComponent}(?:\\.${domainComponent})*(?::[0-9]+)?`;
const tag = '[\\w][\\w.-]{0,127}';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
/** `registry.example:5000/team/app:v1@sha256:…`, where all parts but the name may be missing. */
const reference = new RegExp(`^((?:${domain}/)?${nameComponent}(?:/${nameComponent})*)(?::(${tag}))?(?:@(${digest}))?$`);
const identifier = /^[a-f0-9]{64}$/;
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };
const maxName = 255;
/** The default registry and its directory. */
const defaultRegistry = 'docker.io/library/';

/** The requested tag: `latest` if there is neither tag nor digest. Undefined for an invalid reference. */
export function imageTag(image: string): string | undefined {
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasRegistry = first.includes('.') || first.includes(':') || first === 'localhost';
  const rest = hasRegistry ? image.slice(slash + 1) : image;
  const colon = rest.indexOf(':');
  const name = colon < 0 ? rest : rest.slice(0, colon);
  if (identifier.test(image) || name !== name.toLowerCase()) return undefined;
  const match = reference.exec(image);
  if (match === null) return undefined;
  const full = (hasRegistry ? '' : defaultRegistry).length + (match[1] as string).length;
  if (full > maxName || !isDigest(match[3])) return undefined;
  return match[2] ?? (match[3] === undefined ? 'latest' : '');
}

function isDigest(text: string | undefined): boolean {
  if (text === undefined) return true;
  const [algorithm = '', hex = ''] = text.split(':');
  return own(digestLengths, algorithm) === hex.length && /^[a-f0-9]+$/.test(hex);
}

/** Recently seen images: the pods of a workload share one. */
const policyByImage = new TextCache<'Always' | 'IfNotPresent'>(1024, maxName);

/** An image with a mutable tag is pulled for every container. */
export const pullPolicyOf = (image: string): 'Always' | 'IfNotPresent' => policyByImage.get(image, policyOf);
const policyOf = (image: string): 'Always' | 'IfNotPresent' => (imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent');
