/** Addresses of nodes. */
import type { Node, NodeAddress } from './schema/node.ts';

export const sameAddress = (a: NodeAddress, b: NodeAddress): boolean => a.type === b.type && a.address === b.address;

/** The first address of a type, such as `InternalIP`. */
export const addressOf = (node: Node, type: string): string | undefined => node.status.addresses?.find((a) => a.type === type)?.address;
