/** Addresses of nodes. */
import type { Node } from './schema/node.ts';

/** The first address of a type, such as `InternalIP`. */
export const addressOf = (node: Node, type: string): string | undefined => node.status.addresses?.find((a) => a.type === type)?.address;
