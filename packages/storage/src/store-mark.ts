/** The identity that opens a store. */
export interface StoreOwner {
  /** Name of the identity. */
  readonly identity: string;
  readonly productVersion: string;
  /** Keys by which a store without a mark is recognized as one of an identity. */
  readonly traces: readonly { readonly identity: string; readonly key: string }[];
}

export interface StoreMark {
  /** Random; the same for all servers on one store. */
  readonly id: string;
  /** Undefined if no identity was named when the store was created. */
  readonly identity?: string | undefined;
  /** Version of the server that created the store. */
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

/** The identity of a store without a mark: by its keys. */
export async function identityByTraces(
  { identity, traces }: StoreOwner,
  has: (key: string) => Promise<boolean>,
): Promise<string | undefined> {
  const identities: string[] = [];
  for (const trace of traces) if (await has(trace.key)) identities.push(trace.identity);
  return identities.includes(identity) ? identity : identities[0];
}

/** Throws when a store is of another identity. `place` names the store, `elsewhere` the flag that names another. */
export function checkOwner(identity: string | undefined, owner: StoreOwner | undefined, place: string, elsewhere: string): void {
  if (owner === undefined || identity === undefined || identity === owner.identity) return;
  throw new Error(
    `the store in ${place} was made under the identity ${JSON.stringify(identity)} and cannot be opened under ${JSON.stringify(owner.identity)}: ` +
      `start the server with --identity ${identity}, name another place with ${elsewhere}, or move the objects with "plat store export" and "plat store import"`,
  );
}
