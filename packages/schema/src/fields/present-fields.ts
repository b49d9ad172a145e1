/**
 * The fields that an object holds, in the order of the schema. They are found by the object's own keys: a type has many
 * fields (the spec of a pod 40, a volume 30) and an object holds few of them, so that sorting the present ones costs a
 * fraction of a lookup of every field.
 *
 *   { spec: …, kind: 'Pod', metadata: … }  →  kind, metadata, spec
 */

/** A field of a codec, with its place in the order. */
export interface Placed {
  readonly name: string;
  readonly at: number;
}

/**
 * A stack, since the value of a field may have fields itself: each collector uses the part above the `top` that it
 * found, and restores `top` when it is done.
 */
export class PresentFields<P extends Placed> {
  readonly plans: P[] = [];
  readonly values: unknown[] = [];
  top = 0;

  /** Pushes the fields of an object onto the stack; null and undefined count as absent. */
  gather(fields: ReadonlyMap<string, P>, object: Readonly<Record<string, unknown>>): void {
    const { plans, values } = this;
    const base = this.top;
    let top = base;
    for (const key in object) {
      const value = object[key];
      if (value === undefined || value === null) continue;
      const plan = fields.get(key);
      if (plan === undefined) continue;
      let to = top++;
      for (; to > base && (plans[to - 1] as P).at > plan.at; to--) {
        plans[to] = plans[to - 1] as P;
        values[to] = values[to - 1];
      }
      plans[to] = plan;
      values[to] = value;
    }
    this.top = top;
  }

  /** Takes the value at a place off the stack. */
  take(place: number): unknown {
    const value = this.values[place];
    this.values[place] = undefined;
    return value;
  }
}
