/** Secrets, config maps and claims that a pod needs before its containers start. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, explainedName, isEnough } from './cause.ts';

type WirePod = Wire<Pod>;

/** Keys in a message. */
const MOST_KEYS = 10;

export function claimNamesOf({ metadata, spec }: WirePod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim != null ? [persistentVolumeClaim.claimName] : ephemeral != null ? [`${metadata.name}-${name}`] : [],
  );
}

/** A reference to an object, and the key that is used of it; without keys all of it. */
interface Reference {
  readonly plural: 'secrets' | 'configmaps';
  readonly name: string;
  readonly keys: ReadonlySet<string>;
}
interface KeyReference extends Omit<Reference, 'keys'> {
  readonly keys: readonly string[];
}

export async function missingReferences(view: CallersView, target: Target): Promise<Cause[]> {
  const causes: Cause[] = [];
  const namespace = target.object.metadata.namespace ?? '';
  for (const { plural, name, keys } of uniqueReferences(target.object as WirePod)) {
    if (isEnough(causes)) break;
    const resource = view.builtin('', plural);
    const seen = await view.get<ApiObject & KeyedData>(resource, namespace, name);
    if (!seen.isKnown) continue;
    const word = plural === 'secrets' ? 'Secret' : 'ConfigMap';
    const kind = plural === 'secrets' ? 'secret' : 'config map';
    const command =
      seen.object === undefined ? `get ${plural} -n ${namespace}` : commandFor('describe', explainedName(resource, namespace, name));
    const missingKeys = seen.object === undefined ? [] : [...keys].filter((key) => !hasKey(seen.object as KeyedData, key));
    if (seen.object === undefined) causes.push(causeOf(target, `${word}Missing`, `The ${kind} ${name} does not exist.`, command));
    else if (missingKeys.length > 0)
      causes.push(
        causeOf(
          target,
          `${word}KeyMissing`,
          `The ${kind} ${name} has no key ${missingKeys.slice(0, MOST_KEYS).join(', ')}${missingKeys.length > MOST_KEYS ? `, and ${missingKeys.length - MOST_KEYS} others` : ''}.`,
          command,
        ),
      );
  }
  return causes;
}

interface KeyedData {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly binaryData?: Readonly<Record<string, unknown>>;
}
const hasKey = ({ data, binaryData }: KeyedData, key: string): boolean =>
  Object.hasOwn(data ?? {}, key) || Object.hasOwn(binaryData ?? {}, key);

function uniqueReferences(pod: WirePod): Reference[] {
  const byName = new Map<string, { readonly plural: Reference['plural']; readonly name: string; readonly keys: Set<string> }>();
  for (const { plural, name, keys } of [...volumeReferences(pod), ...variableReferences(pod)]) {
    const id = `${plural}/${name}`;
    const reference = byName.get(id) ?? { plural, name, keys: new Set() };
    byName.set(id, reference);
    for (const key of keys) reference.keys.add(key);
  }
  return [...byName.values()];
}

function* volumeReferences({ spec }: WirePod): Iterable<KeyReference> {
  for (const { secret, configMap, projected } of spec?.volumes ?? []) {
    if (secret != null) yield* needed('secrets', secret.secretName, secret);
    if (configMap != null) yield* needed('configmaps', configMap.name, configMap);
    for (const source of projected?.sources ?? []) {
      if (source.secret != null) yield* needed('secrets', source.secret.name, source.secret);
      if (source.configMap != null) yield* needed('configmaps', source.configMap.name, source.configMap);
    }
  }
}
function* variableReferences({ spec }: WirePod): Iterable<KeyReference> {
  for (const { env, envFrom } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const { secretRef, configMapRef } of envFrom ?? []) {
      if (secretRef != null) yield* needed('secrets', secretRef.name, secretRef);
      if (configMapRef != null) yield* needed('configmaps', configMapRef.name, configMapRef);
    }
    for (const { valueFrom } of env ?? []) {
      const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
      if (secretKeyRef != null) yield* needed('secrets', secretKeyRef.name, { ...secretKeyRef, items: [secretKeyRef] });
      if (configMapKeyRef != null) yield* needed('configmaps', configMapKeyRef.name, { ...configMapKeyRef, items: [configMapKeyRef] });
    }
  }
}

interface Source {
  readonly optional?: boolean | null;
  readonly items?: readonly { readonly key: string }[] | null;
}
function* needed(plural: Reference['plural'], name: string | undefined, { optional, items }: Source): Iterable<KeyReference> {
  if (name !== undefined && name !== '' && optional !== true) yield { plural, name, keys: (items ?? []).map(({ key }) => key) };
}
