/** AppArmor profiles: the fields, and their agreement with the annotations that are older. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { AppArmorProfile } from '../../core/schema/pods/security-context.ts';
import type { KindEnv, ObjectMeta } from '../../kind.ts';
import { eachContainer } from './each-container.ts';
import { podNames } from './pod-names.ts';

const types = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const longestProfile = 4095;

export function validateAppArmorProfile({ type, localhostProfile }: AppArmorProfile, at: Path, errors: FieldErrors): void {
  const profileAt = at.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined || localhostProfile === '')
      errors.required(profileAt, 'must be set when AppArmor type is Localhost');
    else if (localhostProfile !== localhostProfile.trim())
      errors.invalid(profileAt, localhostProfile, 'must not be padded with whitespace');
    if (localhostProfile !== undefined && Buffer.byteLength(localhostProfile) > longestProfile) errors.tooLong(profileAt, longestProfile);
  } else if (type === '') errors.required(at.child('type'), 'type is required when appArmorProfile is set');
  else if (!types.includes(type)) errors.notSupported(at.child('type'), type, types);
  else if (localhostProfile !== undefined) errors.invalid(profileAt, localhostProfile, 'can only be set when AppArmor type is Localhost');
}

/** If a new pod has both forms they must agree. `at` is the path of the spec. */
export function validateAppArmorForms({ annotations }: ObjectMeta, spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (annotations === undefined || !env.feature('AppArmorFields') || spec.os?.name === 'windows') return;
  const { appArmorContainer } = podNames(env.identity);
  eachContainer(spec, at, ({ name, securityContext }, here) => {
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const text = own(annotations, appArmorContainer + name);
    if (profile === undefined || text === undefined) return;
    const profileAt = here.child('securityContext').child('appArmorProfile');
    const isSameType =
      profile.type === 'Unconfined'
        ? text === 'unconfined'
        : profile.type === 'RuntimeDefault'
          ? text === 'runtime/default'
          : profile.type !== 'Localhost' || text.startsWith(localhost);
    if (!isSameType) errors.forbidden(profileAt.child('type'), 'apparmor type in annotation and field must match');
    else if (profile.type === 'Localhost' && text !== localhost + profile.localhostProfile)
      errors.forbidden(profileAt.child('localhostProfile'), 'apparmor profile in annotation and field must match');
  });
}
const localhost = 'localhost/';

/** The profile that an annotation names; undefined if it names none. */
export function profileOfAnnotation(text: string): AppArmorProfile | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  return text.startsWith(localhost) ? { type: 'Localhost', localhostProfile: text.slice(localhost.length) } : undefined;
}
export function annotationOfProfile({ type, localhostProfile }: AppArmorProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && localhostProfile !== undefined ? localhost + localhostProfile : undefined;
}
