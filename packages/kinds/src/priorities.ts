/** The order of groups and versions in discovery: higher comes first. Groups are base names. */

import { own } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';

/** A group without an entry comes last. */
const groups: Readonly<Record<string, number>> = {
  '': 18000,
  apps: 17800,
  events: 17750,
  authentication: 17700,
  authorization: 17600,
  autoscaling: 17500,
  batch: 17400,
  certificates: 17300,
  networking: 17200,
  policy: 17100,
  'rbac.authorization': 17000,
  storage: 16800,
  admissionregistration: 16700,
  apiextensions: 16700,
  scheduling: 16600,
  coordination: 16500,
  node: 16300,
  discovery: 16200,
  'flowcontrol.apiserver': 16100,
  'internal.apiserver': 16000,
  storagemigration: 15800,
};
/** `extensions` is preferred while it has workloads; with Ingress alone it comes after networking. */
const extensionsPriority = (release: string): number => (isAtLeast(release, '1.20') ? 17150 : 17900);

/** Devices moved up when they became beta. */
const resourcePriority = (release: string): number => (isAtLeast(release, '1.32') ? 16200 : 15900);

export function groupPriority(group: string, release: string): number {
  if (group === 'extensions') return extensionsPriority(release);
  return group === 'resource' ? resourcePriority(release) : (own(groups, group) ?? 15000);
}

/** Exceptions from the priority by stability. */
const versions: Readonly<Record<string, number>> = {
  '/v1': 1,
  'admissionregistration/v1beta1': 12,
  'apps/v1beta1': 1,
  'autoscaling/v2': 30,
  'autoscaling/v2beta2': 1,
  'batch/v2alpha1': 9,
  'coordination/v1alpha2': 12,
  'coordination/v1beta1': 13,
  'discovery/v1beta1': 12,
  'events/v1beta1': 5,
  'extensions/v1beta1': 1,
  'flowcontrol.apiserver/v1': 21,
  'flowcontrol.apiserver/v1alpha1': 9,
  'flowcontrol.apiserver/v1beta1': 12,
  'flowcontrol.apiserver/v1beta2': 15,
  'flowcontrol.apiserver/v1beta3': 18,
  'rbac.authorization/v1alpha1': 9,
  'rbac.authorization/v1beta1': 12,
  'resource/v1': 21,
  'resource/v1beta2': 15,
  'scheduling/v1alpha1': 9,
  'scheduling/v1beta1': 12,
};
const usual = (version: string): number => (version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15);

export const versionPriority = (group: string, version: string): number => versions[`${group}/${version}`] ?? usual(version);
