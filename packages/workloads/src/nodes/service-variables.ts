/**
 * The environment variables by which containers find services.
 *
 *   service web, 10.0.0.11, port http 80     WEB_SERVICE_HOST=10.0.0.11   WEB_SERVICE_PORT=80   WEB_SERVICE_PORT_HTTP=80
 *                                            WEB_PORT=tcp://10.0.0.11:80  WEB_PORT_80_TCP=tcp://10.0.0.11:80  …
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { Wire } from '@plat-dev/kinds/wire';

export type ServiceObject = Wire<Service>;

const upper = (name: string): string => name.toUpperCase().replaceAll('-', '_');
const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** None for a service without an address of its own. */
export function* serviceVariables({ metadata, spec }: ServiceObject): Generator<[string, string]> {
  const host = spec?.clusterIP ?? '';
  const ports = spec?.ports ?? [];
  const [first] = ports;
  if (host === '' || host === 'None' || first === undefined) return;
  const name = upper(metadata.name ?? '');
  yield [`${name}_SERVICE_HOST`, host];
  yield [`${name}_SERVICE_PORT`, String(first.port)];
  for (const port of ports) if ((port.name ?? '') !== '') yield [`${name}_SERVICE_PORT_${upper(port.name ?? '')}`, String(port.port)];
  for (const [i, { port, protocol = 'TCP' }] of ports.entries()) {
    const url = `${protocol.toLowerCase()}://${hostPort(host, port)}`;
    const prefix = `${name}_PORT_${port}_${protocol.toUpperCase()}`;
    if (i === 0) yield [`${name}_PORT`, url];
    yield [prefix, url];
    yield [`${prefix}_PROTO`, protocol.toLowerCase()];
    yield [`${prefix}_PORT`, String(port)];
    yield [`${prefix}_ADDR`, host];
  }
}
