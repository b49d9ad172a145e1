/** Endpoints of services. */
import { equal } from '@plat-dev/lib/equal';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nonSpecialIP } from '@plat-dev/meta/ip';
import { nameIsSubdomain, portNumber } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { address, addressWarnings } from '../validation/addresses.ts';
import { each } from '../validation/each.ts';
import { label, qualified, report, word } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { type EndpointAddress, type EndpointPort, Endpoints } from './schema/service.ts';
import { portProtocols } from './services/service-types.ts';

const subsets = Path.of('subsets');

function validate(endpoints: Endpoints, errors: FieldErrors, env: KindEnv): void {
  endpoints.subsets?.forEach((subset, i) => {
    const at = subsets.index(i);
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    if (addresses.length === 0 && notReadyAddresses.length === 0) errors.required(at, 'must specify `addresses` or `notReadyAddresses`');
    each(addresses, at.child('addresses'), (address, here) => validateAddress(address, here, errors, env));
    each(notReadyAddresses, at.child('notReadyAddresses'), (address, here) => validateAddress(address, here, errors, env));
    each(ports, at.child('ports'), (port, here) => validatePort(port, ports.length > 1, here, errors));
  });
}

function validateUpdate(endpoints: Endpoints, old: Endpoints, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(endpoints, old, errors, env);
  metadataAgain(endpoints, { namespaced: true }, errors, env);
  // Subsets that did not change may stay, whatever later rules say.
  if (!env.since('1.33') || !equal(endpoints.subsets ?? [], old.subsets ?? [])) validate(endpoints, errors, env);
}

function validateAddress({ ip, hostname = '', nodeName }: EndpointAddress, at: Path, errors: FieldErrors, env: KindEnv): void {
  address(ip, at.child('ip'), errors, env);
  if (hostname !== '') label(hostname, at.child('hostname'), errors);
  if (nodeName !== undefined) report(errors, at.child('nodeName'), nodeName, nameIsSubdomain(nodeName));
  report(errors, at.child('ip'), ip, nonSpecialIP(ip));
}

function validatePort(port: EndpointPort, needsName: boolean, at: Path, errors: FieldErrors): void {
  const { name = '' } = port;
  if (name !== '') label(name, at.child('name'), errors);
  else if (needsName) errors.required(at.child('name'));
  report(errors, at.child('port'), port.port, portNumber(port.port));
  word(port.protocol, portProtocols, at.child('protocol'), errors);
  if (port.appProtocol !== undefined) qualified(port.appProtocol, at.child('appProtocol'), errors);
}

function warnings({ subsets: list }: Endpoints, _old: Endpoints | undefined, env: KindEnv): string[] {
  if (!env.since('1.33')) return [];
  const texts: string[] = [];
  const add = ({ ip }: EndpointAddress, at: Path): number => texts.push(...addressWarnings(ip, at.child('ip'), env));
  each(list, subsets, ({ addresses, notReadyAddresses }, at) => {
    each(addresses, at.child('addresses'), add);
    each(notReadyAddresses, at.child('notReadyAddresses'), add);
  });
  return texts;
}

/** How many endpoints a Table row names. */
const SHOWN = 3;

/** `10.1.0.4:80,10.1.0.5:80,10.1.0.6:80 + 4 more...` */
function summary(endpoints: Endpoints): string {
  if (endpoints.subsets === undefined || endpoints.subsets.length === 0) return '<none>';
  const addressTexts: string[] = [];
  let count = 0;
  const add = (ip: string, port?: number): void => {
    count++;
    if (addressTexts.length < SHOWN) addressTexts.push(port === undefined ? ip : `${ip.includes(':') ? `[${ip}]` : ip}:${port}`);
  };
  for (const { addresses = [], ports = [] } of endpoints.subsets) {
    if (ports.length === 0) for (const { ip } of addresses) add(ip);
    else for (const { port } of ports) for (const { ip } of addresses) add(ip, port);
  }
  const text = addressTexts.join(',');
  return count > SHOWN ? `${text} + ${count - SHOWN} more...` : text;
}

export const EndpointsKind = kind<Endpoints>({
  group: '',
  kind: 'Endpoints',
  plural: 'endpoints',
  short: ['ep'],
  scope: 'Namespaced',
  versions: { v1: { schema: Endpoints } },
  hub: 'v1',
  createOnUpdate: true,
  strategy: { validate, validateUpdate, warnings },
  columns: [nameColumn, { name: 'Endpoints', type: 'string', description: 'The first addresses and ports that are ready.' }, ageColumn],
  cells: (endpoints, env) => [endpoints.metadata.name ?? '', summary(endpoints), ageAt(env.now(), endpoints.metadata.creationTimestamp)],
});
