/** Finalizers: who removes those that are known, and who set the others. */
import { cleanupFinalizer } from '@plat-dev/kinds/apiextensions/custom-resource-definition';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export const claimProtection = (identity: Identity): string => domainName(identity, 'pvc-protection');
export const volumeProtection = (identity: Identity): string => domainName(identity, 'pv-protection');
export { cleanupFinalizer };

/** Finalizers of the API itself, by what removes them. */
const ownFinalizers = (identity: Identity): Readonly<Record<string, string>> => ({
  [FOREGROUND]: 'the garbage collector, when all dependents that block are gone',
  [ORPHAN]: 'the garbage collector, when all dependents are released',
  [claimProtection(identity)]: 'the controller pvc-protection, when no pod uses the claim',
  [volumeProtection(identity)]: 'the controller pv-protection, when no claim is bound to the volume',
  [domainName(identity, 'vac-protection')]:
    'the controller volumeattributesclass-protection-controller, when no claim and no volume names the class',
  [`${groupName(identity, 'networking')}/service-cidr-finalizer`]:
    'the controller service-cidr-controller, when no address of the range is in use',
  [cleanupFinalizer(identity)]: 'the server, when all objects of the kind are gone',
  [domainName(identity, 'load-balancer-cleanup', 'service')]: 'the controller of load balancers, when the load balancer is gone',
  [domainName(identity, 'job-tracking', 'batch')]: 'the job controller, when it has counted the pod',
});

/** Finalizers of well-known controllers, by the end of their domain or by their whole name. */
const othersFinalizers: readonly (readonly [domain: string, remover: string])[] = [
  ['argocd.argoproj.io', 'the application controller of Argo CD'],
  ['argoproj.io', 'a controller of Argo'],
  ['fluxcd.io', 'a controller of Flux'],
  ['k8s.aws', 'the AWS Load Balancer Controller'],
  ['networking.gke.io', 'the ingress controller of GKE'],
  ['cattle.io', 'Rancher'],
  ['cert-manager.io', 'cert-manager'],
  ['crossplane.io', 'Crossplane or one of its providers'],
  ['rook.io', 'the Rook operator'],
  ['longhorn.io', 'the Longhorn manager'],
  ['tekton.dev', 'a controller of Tekton'],
  ['karpenter.sh', 'Karpenter'],
  ['istio.io', 'the Istio operator'],
  ['keda.sh', 'the KEDA operator'],
  ['velero.io', 'Velero'],
  ['knative.dev', 'a controller of Knative'],
  ['kubevirt.io', 'KubeVirt'],
  ['strimzi.io', 'the Strimzi operator'],
];

/** Finalizers of the sidecars of storage drivers, by the beginning of their domain. */
const driversFinalizers: readonly (readonly [start: string, remover: string])[] = [
  ['external-attacher', 'the CSI external-attacher'],
  ['external-provisioner', 'the CSI external-provisioner'],
  ['snapshot.storage', 'the CSI snapshot controller'],
];

/** Whoever usually removes a finalizer; undefined if it is not known. */
function usualRemover(identity: Identity, finalizer: string): string | undefined {
  const own = new Map(Object.entries(ownFinalizers(identity))).get(finalizer);
  if (own !== undefined) return own;
  const domain = domainOf(finalizer);
  const known =
    othersFinalizers.find(([end]) => domain === end || domain.endsWith(`.${end}`)) ??
    driversFinalizers.find(([start]) => domain === start || domain.startsWith(`${start}.`));
  return known?.[1];
}

const domainOf = (finalizer: string): string => finalizer.split('/')[0] ?? '';

/** The manager that set a finalizer, as the object says; undefined if it does not. */
function managerOfFinalizer({ metadata }: ApiObject, finalizer: string): string | undefined {
  const entry = metadata.managedFields?.find(({ fieldsV1 }) => {
    const fields = fieldsV1 as FieldTree | undefined;
    return fields?.['f:metadata']?.['f:finalizers']?.[`v:${JSON.stringify(finalizer)}`] !== undefined;
  });
  return entry?.manager;
}
interface FieldTree {
  readonly [field: string]: FieldTree | undefined;
}

/** Who removes a finalizer, in words: the known controller, else what name and manager tell. */
export function removerText(identity: Identity, object: ApiObject, finalizer: string): string {
  const remover = usualRemover(identity, finalizer);
  if (remover !== undefined) return `It is removed by ${remover}.`;
  const manager = managerOfFinalizer(object, finalizer);
  const domain = finalizer.includes('/') ? `of ${domainOf(finalizer)} ` : '';
  return manager === undefined
    ? `A controller ${domain}has to remove it.`
    : `It was set by the field manager ${manager}; a controller ${domain}has to remove it.`;
}

/** Removes one finalizer, and only that. */
export function removalFlags({ metadata }: ApiObject, finalizer: string): string {
  const path = `/metadata/finalizers/${(metadata.finalizers ?? []).lastIndexOf(finalizer)}`;
  const operations = [
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ];
  return `--type=json -p '${JSON.stringify(operations)}'`;
}
