/** The entries of resources in discovery documents. */

import { createHash } from 'node:crypto';
import type { APIResource } from '@plat-dev/kinds/meta-kinds';
import { own } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { servesHistory } from '../history/access.ts';
import type { Resource } from '../registry/catalog.ts';
import type { Services } from '../services.ts';
import { compareText } from './groups.ts';

/** Built-in verbs come in the order of names; those of custom kinds in the order the stock server has for them. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/**
 * The stock server stores these kinds in another version than we do, at least in some releases: the version, and from which release on
 * another. The hash of the storage version says nothing to clients but whether it changed, and a stock cluster's clients have seen
 * this one.
 */
const stockStorageVersions: Readonly<Record<string, string>> = {
  'admissionregistration/mutatingadmissionpolicies': 'v1alpha1 1.35:v1beta1',
  'admissionregistration/mutatingadmissionpolicybindings': 'v1alpha1 1.35:v1beta1',
  'admissionregistration/validatingadmissionpolicies': 'v1alpha1 1.29:v1beta1 1.31:v1',
  'admissionregistration/validatingadmissionpolicybindings': 'v1alpha1 1.29:v1beta1 1.31:v1',
  'apiextensions/customresourcedefinitions': 'v1beta1',
  'autoscaling/horizontalpodautoscalers': 'v1 1.27:v2',
  'discovery/endpointslices': 'v1beta1 1.31:v1',
  'flowcontrol.apiserver/flowschemas': 'v1beta1 1.26:v1beta2 1.27:v1beta3 1.30:v1',
  'flowcontrol.apiserver/prioritylevelconfigurations': 'v1beta1 1.26:v1beta2 1.27:v1beta3 1.30:v1',
  'networking/ipaddresses': 'v1alpha1 1.31:v1beta1 1.34:v1',
  'networking/servicecidrs': 'v1alpha1 1.31:v1beta1 1.34:v1',
  'policy/poddisruptionbudgets': 'v1beta1 1.27:v1',
  'resource/deviceclasses': 'v1alpha3 1.32:v1beta1 1.34:v1beta2 1.35:v1',
  'resource/resourceclaims': 'v1alpha2 1.31:v1alpha3 1.32:v1beta1 1.34:v1beta2 1.35:v1',
  'resource/resourceclaimtemplates': 'v1alpha2 1.31:v1alpha3 1.32:v1beta1 1.34:v1beta2 1.35:v1',
  'resource/resourceslices': 'v1alpha2 1.31:v1alpha3 1.32:v1beta1 1.34:v1beta2 1.35:v1',
  'storage/csistoragecapacities': 'v1beta1 1.25:v1',
  'storage/volumeattributesclasses': 'v1alpha1 1.31:v1beta1 1.36:v1',
};

/** The version of `v1 1.27:v2` that a release has. */
function versionIn(versions: string, release: string): string {
  const [first = '', ...changes] = versions.split(' ');
  const last = changes.map((change) => change.split(':')).findLast(([since = '']) => isAtLeast(release, since));
  return last?.[1] ?? first;
}

/** Releases from this one on name the singular of built-in kinds. */
const SINGULAR_SINCE = '1.27';

/** The resource, and its subresources after it. */
export function entriesOf(services: Pick<Services, 'registry'>, resource: Resource): APIResource[] {
  const { kind } = resource;
  const own: APIResource = {
    name: kind.plural,
    singularName: resource.custom || isAtLeast(services.registry.catalog.release, SINGULAR_SINCE) ? kind.singular : '',
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: verbsOf(services, resource),
    ...(kind.short.length > 0 && { shortNames: [...kind.short] }),
    ...(kind.categories.length > 0 && { categories: [...kind.categories] }),
    ...(!kind.virtual &&
      services.registry.env.feature('StorageVersionHash') && {
        storageVersionHash: storageVersionHash(resource, services.registry.catalog.release),
      }),
  };
  const names = Object.keys(kind.subresources);
  // The stock server shows the status of a custom kind before its scale.
  if (resource.custom) names.sort((a, b) => compareText(b, a));
  else names.sort(compareText);
  return [own, ...names.map((name) => subresourceEntry(services, resource, name))];
}

function verbsOf({ registry }: Pick<Services, 'registry'>, { kind, custom }: Resource): string[] {
  const hasHistory = !kind.virtual && kind.verbs.includes('get') && servesHistory(registry.catalog);
  const historyVerb = hasHistory ? ['history'] : [];
  if (custom) return [...customVerbs.filter((verb) => (kind.verbs as readonly string[]).includes(verb)), ...historyVerb];
  return [...kind.verbs, ...historyVerb].sort();
}

function subresourceEntry(services: Pick<Services, 'registry'>, resource: Resource, name: string): APIResource {
  const { kind } = resource;
  const sub = own(kind.subresources, name) as (typeof kind.subresources)[string];
  const entry = { name: `${kind.plural}/${name}`, singularName: '', namespaced: kind.namespaced };
  const verbs = [...sub.verbs].sort(compareText);
  if (sub.type === 'object') return { ...entry, kind: kind.kind, verbs };
  const group = services.registry.catalog.groupName(sub.kind.group);
  const foreign = group !== resource.group || sub.kind.version !== resource.version;
  return { ...entry, ...(foreign && { group, version: sub.kind.version }), kind: sub.kind.kind, verbs };
}

/** Changes when the version in which the objects are stored changes. */
function storageVersionHash(resource: Resource, release: string): string {
  const { kind, hub } = resource;
  const stock = stockStorageVersions[`${kind.group}/${kind.plural}`];
  const { group, version } = splitApiVersion(hub.apiVersion);
  return createHash('sha256')
    .update(`${group}/${stock === undefined ? version : versionIn(stock, release)}/${kind.kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}
