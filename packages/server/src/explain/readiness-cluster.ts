/** Why nodes, APIs of other servers and definitions are not ready. */
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, quoted, sentence } from './cause.ts';
import { conditionsOf, unmetConditions } from './conditions.ts';
import type { Readiness } from './readiness-question.ts';
import type { Reason } from './reasons.ts';

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

const definitionReasons: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ['NamesAccepted', 'NamesConflict'],
  ['NonStructuralSchema', 'NonStructuralSchema'],
  ['Terminating', 'Deleting'],
]);

export async function definitionCauses(_readiness: Readiness, target: Target): Promise<Cause[]> {
  const conditions = conditionsOf(target.object);
  const causes: Cause[] = [];
  for (const { type = '', status, reason = '', message = '' } of conditions) {
    const isUnmet =
      type === 'NamesAccepted' || type === 'Established'
        ? status !== 'True'
        : (type === 'NonStructuralSchema' || type === 'Terminating') && status === 'True';
    if (!isUnmet) continue;
    const text = sentence(`Its condition ${type} is ${status}${reason === '' ? '' : `: ${reason}`}${message === '' ? '' : `: ${message}`}`);
    const command = type === 'Terminating' ? commandOn('why not deleted', target) : commandOn('describe', target);
    causes.push(causeOf(target, definitionReasons.get(type) ?? 'NotEstablished', text, command));
  }
  if (conditions.length === 0) causes.push(causeOf(target, 'NotEstablished', 'The server has not looked at it yet.'));
  return causes;
}
