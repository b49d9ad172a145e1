/** Path of a group version: `/api/v1`, `/apis/apps/v1`. `group` is the full name. */
export const versionPath = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** Whether anyone on the network can read a token that is sent to this server: it is another machine, without TLS. */
export function isReadable(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  const loopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  return protocol === 'http:' && !loopback;
}
