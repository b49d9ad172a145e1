/**
 * What a store says of itself: whose it is, who made it and when. A server of another identity would read the same objects
 * under other names, so that it is refused. The memory engine keeps nothing, and has none.
 */

/** Who opens a store. */
export interface StoreOwner {
  /** Name of the identity. */
  readonly identity: string;
  readonly productVersion: string;
  /** Keys by which a store that has no mark is recognised as one of an identity. */
  readonly traces: readonly { readonly identity: string; readonly key: string }[];
}

export interface StoreMark {
  /** Random; the same for all servers on one store. */
  readonly id: string;
  /** Undefined where no owner was named when the store was made. */
  readonly identity?: string | undefined;
  /** Version of the server that made the store. */
  readonly productVersion?: string | undefined;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
}

export const makeMark = (owner: StoreOwner | undefined, id: string, createdAt: number): StoreMark => ({
  id,
  createdAt,
  ...(owner !== undefined && { identity: owner.identity, productVersion: owner.productVersion }),
});

export function parseMark(text: string): StoreMark | undefined {
  try {
    const mark = JSON.parse(text) as StoreMark | null;
    return typeof mark?.id === 'string' && typeof mark.createdAt === 'number' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Whose store it is that has no mark: by the keys that are there. */
export async function identityByTraces(
  { identity, traces }: StoreOwner,
  has: (key: string) => boolean | Promise<boolean>,
): Promise<string | undefined> {
  const found: string[] = [];
  for (const trace of traces) if (await has(trace.key)) found.push(trace.identity);
  return found.includes(identity) ? identity : found[0];
}

/** Throws when a store is that of another identity. `place` names the store, `elsewhere` the flag that names another. */
export function checkOwner(identity: string | undefined, owner: StoreOwner | undefined, place: string, elsewhere: string): void {
  if (owner === undefined || identity === undefined || identity === owner.identity) return;
  throw new Error(
    `the store in ${place} was made under the identity ${JSON.stringify(identity)} and cannot be opened under ${JSON.stringify(owner.identity)}: ` +
      `start the server with --identity ${identity}, name another place with ${elsewhere}, or move the objects with "plat store export" and "plat store import"`,
  );
}
