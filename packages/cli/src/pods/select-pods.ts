/** The pods of an argument: a pod, or those that a workload or service selects. */
import { type ApiResource, resourcePath } from '@plat-dev/client/discovery';
import { queryOf } from '@plat-dev/client/dynamic';
import { FlagError } from '@plat-dev/lib/flags';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';

interface Container {
  readonly name: string;
  readonly tty?: boolean;
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number; readonly protocol?: string }[];
}
export interface Pod {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
  };
  readonly status?: { readonly phase?: string };
}
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}
type Labels = Readonly<Record<string, string>>;
interface Selecting {
  readonly kind?: string;
  readonly spec?: {
    readonly selector?: Labels | { readonly matchLabels?: Labels; readonly matchExpressions?: readonly Requirement[] };
  };
}

const pods: Pick<ApiResource, 'group' | 'version' | 'name' | 'namespaced'> = { group: '', version: 'v1', name: 'pods', namespaced: true };
export const podPath = (namespace: string, name?: string): string => resourcePath(pods as ApiResource, namespace, name);
const POLL_MS = 500;

/** `web`, `pod/web`, `deployment/web`, `service/web`: the type, and the name. Throws FlagError. */
export function parseTarget(word: string): { type: string; name: string } {
  const [first = '', second, more] = word.split('/');
  if (more !== undefined || first === '' || second === '')
    throw new FlagError(`${JSON.stringify(word)} is neither a pod nor of the form type/name`);
  return second === undefined ? { type: 'pod', name: first } : { type: first, name: second };
}

/** All pods that the argument selects; for a workload it waits for at least one. */
export async function podsOf(work: Work, word: string, waitMillis: number): Promise<Pod[]> {
  const { type, name } = parseTarget(word);
  const isPod = ['pod', 'pods', 'po'].includes(type.toLowerCase());
  if (isPod) return [await read<Pod>(work, podPath(work.namespace, name))];
  const resource = await work.discovery.find(type);
  const object = await read<Selecting>(work, resourcePath(resource, work.namespace, name));
  const selector = selectorOf(object);
  const { version, kind } = resource;
  if (selector === '' && isStock(work.io)) {
    throw new Error(`cannot attach to *${version}.${kind}: selector for *${version}.${kind} not implemented`);
  }
  if (selector === '') throw new Error(`${type}/${name} selects no pods: name a pod instead`);
  const deadline = work.io.clock.monotonic() + waitMillis;
  for (;;) {
    const pods = await podsLabelled(work, selector);
    if (pods.length > 0) return pods;
    if (work.io.clock.monotonic() > deadline) throw new Error(`there is no pod of ${type}/${name} (labels ${selector})`);
    await work.io.clock.sleep(POLL_MS, work.signal);
  }
}

/** Running pods come first. */
export async function podsLabelled(work: Work, labelSelector: string): Promise<Pod[]> {
  const list = await read<{ items?: Pod[] | null }>(work, `${podPath(work.namespace)}?${queryOf({ labelSelector })}`);
  const rank = ({ status }: Pod): number => (status?.phase === 'Running' ? 0 : 1);
  return [...(list.items ?? [])].sort((a, b) => rank(a) - rank(b));
}

function read<T>(work: Work, path: string): Promise<T> {
  return work.session.transport.object<T>({ path, signal: work.signal, ...work.session.timeout });
}

/** The label selector of a workload (matchLabels, matchExpressions) or of a service (a map of labels). */
function selectorOf({ spec }: Selecting): string {
  const selector = spec?.selector ?? {};
  const structured = 'matchLabels' in selector || 'matchExpressions' in selector;
  const { matchLabels, matchExpressions = [] } = (structured ? selector : { matchLabels: selector }) as {
    matchLabels?: Labels;
    matchExpressions?: readonly Requirement[];
  };
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}

export function containersOf({ spec }: Pod): { name: string; sort: '' | ' (init)' | ' (ephem)' }[] {
  return [
    ...(spec?.initContainers ?? []).map(({ name }) => ({ name, sort: ' (init)' as const })),
    ...(spec?.containers ?? []).map(({ name }) => ({ name, sort: '' as const })),
    ...(spec?.ephemeralContainers ?? []).map(({ name }) => ({ name, sort: ' (ephem)' as const })),
  ];
}

/** The default container; prints which one when there are several. */
export function chosenContainer(work: Work, pod: Pod, givenName: string, quiet = false): string {
  const all = containersOf(pod);
  if (givenName !== '') {
    if (all.some(({ name }) => name === givenName)) return givenName;
    throw new FlagError(
      `the pod ${pod.metadata.name} has no container ${JSON.stringify(givenName)}: it has ${all.map((c) => c.name).join(', ')}`,
    );
  }
  const annotation = Object.entries(pod.metadata.annotations ?? {}).find(([key]) => key.endsWith('/default-container'))?.[1];
  const marked = all.find(({ name }) => name === annotation);
  const usual = all.filter(({ sort }) => sort === '');
  const container = marked ?? usual[0] ?? all[0];
  if (container === undefined) throw new Error(`the pod ${pod.metadata.name} has no containers`);
  if (marked === undefined && all.length > 1 && !quiet) {
    const others = [...usual, ...all.filter(({ sort }) => sort !== '')].map(({ name, sort }) => `${name}${sort}`);
    work.io.err(`Defaulted container "${container.name}" out of: ${others.join(', ')}\n`);
  }
  return container.name;
}
