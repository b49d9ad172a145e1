/**
 * Adjusts converted manifests. A server converts stored objects without loss, if necessary with annotations and fields that clients
 * cannot write; a manifest does not need those.
 */

import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { equal } from '@plat-dev/lib/equal';
import { own, setOwn, without } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isObject } from './carry-changes.ts';
import type { Note } from './notes.ts';

type Adjust = (context: { manifest: JsonObject; object: JsonObject; identity: Identity; from: ServedKind }) => Note[];

/** Changes `object`, the converted one, in place. */
export function adjust(manifest: JsonObject, object: JsonObject, from: ServedKind, to: ServedKind): Note[] {
  return own(adjustments, to.kind.kind)?.({ manifest, object, identity: to.identity, from }) ?? [];
}

const child = (object: JsonObject, ...path: string[]): JsonObject => {
  let at: JsonValue | undefined = object;
  for (const key of path) at = isObject(at) ? own(at, key) : undefined;
  return isObject(at) ? at : {};
};
const listOf = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

function dropAnnotation(object: JsonObject, manifest: JsonObject, name: string): void {
  const metadata = child(object, 'metadata');
  if (own(child(manifest, 'metadata', 'annotations'), name) !== undefined) return;
  const others = without(child(metadata, 'annotations'), name);
  if (Object.keys(others).length === 0) delete metadata.annotations;
  else metadata.annotations = others;
}

const deployment: Adjust = ({ manifest, object }) => {
  if (child(manifest, 'spec').rollbackTo === undefined) return [];
  dropAnnotation(object, manifest, 'deprecated.deployment.rollback.revision');
  return [
    {
      path: 'spec.rollbackTo',
      decide: true,
      text: 'removed, there is no such field: roll back with `kubectl rollout undo` where you meant to',
    },
  ];
};

const daemonSet: Adjust = ({ manifest, object }) => {
  dropAnnotation(object, manifest, 'deprecated.daemonset.template.generation');
  if (child(manifest, 'spec').templateGeneration === undefined) return [];
  return [{ path: 'spec.templateGeneration', decide: false, text: 'removed: the server counts generations itself' }];
};

const budget: Adjust = ({ manifest, object, from }) => {
  const { selector } = child(manifest, 'spec');
  if (from.version !== 'v1beta1' || !equal(selector, {})) return [];
  delete child(object, 'spec').selector;
  return [
    {
      path: 'spec.selector',
      decide: true,
      text: 'an empty selector selected no pods, and selects all pods of the namespace in policy/v1; it is removed, which selects none as before: write `selector: {}` if you mean all pods',
    },
  ];
};

const endpointSlice: Adjust = ({ object, identity, from }) => {
  if (from.version !== 'v1beta1') return [];
  const notes: Note[] = [];
  const host = domainName(identity, 'hostname');
  listOf(object.endpoints).forEach((endpoint, i) => {
    const { [host]: node, ...others } = child(endpoint, 'deprecatedTopology');
    if (endpoint.deprecatedTopology === undefined) return;
    delete endpoint.deprecatedTopology;
    if (node !== undefined && endpoint.nodeName === undefined) endpoint.nodeName = node;
    else if (node !== undefined && node !== endpoint.nodeName) others[host] = node;
    const path = `endpoints[${i}].topology`;
    if (Object.keys(others).length > 0)
      notes.push({
        path,
        decide: true,
        text: `${Object.keys(others).join(', ')} removed: discovery v1 has nodeName and zone for the place of an endpoint, and deprecatedTopology cannot be written`,
      });
    else notes.push({ path, decide: false, text: 'becomes nodeName and zone' });
  });
  return notes;
};

const certificateRequest: Adjust = ({ object }) => {
  const spec = child(object, 'spec');
  const { usages } = spec;
  if (!Array.isArray(usages) || new Set(usages).size === usages.length) return [];
  spec.usages = [...new Set(usages)];
  return [{ path: 'spec.usages', decide: false, text: 'duplicates removed' }];
};

const definition: Adjust = ({ object, identity, from }) => {
  if (from.version !== 'v1beta1') return [];
  const notes: Note[] = [];
  const spec = child(object, 'spec');
  const extension = `${identity.schemaExtensionPrefix}preserve-unknown-fields`;
  const isOpen = spec.preserveUnknownFields === true;
  delete spec.preserveUnknownFields;
  listOf(spec.versions).forEach((version, i) => {
    const path = `spec.versions[${i}].schema.openAPIV3Schema`;
    const schema = isObject(version.schema) ? version.schema : {};
    version.schema = schema;
    const hasNone = !isObject(schema.openAPIV3Schema);
    const root: JsonObject = isObject(schema.openAPIV3Schema) ? schema.openAPIV3Schema : {};
    schema.openAPIV3Schema = root;
    root.type ??= 'object';
    if (hasNone) {
      setOwn(root, extension, true);
      notes.push({
        path,
        decide: true,
        text: `required: one that allows every field (${extension}) is written; describe the fields of the kind`,
      });
    } else if (isOpen && own(root, extension) === undefined) {
      setOwn(root, extension, true);
      const text = `${extension} is written at the top of the schema in place of preserveUnknownFields, which version 1 does not allow; repeat it where objects below have fields that the schema does not name, or they are dropped`;
      notes.push({ path, decide: true, text });
    }
  });
  return notes;
};

const adjustments: Readonly<Record<string, Adjust>> = {
  CertificateSigningRequest: certificateRequest,
  CustomResourceDefinition: definition,
  DaemonSet: daemonSet,
  Deployment: deployment,
  EndpointSlice: endpointSlice,
  PodDisruptionBudget: budget,
};
