/** Validation of security contexts. */
import type { Integer } from '@plat-dev/lib/integers';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Subdomain, userOrGroupId } from '@plat-dev/meta/names';
import type { SeccompProfile, SecurityContext, WindowsSecurityContextOptions } from '../../core/schema/pods/security-context.ts';
import type { KindEnv } from '../../kind.ts';
import { report } from '../field-checks.ts';
import { descendingPath } from '../paths.ts';
import { validateAppArmorProfile } from './app-armor.ts';

const procMounts = ['Default', 'Unmasked'];

/** A user or group id that may be left out. */
export function validateId(id: Integer | undefined, at: Path, field: string, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > 0x7fffffff)) report(errors, at.child(field), id, userOrGroupId(id));
}

/** `onHostUsers`: the users of the container are those of the node. */
export function validateSecurityContext(context: SecurityContext, onHostUsers: boolean, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { privileged, procMount } = context;
  if (privileged && !env.allowPrivileged) errors.forbidden(at.child('privileged'), 'disallowed by cluster policy');
  validateId(context.runAsUser, at, 'runAsUser', errors);
  validateId(context.runAsGroup, at, 'runAsGroup', errors);
  if (procMount !== undefined && !procMounts.includes(procMount)) errors.notSupported(at.child('procMount'), procMount, procMounts);
  if (procMount === 'Unmasked' && onHostUsers && env.since('1.30'))
    errors.invalid(at.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`');
  if (context.seccompProfile !== undefined) validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'), errors);
  if (context.allowPrivilegeEscalation === false) {
    if (privileged) errors.invalid(at, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
    for (const capability of context.capabilities?.add ?? [])
      if (capability === 'CAP_SYS_ADMIN')
        errors.invalid(at, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
  }
  if (context.windowsOptions !== undefined) validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'), errors);
  if (context.appArmorProfile !== undefined) validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'), errors);
}

const seccompTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

export function validateSeccompProfile(profile: SeccompProfile, at: Path, errors: FieldErrors): void {
  const { type, localhostProfile } = profile;
  if (type === '') errors.required(at.child('type'), 'type is required when seccompProfile is set');
  else if (!seccompTypes.includes(type)) errors.notSupported(at.child('type'), type, seccompTypes);
  if (type === 'Localhost') {
    if (localhostProfile === undefined) errors.required(at.child('localhostProfile'), 'must be set when seccomp type is Localhost');
    else descendingPath(localhostProfile, at.child('localhostProfile'), errors);
  } else if (localhostProfile !== undefined)
    errors.invalid(at.child('localhostProfile'), profile, 'can only be set when seccomp type is Localhost');
}

// ---- Windows -----------------------------------------------------------------------------------------------------

const maxSpecKiB = 64;
const maxDomain = 256;
const maxUser = 104;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controlCharacter = /[\u0000-\u001f\u007f]/;
/** NetBIOS names: at most 15 characters, not beginning with a dot. */
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);

export function validateWindowsOptions(options: WindowsSecurityContextOptions, at: Path, errors: FieldErrors): void {
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  if (name !== undefined) report(errors, at.child('gmsaCredentialSpecName'), name, dns1123Subdomain(name));
  if (spec === '') errors.invalid(at.child('gmsaCredentialSpec'), spec, 'gmsaCredentialSpec cannot be an empty string');
  else if (spec !== undefined && Buffer.byteLength(spec) > maxSpecKiB * 1024)
    errors.invalid(at.child('gmsaCredentialSpec'), spec, `gmsaCredentialSpec size must be under ${maxSpecKiB} KiB`);
  if (user !== undefined) report(errors, at.child('runAsUserName'), user, windowsUserName(user));
}

function windowsUserName(text: string): string[] {
  if (text === '') return ['runAsUserName cannot be an empty string'];
  if (controlCharacter.test(text)) return ['runAsUserName cannot contain control characters'];
  const parts = text.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [domain, user = ''] = parts.length === 1 ? [undefined, parts[0]] : parts;
  const problems: string[] = [];
  if (domain !== undefined) {
    if (Buffer.byteLength(domain) >= maxDomain) problems.push(`runAsUserName's Domain length must be under ${maxDomain} characters`);
    if (!netBiosName.test(domain) && !dnsName.test(domain))
      problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (Buffer.byteLength(user) > maxUser) problems.push(`runAsUserName's User length must not be longer than ${maxUser} characters`);
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    problems.push('runAsUserName\'s User cannot contain the following characters: " / \\ [ ] : ; | = , + * ? < > @');
  return problems;
}
