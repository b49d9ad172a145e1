/** The kinds of the stream, as the URL names them: `kinds=pods,deployments.apps`. */
import type { Kind } from '../../api/kinds.ts';
import { usualKinds } from '../../api/usual-kinds.ts';

/** The gateway takes 64 watches of a page, and other parts of the page have some. */
export const MAX_KINDS = 40;
const USUAL_KINDS = 20;

export const kindName = ({ group, resource }: Kind): string => (group === '' ? resource : `${resource}.${group}`);

export const watchableKinds = (kinds: readonly Kind[]): Kind[] => kinds.filter(({ verbs }) => verbs.includes('watch'));

/** Without a choice, the usual kinds. */
export function chosenKinds(kinds: readonly Kind[], text: string | null, namespace: string | undefined): Kind[] {
  const watchable = watchableKinds(kinds);
  const names = new Set(text?.split(','));
  const chosen = text === null ? usualKinds(watchable, USUAL_KINDS) : watchable.filter((kind) => names.has(kindName(kind)));
  return chosen.filter(({ isNamespaced }) => isNamespaced || namespace === undefined).slice(0, MAX_KINDS);
}

/** The parameter after a kind was chosen or left out. */
export function withKind(chosen: readonly Kind[], kind: Kind, isChosen: boolean): string {
  const names = chosen.map(kindName).filter((name) => name !== kindName(kind));
  return [...names, ...(isChosen ? [kindName(kind)] : [])].slice(0, MAX_KINDS).join(',') || 'none';
}
