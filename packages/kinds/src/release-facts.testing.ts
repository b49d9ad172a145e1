/**
 * The group versions that stock servers of each release serve by default, as their default configurations list them: an independent
 * source to check the table of `releases.ts`. Groups are base names.
 */
import { apiReleases } from '@plat-dev/lib/version';

const first =
  'v1 admissionregistration/v1beta1 apiextensions/v1beta1 apiregistration/v1 apiregistration/v1beta1 apps/v1 apps/v1beta1 apps/v1beta2 ' +
  'authentication/v1 authentication/v1beta1 authorization/v1 authorization/v1beta1 autoscaling/v1 autoscaling/v2beta1 autoscaling/v2beta2 ' +
  'batch/v1 batch/v1beta1 certificates/v1beta1 coordination/v1 coordination/v1beta1 events/v1beta1 extensions/v1beta1 networking/v1 ' +
  'networking/v1beta1 node/v1beta1 policy/v1beta1 rbac.authorization/v1 rbac.authorization/v1beta1 scheduling/v1 scheduling/v1beta1 ' +
  'storage/v1 storage/v1beta1';

/** Group versions that were added (+) and removed (-) in each release. */
const changes: Readonly<Record<string, string>> = {
  '1.16': '+admissionregistration/v1 +apiextensions/v1 -apps/v1beta1 -apps/v1beta2',
  '1.17': '+discovery/v1beta1',
  '1.18': '',
  '1.19': '+certificates/v1 +events/v1',
  '1.20': '+node/v1 +flowcontrol.apiserver/v1beta1',
  '1.21': '+discovery/v1 +policy/v1',
  '1.22':
    '-admissionregistration/v1beta1 -apiextensions/v1beta1 -apiregistration/v1beta1 -authentication/v1beta1 -authorization/v1beta1 ' +
    '-certificates/v1beta1 -coordination/v1beta1 -extensions/v1beta1 -networking/v1beta1 -rbac.authorization/v1beta1 -scheduling/v1beta1',
  '1.23': '+autoscaling/v2 +flowcontrol.apiserver/v1beta2',
  '1.24': '',
  '1.25': '-autoscaling/v2beta1 -batch/v1beta1 -discovery/v1beta1 -events/v1beta1 -node/v1beta1 -policy/v1beta1',
  '1.26': '+flowcontrol.apiserver/v1beta3 -autoscaling/v2beta2 -flowcontrol.apiserver/v1beta1',
  '1.27': '-storage/v1beta1',
  '1.29': '+flowcontrol.apiserver/v1 -flowcontrol.apiserver/v1beta2',
  '1.32': '-flowcontrol.apiserver/v1beta3',
  '1.34': '+resource/v1',
};

/** Group versions that a release serves, sorted. */
export function groupVersionsOf(release: string): string[] {
  const served = new Set(first.split(' '));
  for (const one of apiReleases) {
    for (const change of (changes[one] ?? '').split(' ').filter((text) => text !== '')) {
      if (change.startsWith('+')) served.add(change.slice(1));
      else if (!served.delete(change.slice(1))) throw new Error(`${change} in ${one}: it was not there`);
    }
    if (one === release) return [...served].sort();
  }
  throw new Error(`no release ${release}`);
}

/** Resources that were added or removed within a group version that stays, each with the first and the last release that serves it. */
export const resourceSpans: readonly (readonly [resource: string, from: string, to: string])[] = [
  ['batch/v1/cronjobs', '1.21', '1.36'],
  ['extensions/v1beta1/daemonsets', '1.15', '1.15'],
  ['extensions/v1beta1/deployments', '1.15', '1.15'],
  ['extensions/v1beta1/ingresses', '1.15', '1.21'],
  ['extensions/v1beta1/networkpolicies', '1.15', '1.15'],
  ['extensions/v1beta1/podsecuritypolicies', '1.15', '1.15'],
  ['extensions/v1beta1/replicasets', '1.15', '1.15'],
  ['networking/v1/ingressclasses', '1.19', '1.36'],
  ['networking/v1/ingresses', '1.19', '1.36'],
  ['networking/v1/networkpolicies', '1.15', '1.36'],
  ['networking/v1beta1/ingressclasses', '1.18', '1.21'],
  ['networking/v1beta1/ingresses', '1.15', '1.21'],
  ['policy/v1beta1/poddisruptionbudgets', '1.15', '1.24'],
  ['policy/v1beta1/podsecuritypolicies', '1.15', '1.24'],
  ['storage/v1/csidrivers', '1.18', '1.36'],
  ['storage/v1/csinodes', '1.17', '1.36'],
  ['storage/v1/csistoragecapacities', '1.24', '1.36'],
  ['storage/v1/storageclasses', '1.15', '1.36'],
  ['storage/v1/volumeattachments', '1.15', '1.36'],
  ['admissionregistration/v1/mutatingadmissionpolicies', '1.36', '1.36'],
  ['admissionregistration/v1/mutatingadmissionpolicybindings', '1.36', '1.36'],
  ['admissionregistration/v1/validatingadmissionpolicies', '1.30', '1.36'],
  ['admissionregistration/v1/validatingadmissionpolicybindings', '1.30', '1.36'],
  ['authentication/v1/selfsubjectreviews', '1.28', '1.36'],
  ['flowcontrol.apiserver/v1/flowschemas', '1.29', '1.36'],
  ['flowcontrol.apiserver/v1/prioritylevelconfigurations', '1.29', '1.36'],
  ['flowcontrol.apiserver/v1beta2/flowschemas', '1.23', '1.28'],
  ['flowcontrol.apiserver/v1beta3/flowschemas', '1.26', '1.31'],
  ['networking/v1/ipaddresses', '1.33', '1.36'],
  ['networking/v1/servicecidrs', '1.33', '1.36'],
  ['resource/v1/deviceclasses', '1.34', '1.36'],
  ['resource/v1/resourceclaims', '1.34', '1.36'],
  ['resource/v1/resourceclaimtemplates', '1.34', '1.36'],
  ['resource/v1/resourceslices', '1.34', '1.36'],
  ['storage/v1/volumeattributesclasses', '1.34', '1.36'],
  ['storage/v1beta1/csidrivers', '1.15', '1.21'],
  ['storage/v1beta1/csinodes', '1.15', '1.21'],
  ['storage/v1beta1/csistoragecapacities', '1.21', '1.26'],
  ['storage/v1beta1/storageclasses', '1.15', '1.21'],
  ['storage/v1beta1/volumeattachments', '1.15', '1.21'],
];
