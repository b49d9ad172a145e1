/**
 * Which kinds are loaded before the server is ready, however many objects they have: those that authentication,
 * authorization, admission and the server's own upkeep look up without waiting. All others may be loaded later
 * (`CollectionOptions.later`), and readers wait for `Collection.pending`, or for the one object that they look up, by
 * `Collection.look`: requests do so in `server/api.ts`.
 */
import type { Kind } from '@plat-dev/kinds/kind';

/** By base group and plural. */
export const loadedFirst: ReadonlySet<string> = new Set([
  ...['endpoints', 'limitranges', 'namespaces', 'nodes', 'resourcequotas', 'services'].map(core),
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((plural) => `admissionregistration/${plural}`),
  ...['mutating', 'validating'].flatMap((type) =>
    ['policies', 'policybindings'].map((plural) => `admissionregistration/${type}admission${plural}`),
  ),
  'apiextensions/customresourcedefinitions',
  'apiregistration/apiservices',
  ...['flowschemas', 'prioritylevelconfigurations'].map((plural) => `flowcontrol.apiserver/${plural}`),
  ...['ingressclasses', 'ipaddresses', 'servicecidrs'].map((plural) => `networking/${plural}`),
  'node/runtimeclasses',
  'policy/podsecuritypolicies',
  ...['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'].map((plural) => `rbac.authorization/${plural}`),
  'scheduling/priorityclasses',
  'storage/storageclasses',
]);
function core(plural: string): string {
  return `/${plural}`;
}

/** Kinds that may be loaded later though the server looks them up: all who do wait for `Live.pending` or `Live.look`. */
const awaited: ReadonlySet<string> = new Set([
  ...['persistentvolumes', 'pods', 'secrets', 'serviceaccounts'].map(core),
  'coordination/leases',
  'resource/resourceslices',
  'storage/volumeattachments',
]);

type Named = Pick<Kind, 'group' | 'plural' | 'custom'>;

export const mayLoadLater = ({ group, plural, custom }: Named): boolean => custom === true || !loadedFirst.has(`${group}/${plural}`);

/** Throws for a kind that may not be loaded yet when it is looked up. */
export function checkLookedUp(kind: Named): void {
  const { group, plural } = kind;
  if (!mayLoadLater(kind) || awaited.has(`${group}/${plural}`)) return;
  throw new Error(`${group}/${plural} may be loaded later, and cannot be looked up: see server/registry/loaded-first.ts`);
}
