/** The resource claims of a pod, and which of them its containers use. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label } from '@plat-dev/meta/names';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { ResourceRequirements } from '../../core/schema/resources.ts';
import type { KindEnv } from '../../kind.ts';
import { label, report, subdomain } from '../field-checks.ts';

type PodClaim = NonNullable<PodSpec['resourceClaims']>[number];

/** The names by which containers may refer to the claims of their pod. */
export const claimNamesOf = ({ resourceClaims = [] }: PodSpec): ReadonlySet<string> =>
  new Set(resourceClaims.map(({ name }) => name).filter((name) => name !== ''));

/** `isStatic`: the pod stands for one that a node runs by itself. */
export function validatePodClaims(claims: readonly PodClaim[], isStatic: boolean, at: Path, errors: FieldErrors, env: KindEnv): void {
  const names = new Set<string>();
  claims.forEach((claim, i) => {
    const here = at.index(i);
    if (isStatic) {
      errors.forbidden(Path.of(''), 'static pods do not support resource claims');
      return;
    }
    if (claim.name === '') errors.required(here.child('name'));
    else if (names.has(claim.name)) errors.duplicate(here.child('name'), claim.name);
    else label(claim.name, here.child('name'), errors);
    names.add(claim.name);
    validateSource(claim, here, errors, env);
  });
}

function validateSource(claim: PodClaim, at: Path, errors: FieldErrors, env: KindEnv): void {
  const isOlder = !env.since('1.31');
  const { resourceClaimName, resourceClaimTemplateName } = isOlder ? claim.source : claim;
  const sourceAt = isOlder ? at.child('source') : at;
  const sourceText = {
    ...(isOlder ? {} : { Name: claim.name }),
    ResourceClaimName: resourceClaimName ?? null,
    ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
  };
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
    errors.invalid(sourceAt, sourceText, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified');
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
    errors.invalid(sourceAt, sourceText, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  if (resourceClaimName !== undefined) subdomain(resourceClaimName, sourceAt.child('resourceClaimName'), errors);
  if (resourceClaimTemplateName !== undefined) subdomain(resourceClaimTemplateName, sourceAt.child('resourceClaimTemplateName'), errors);
}

/** The claims that a container uses: whole ones, or single requests of them. */
export function validateUsedClaims(
  { claims = [] }: Pick<ResourceRequirements, 'claims'>,
  claimNames: ReadonlySet<string>,
  at: Path,
  errors: FieldErrors,
): void {
  const wholeClaims = new Set<string>();
  const requests = new Map<string, Set<string>>();
  claims.forEach(({ name, request = '' }, i) => {
    const here = at.index(i);
    if (name === '') {
      errors.required(here);
      return;
    }
    const usedRequests = requests.get(name) ?? new Set();
    requests.set(name, usedRequests);
    if (wholeClaims.has(name)) errors.duplicate(here, name);
    else if (request === '') {
      if (usedRequests.size > 0) errors.duplicate(here, name);
      wholeClaims.add(name);
    } else {
      report(errors, here.child('request'), request, dns1123Label(request));
      if (usedRequests.has(request)) errors.duplicate(here, `${name}/${request}`);
      usedRequests.add(request);
    }
    if (!claimNames.has(name)) {
      const names = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
      errors.add(
        'FieldValueNotFound',
        here,
        `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${names}`,
      );
    }
  });
}
