/**
 * The text of `apiVersion`: a group and a version, or a version of the core group, whose name is empty.
 *
 *   join('apps', 'v1') → 'apps/v1'      split('apps/v1') → { group: 'apps', version: 'v1' }
 *   join('', 'v1')     → 'v1'           split('v1')      → { group: '', version: 'v1' }
 *
 * A text with several slashes is not an apiVersion (`isApiVersion`); split divides it at the first one.
 */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export const joinApiVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);
/** The same for a value with a group and a version. */
export const apiVersionOf = ({ group, version }: GroupVersion): string => joinApiVersion(group, version);

export const splitApiVersion = (apiVersion: string): GroupVersion => ({
  group: groupOfApiVersion(apiVersion),
  version: versionOfApiVersion(apiVersion),
});
export const groupOfApiVersion = (apiVersion: string): string => apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0));
export const versionOfApiVersion = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

/** Whether a text can be an apiVersion: it has at most one slash. */
export const isApiVersion = (text: string): boolean => text.indexOf('/') === text.lastIndexOf('/');

/** As errors print it before a kind, always with a slash: `/v1`, `apps/v1`. */
export const slashedApiVersion = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion : `/${apiVersion}`);
