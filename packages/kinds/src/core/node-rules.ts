/** Rules of nodes. */

import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { type IPFamily, parseCIDR } from '@plat-dev/meta/ip';
import { configMapKey, labelKey, labelValue, nameIsLabel, nameIsSubdomain } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { repeatedTexts, repeats } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { invalidText, listText } from '../validation/go-text.ts';
import { validateResourceAmount } from '../validation/resources.ts';
import type { ConfigMapNodeConfigSource, Node, NodeConfigSource } from './schema/node.ts';
import type { Taint } from './schema/pods/scheduling.ts';
import { sameList } from './services/service-types.ts';

const metadata = Path.of('metadata');
const podCIDRs = Path.of('spec', 'podCIDRs');

export function validateNode(node: Node, errors: FieldErrors, env: KindEnv): void {
  validateAnnotations(node, errors, env);
  validateTaints(node.spec.taints ?? [], metadata.child('taints'), errors);
  validateResources(node, errors, env);
  validatePodCIDRs(node.spec.podCIDRs ?? [], errors);
}

/** Validation of updates. The status subresource has only these rules. */
export function validateNodeUpdate(node: Node, old: Node, errors: FieldErrors, env: KindEnv): void {
  validateAnnotations(node, errors, env);
  validateResources(node, errors, env);
  const addresses = node.status.addresses ?? [];
  const again = repeats(addresses, ({ type, address }) => JSON.stringify([type, address]));
  addresses.forEach((address, i) => {
    if (again[i])
      errors.add(
        'FieldValueDuplicate',
        Path.of('status', 'addresses').index(i),
        `Duplicate value: core.NodeAddress{Type:${JSON.stringify(address.type)}, Address:${JSON.stringify(address.address)}}`,
      );
  });
  if ((old.spec.podCIDRs ?? []).length > 0 && !sameList(old.spec.podCIDRs, node.spec.podCIDRs))
    errors.forbidden(podCIDRs, 'node updates may not change podCIDR except from "" to valid');
  if ((old.spec.providerID ?? '') !== '' && old.spec.providerID !== node.spec.providerID)
    errors.forbidden(Path.of('spec', 'providerID'), 'node updates may not change providerID except from "" to valid');
  if (node.spec.configSource !== undefined) validateConfigSource(node.spec.configSource, Path.of('spec', 'configSource'), 'spec', errors);
  for (const name of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = node.status.config?.[name];
    if (source !== undefined) validateConfigSource(source, Path.of('status', 'config', name), 'status', errors);
  }
  validateTaints(node.spec.taints ?? [], metadata.child('taints'), errors);
  if ((node.spec.externalID ?? '') !== (old.spec.externalID ?? '')) errors.forbidden(Path.of('spec', 'externalID'), 'may not be updated');
}

// ---- taints ------------------------------------------------------------------------------------------------------

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints(taints: readonly Taint[], at: Path, errors: FieldErrors): void {
  const again = repeats(taints, ({ key, effect }) => JSON.stringify([key, effect]));
  taints.forEach((taint, i) => {
    const here = at.index(i);
    report(errors, here.child('key'), taint.key, labelKey(taint.key));
    const wrong = labelValue(taint.value ?? '');
    if (wrong.length > 0) errors.invalid(here.child('value'), taint.value, wrong.join(';'));
    if (taint.effect === '') errors.required(here.child('effect'));
    else if (!effects.includes(taint.effect)) errors.notSupported(here.child('effect'), taint.effect, effects);
    if (again[i])
      errors.add('FieldValueDuplicate', here, `Duplicate value: ${taintText(taint)}: taints must be unique by key and effect pair`);
  });
}

const taintText = ({ key, value = '', effect }: Taint): string => JSON.stringify({ key, ...(value !== '' && { value }), effect });

