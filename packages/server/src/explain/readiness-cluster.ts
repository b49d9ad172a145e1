/** Why nodes, APIs of other servers and definitions are not ready. */
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, quoted, sentence } from './cause.ts';
import { type Condition, conditionsOf, unmetConditions } from './conditions.ts';
import type { Readiness } from './readiness-question.ts';

export async function nodeReadiness({ view }: Readiness, target: Target): Promise<Cause[]> {
  const { name } = target.object.metadata;
  const ready = conditionsOf(target.object).find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return [];
  const pressures = unmetConditions(target, ({ type = '', status }) => /Pressure$|Unavailable$/.test(type) && status === 'True');
  const isSilent = ready === undefined || ready.status === 'Unknown';
  const why = ready?.message ? `: ${ready.message}` : '';
  const message = sentence(isSilent ? `Its agent does not report${why}` : `Its agent reports that it is not ready${why}`);
  const command = `get leases/${name} -n ${view.identity.namespaces.nodeLease} -o yaml`;
  return [causeOf(target, isSilent ? 'NodeSilent' : 'NodeNotReady', message, command), ...pressures];
}

/** An API of another server is as ready as the service in front of it. */
export async function apiServiceCauses(readiness: Readiness, target: Target): Promise<Cause[]> {
  const { spec } = target.object as Wire<APIService>;
  const { view } = readiness;
  const unmet = unmetConditions(target, ({ type, status }) => type === 'Available' && status !== 'True');
  if (unmet.length === 0) return [];
  const { namespace = '', name = '' } = spec?.service ?? {};
  const services = view.builtin('', 'services');
  if (name === '') return unmet;
  const service = await view.get(services, namespace, name);
  if (service.object !== undefined) return [...(await readiness.of({ resource: services, object: service.object }, target)), ...unmet];
  if (!service.isKnown) return unmet;
  const message = `Its service ${namespace}/${name} does not exist.`;
  return [causeOf(target, 'ServiceMissing', message, `get services -n ${quoted(namespace)}`), ...unmet];
}

export async function definitionCauses(_readiness: Readiness, target: Target): Promise<Cause[]> {
  if (target.object.metadata.deletionTimestamp !== undefined)
    return [causeOf(target, 'Deleting', 'It is being deleted.', commandOn('why not deleted', target))];
  const conditions = conditionsOf(target.object);
  if (conditions.length === 0) return [causeOf(target, 'NotEstablished', 'The server has not looked at it yet.')];
  const isUnmet = (wanted: string) => (condition: Condition) => condition.type === wanted && condition.status !== 'True';
  return [
    ...unmetConditions(target, isUnmet('NamesAccepted'), 'NamesConflict'),
    ...unmetConditions(target, isUnmet('Established'), 'NotEstablished'),
  ];
}
