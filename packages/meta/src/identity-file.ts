/** An identity by its name, or from a file. */
import { readFileSync } from 'node:fs';
import { own } from '@plat-dev/lib/own';
import { type Identity, identities, plat } from './identity.ts';

/** The identity of that name, or the one that a JSON file describes. Throws with what is wrong with it. */
export function identityOf(nameOrFile: string): Identity {
  const builtInIdentity = own(identities, nameOrFile);
  if (builtInIdentity !== undefined) return builtInIdentity;
  let text: string;
  try {
    text = readFileSync(nameOrFile, 'utf8');
  } catch {
    throw new Error(`--identity ${nameOrFile}: neither one of ${Object.keys(identities).join(', ')} nor a readable JSON file`);
  }
  try {
    const value: unknown = JSON.parse(text);
    checkLike(plat, value, '', ['clusterInfoKey', 'emptyDryRun', 'explainKinds', 'takeoverWarnings', 'errorGroups']);
    return value as Identity;
  } catch (error) {
    throw new Error(`--identity ${nameOrFile}: ${(error as Error).message}`);
  }
}

/** Throws unless a value has the texts that the model has, and no others. */
function checkLike(model: object, value: unknown, path: string, optional: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`"${path}" is not an object`);
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(model, name) && !optional.includes(name)) throw new Error(`"${path}${name}" is not known`);
  for (const [name, example] of Object.entries(model)) {
    if (!Object.hasOwn(fields, name)) throw new Error(`"${path}${name}" is missing`);
    if (typeof example === 'object') checkLike(example, own(fields, name), `${path}${name}.`, []);
    else if (typeof own(fields, name) !== 'string') throw new Error(`"${path}${name}" is not a text`);
    else if (own(fields, name) === '') throw new Error(`"${path}${name}" is empty`);
  }
}