/** Taints and pods to avoid were once annotations, which are still validated. */
function validateAnnotations(node: Node, errors: FieldErrors, env: KindEnv): void {
  const { annotations } = node.metadata;
  if (annotations === undefined) return;
  const at = metadata.child('annotations');
  const taints = domainName(env.identity, 'taints', 'scheduler.alpha');
  const parsedTaints = parseAnnotation(annotations[taints], taints, at, errors);
  if (Array.isArray(parsedTaints)) validateTaints(parsedTaints.map(readTaint), at.child(taints), errors);
  else if (parsedTaints !== undefined) errors.invalid(at, taints, 'must be a list of taints');
  const avoid = domainName(env.identity, 'preferAvoidPods', 'scheduler.alpha');
  const pods = parseAnnotation(annotations[avoid], avoid, at.child('AvoidPods'), errors) as AvoidPods | null | undefined;
  if (Array.isArray(pods?.preferAvoidPods))
    pods.preferAvoidPods.forEach((entry, i) => {
      const here = at.child(avoid).index(i).child('PodSignature');
      const controller = entry?.podSignature?.podController ?? undefined;
      if (controller === undefined) errors.required(here);
      else if (controller.controller !== true)
        errors.invalid(here.child('PodController').child('Controller'), false, 'must point to a controller');
    });
}

interface AvoidPods {
  readonly preferAvoidPods?: readonly ({ podSignature?: { podController?: { controller?: boolean } } } | null)[];
}

function parseAnnotation(text: string | undefined, name: string, at: Path, errors: FieldErrors): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    errors.invalid(at, name, (error as Error).message);
    return undefined;
  }
}

const readTaint = (taint: Partial<Taint> | null): Taint => ({
  key: String(taint?.key ?? ''),
  value: String(taint?.value ?? ''),
  effect: String(taint?.effect ?? ''),
});

// ---- resources and ranges ----------------------------------------------------------------------------------------

function validateResources({ status }: Node, errors: FieldErrors, env: KindEnv): void {
  for (const field of ['capacity', 'allocatable'] as const) {
    const amounts = status[field];
    for (const name in amounts) validateResourceAmount(name, amounts[name] as string, Path.of('status', field, name), errors, env.identity);
  }
}

function validatePodCIDRs(ranges: readonly string[], errors: FieldErrors): void {
  if (ranges.length === 0) return;
  const families = new Set<IPFamily>();
  ranges.forEach((range, i) => {
    const cidr = parseCIDR(range);
    if (cidr === undefined) invalidText(errors, podCIDRs.index(i), listText(ranges), 'must be valid CIDR');
    else families.add(cidr.family);
  });
  if (ranges.length === 1) return;
  if (families.size < 2 || ranges.length > 2)
    invalidText(errors, podCIDRs, listText(ranges), 'may specify no more than one CIDR for each IP family');
  const again = repeatedTexts(ranges);
  ranges.forEach((range, i) => {
    if (again[i]) errors.duplicate(podCIDRs.index(i), range);
  });
}

// ---- configuration of the agent ----------------------------------------------------------------------------------

function validateConfigSource(source: NodeConfigSource, at: Path, where: 'spec' | 'status', errors: FieldErrors): void {
  if (source.configMap === undefined) errors.invalid(at, source, 'exactly one reference subfield must be non-nil');
  else validateConfigMapSource(source.configMap, at.child('configMap'), where, errors);
}

function validateConfigMapSource(source: ConfigMapNodeConfigSource, at: Path, where: 'spec' | 'status', errors: FieldErrors): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    const isSet = (source[field] ?? '') !== '';
    if (where === 'spec' && isSet) errors.forbidden(at.child(field), `${field} must not be set in spec`);
    if (where === 'status' && !isSet) errors.required(at.child(field), `${field} must be set in status`);
  }
  const rules = { namespace: nameIsLabel, name: nameIsSubdomain, kubeletConfigKey: configMapKey } as const;
  for (const field of ['namespace', 'name', 'kubeletConfigKey'] as const) {
    const value = source[field];
    if (value === '') errors.required(at.child(field), `${field} must be set`);
    else report(errors, at.child(field), value, rules[field](value));
  }
}
