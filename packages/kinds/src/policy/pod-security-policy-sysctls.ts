/** Kernel parameters that a pod security policy allows or forbids, by name or, with a star at the end, by prefix. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { each } from '../validation/each.ts';
import type { PodSecurityPolicySpec } from './schema/pod-security-policy.ts';

const MAX_LENGTH = 253;
const pattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const regex = new RegExp(`^${pattern}$`);

export function validateSysctls(spec: PodSecurityPolicySpec, at: Path, errors: FieldErrors): void {
  const allowed = spec.allowedUnsafeSysctls ?? [];
  const forbidden = spec.forbiddenSysctls ?? [];
  validateList(allowed, at.child('allowedUnsafeSysctls'), errors);
  validateList(forbidden, at.child('forbiddenSysctls'), errors);
  each(allowed, at.child('allowedUnsafeSysctls'), (allows, here) => {
    each(forbidden, at.child('forbiddenSysctls'), (forbids, there) => {
      if (!overlap(allows, forbids)) return;
      // The error names the pattern that the other one covers.
      if (allows.endsWith('*')) errors.invalid(there, forbids, `sysctl overlaps with ${allows}`);
      else errors.invalid(here, allows, `sysctl overlaps with ${forbids}`);
    });
  });
}

function validateList(sysctls: readonly string[], at: Path, errors: FieldErrors): void {
  let all = false;
  each(sysctls, at, (sysctl, here) => {
    if (sysctl === '') errors.invalid(here, sysctl, 'empty sysctl not allowed');
    else if (sysctl.length > MAX_LENGTH || !regex.test(sysctl))
      errors.invalid(here, sysctl, `must have at most ${MAX_LENGTH} characters and match regex ${pattern}`);
    else if (sysctl.startsWith('*')) all = true;
  });
  if (all && sysctls.length > 1) errors.forbidden(at.child('items'), "if '*' is present, must not specify other sysctls");
}

function overlap(a: string, b: string): boolean {
  const prefixA = a.endsWith('*') ? a.slice(0, -1) : undefined;
  const prefixB = b.endsWith('*') ? b.slice(0, -1) : undefined;
  if (prefixA !== undefined && prefixB !== undefined) return prefixA.startsWith(prefixB) || prefixB.startsWith(prefixA);
  if (prefixA !== undefined) return b.startsWith(prefixA);
  if (prefixB !== undefined) return a.startsWith(prefixB);
  return a === b;
}
