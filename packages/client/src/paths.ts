/** Path of a group version: `/api/v1`, `/apis/apps/v1`. `group` is the full name. */
export const versionPath = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
