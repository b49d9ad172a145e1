/** Fields that name other objects follow them when these get another name. */
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { ReferenceSpec } from './built-in-specs.ts';
import { eachField, type FieldSpec } from './field-specs.ts';
import { effectiveNamespace, idText, isClusterScoped, isOfKind, type KindId } from './ids.ts';
import { isMap, KustomizeError, type Resource } from './resource.ts';

/** Sets every reference to the current name of what it refers to. */
export function updateReferences(all: readonly Resource[], specs: readonly ReferenceSpec[]): void {
  const byReferrer = new Map<Resource, { field: FieldSpec; target: ReferenceSpec }[]>();
  for (const target of specs)
    for (const field of target.fieldSpecs)
      for (const one of all) if (isOfKind(one.originalId, field)) byReferrer.set(one, [...(byReferrer.get(one) ?? []), { field, target }]);
  for (const [referrer, fields] of byReferrer) {
    const visible = all.filter((one) => canRefer(referrer, one));
    for (const { field, target } of fields) {
      const references = new References(referrer, visible, target, field);
      // The kind may have changed since the object was read: the spec was compared with the original one.
      eachField(referrer.object, { path: field.path }, undefined, ({ value, set }) => {
        if (value !== undefined) set(references.updated(value));
      });
    }
  }
}

/** Objects refer to those of their namespace and to those without one; bindings also to accounts of namespaces that they name. */
function canRefer(referrer: Resource, target: Resource): boolean {
  if (isClusterScoped(referrer.id) || isClusterScoped(target.id)) return true;
  if (effectiveNamespace(referrer.id) === effectiveNamespace(target.id)) return true;
  if (referrer.kind !== 'RoleBinding' || !Array.isArray(referrer.object.subjects)) return false;
  return referrer.object.subjects.some((s) => isMap(s) && s.kind === 'ServiceAccount' && s.namespace === target.namespace);
}

class References {
  private readonly referrer: Resource;
  private readonly candidates: readonly Resource[];
  private readonly target: Partial<KindId>;
  private readonly field: FieldSpec;

  constructor(referrer: Resource, candidates: readonly Resource[], target: Partial<KindId>, field: FieldSpec) {
    this.referrer = referrer;
    this.candidates = candidates;
    this.target = target;
    this.field = field;
  }
  updated(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.find(value, this.candidates)?.name ?? value;
    if (Array.isArray(value)) return value.map((item) => this.updated(item));
    return isMap(value) ? this.updatedMap(value) : value;
  }
  /** A reference with a name and perhaps a namespace of its own. */
  private updatedMap(value: JsonObject): JsonObject {
    const { name, namespace } = value;
    if (typeof name !== 'string') return value;
    const referent = this.find(name, typeof namespace === 'string' ? this.inNamespace(namespace) : this.candidates);
    if (referent === undefined) return value;
    return { ...value, name: referent.name, ...(referent.namespace !== '' && { namespace: referent.namespace }) };
  }
  private inNamespace(namespace: string): readonly Resource[] {
    const original = this.candidates.filter((one) => effectiveNamespace(one.originalId) === namespace);
    return original.length > 0 ? original : this.candidates.filter((one) => effectiveNamespace(one.id) === namespace);
  }
  private find(name: string, candidates: readonly Resource[]): Resource | undefined {
    let referents = candidates.filter(
      (one) =>
        one.previous.some((id) => id.name === name) &&
        one.previousIds.some((id) => isOfKind(id, this.target)) &&
        this.isRole(one) &&
        this.isNear(one),
    );
    if (referents.length > 1) referents = referents.filter((one) => haveSameNames(one, this.referrer));
    if (referents.length === 0) return undefined;
    if (referents.every((one) => one.name === referents[0]?.name)) return referents[0];
    throw new KustomizeError(
      `${idText(this.referrer.id)}: ${this.field.path} may refer to more than one object: ${referents.map((one) => idText(one.id)).join(', ')}`,
    );
  }
  /** `roleRef` says itself which kind it refers to. */
  private isRole(one: Resource): boolean {
    const { roleRef } = this.referrer.object;
    if (!this.field.path.endsWith('roleRef/name') || !isMap(roleRef)) return true;
    const { apiGroup, kind } = roleRef;
    if (typeof apiGroup !== 'string' || typeof kind !== 'string') return true;
    return one.previousIds.some((id) => isOfKind(id, { group: apiGroup, kind }));
  }
  private isNear(one: Resource): boolean {
    if (isClusterScoped(this.referrer.id) || isClusterScoped(one.id) || one.kind === 'ServiceAccount') return true;
    return effectiveNamespace(this.referrer.id) === effectiveNamespace(one.id);
  }
}

/** Of two objects with the same original name, a reference means the one that went through the same kustomizations. */
const haveSameNames = (a: Resource, b: Resource): boolean => sameEnd(a.prefixes, b.prefixes) && sameEnd(a.suffixes, b.suffixes);
function sameEnd(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length === 0) return long.length === 0;
  return short.every((one, i) => one === long[i + long.length - short.length]);
}
