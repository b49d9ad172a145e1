/**
 * Addresses and ranges in fields that are older than strict rules. With these rules on, an update may keep what was stored; warnings tell of
 * what they will refuse.
 */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { cidrWarnings, ipWarnings, parseCIDR, strictCIDR, strictIP, validCIDR, validIP } from '@plat-dev/meta/ip';
import type { KindEnv, ReleaseEnv } from '../kind.ts';
import { report } from './field-checks.ts';

/** Reports what is wrong with an address, unless the stored object has it; returns whether it is valid. */
export function address(text: string, at: Path, errors: FieldErrors, env: KindEnv, stored: readonly string[] = []): boolean {
  if (env.since('1.33') && stored.includes(text)) return true;
  const problems = env.feature('StrictIPCIDRValidation') ? strictIP(text) : validIP(text);
  report(errors, at, text, problems);
  return problems.length === 0;
}

/** The same for a range; `invalidRange` is the text of releases before 1.33. */
export function range(
  text: string,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
  { stored = [], invalidRange }: { readonly stored?: readonly string[]; readonly invalidRange: string },
): boolean {
  if (!env.since('1.33')) {
    const isRange = parseCIDR(text) !== undefined;
    if (!isRange) errors.invalid(at, text, invalidRange);
    return isRange;
  }
  if (stored.includes(text)) return true;
  const problems = env.feature('StrictIPCIDRValidation') ? strictCIDR(text) : validCIDR(text);
  report(errors, at, text, problems);
  return problems.length === 0;
}

const warningsFrom = '1.27';
/** `spec.externalIPs[0]: IPv6 address "FE80::1" should be …` */
export const addressWarnings = (text: string, at: Path, env: ReleaseEnv): string[] =>
  env.since(warningsFrom) ? ipWarnings(text).map((warning) => `${at}: ${warning}`) : [];
export const rangeWarnings = (text: string, at: Path, env: ReleaseEnv): string[] =>
  env.since(warningsFrom) ? cidrWarnings(text).map((warning) => `${at}: ${warning}`) : [];
