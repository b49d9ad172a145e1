/**
 * The certificates of NODE_EXTRA_CA_CERTS. Node parses them together with its own at the start of every process that has the
 * variable, which takes half as long as a short command. So the program moves the file to another variable before Node starts
 * (scripts/build.mjs), and it is read here by connections that have no CA of their own.
 */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

export const extraRootsVariable = 'PLAT_NODE_EXTRA_CA_CERTS';

/** What Node trusts by itself, with the moved file; undefined: nothing was moved. */
export function defaultRoots(env: Readonly<Record<string, string | undefined>>): readonly string[] | undefined {
  const file = env[extraRootsVariable];
  if (!file) return undefined;
  try {
    return [...rootCertificates, readFileSync(file, 'utf8')];
  } catch {
    // Node, too, goes on without a file that cannot be read.
    return undefined;
  }
}
