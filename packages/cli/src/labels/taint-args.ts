/** Taints as arguments: `key=value:Effect`, `key:Effect`, `key:Effect-`, `key-`. */
import { FlagError } from '@plat-dev/lib/flags';
import { labelValue, qualifiedName } from '@plat-dev/meta/names';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}
/** Without an effect all taints with the key are removed. */
interface Removal {
  readonly key: string;
  readonly effect: string;
}
export interface TaintArguments {
  /** The type and the names of nodes. */
  readonly nodes: readonly string[];
  readonly add: readonly Taint[];
  readonly remove: readonly Removal[];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const isTaint = (word: string): boolean => word.includes('=') || word.includes(':') || word.endsWith('-');

/** Throws FlagError. */
export function readTaintArguments(args: readonly string[]): TaintArguments {
  const first = args.findIndex(isTaint);
  const nodes = first === -1 ? args : args.slice(0, first);
  const taints = first === -1 ? [] : args.slice(first);
  const misplacedTaint = taints.find((word) => !isTaint(word));
  if (misplacedTaint !== undefined) throw new FlagError(`all resources must be specified before taint changes: ${misplacedTaint}`);
  if (nodes.length === 0) throw new FlagError('one or more resources must be specified as <resource> <name>');
  if (taints.length === 0) throw new FlagError('at least one taint update is required');
  const add: Taint[] = [];
  const remove: Removal[] = [];
  for (const word of taints) {
    if (word.endsWith('-')) {
      const { key, effect } = readTaint(word.slice(0, -1));
      remove.push({ key, effect });
      continue;
    }
    const taint = readTaint(word);
    if (taint.effect === '') throw new FlagError(`invalid taint spec: ${word}`);
    if (add.some((one) => isSame(one, taint))) throw new FlagError(`duplicated taints with the same key and effect: ${taintText(taint)}`);
    add.push(taint);
  }
  const both = remove.filter((removal) => add.some((taint) => isRemovedBy(taint, removal)));
  if (both.length > 0) {
    const names = both.map(({ key, effect }) => `${key}=${effect}`).join(', ');
    throw new FlagError(`can not both modify and remove the following taint(s) in the same command: ${names}`);
  }
  return { nodes, add, remove };
}

function readTaint(text: string): Taint {
  const [keyAndValue = '', effect = '', more] = text.split(':');
  const [key = '', value, extra] = effect === '' && !text.includes(':') ? [keyAndValue] : keyAndValue.split('=');
  if (more !== undefined || extra !== undefined) throw new FlagError(`invalid taint spec: ${text}`);
  if (text.includes(':') && !effects.includes(effect)) throw new FlagError(`invalid taint effect: ${effect}, unsupported taint effect`);
  const wrong = [...(value === undefined ? [] : labelValue(value)), ...qualifiedName(key)];
  if (wrong.length > 0) throw new FlagError(`invalid taint spec: ${text}, ${wrong.join('; ')}`);
  return { key, ...(value !== undefined && value !== '' && { value }), effect };
}

const isSame = (a: Removal, b: Removal): boolean => a.key === b.key && a.effect === b.effect;
const isRemovedBy = (taint: Removal, removal: Removal): boolean =>
  taint.key === removal.key && (removal.effect === '' || removal.effect === taint.effect);
/** `key=value:Effect` */
const taintText = ({ key, value, effect }: Taint): string =>
  effect === '' ? key : value === undefined ? `${key}:${effect}` : `${key}=${value}:${effect}`;

export interface Tainted {
  readonly taints: readonly Taint[];
  readonly verb: 'tainted' | 'untainted' | 'modified';
}
/** The taints of a node after the change. Throws where it has one of the new ones or lacks one of the removed. */
export function changedTaints(
  name: string,
  currentTaints: readonly Taint[],
  { add, remove }: Pick<TaintArguments, 'add' | 'remove'>,
  overwrite: boolean,
): Tainted {
  const existing = add.filter((taint) => currentTaints.some((old) => isSame(old, taint))).map(({ key }) => key);
  if (!overwrite && existing.length > 0)
    throw new Error(`node ${name} already has ${existing.join(',')} taint(s) with same effect(s) and --overwrite is false`);
  let taints: readonly Taint[] = [...add, ...currentTaints.filter((old) => !add.some((taint) => isSame(old, taint)))];
  const hasAdded = taints.length !== currentTaints.length;
  let hasRemoved = false;
  const missing: string[] = [];
  for (const removal of remove) {
    const remainingTaints = taints.filter((taint) => !isRemovedBy(taint, removal));
    hasRemoved = remainingTaints.length !== taints.length;
    if (!hasRemoved) missing.push(`taint ${JSON.stringify(taintText(removal))} not found`);
    taints = remainingTaints;
  }
  if (missing.length > 0) throw new Error(missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`);
  const verb = overwrite || (hasAdded && hasRemoved) ? 'modified' : hasAdded ? 'tainted' : 'untainted';
  return { taints, verb };
}
