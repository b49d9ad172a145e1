/** Tolerations of pods: which covers which, and merging of lists. */

import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';

/** Whether everything that `narrow` tolerates is tolerated by `wide`, too. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (equal(wide, narrow)) return true;
  const anyKey = (wide.key ?? '') === '' && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (narrow.key ?? '') && !anyKey) return false;
  if ((wide.effect ?? '') !== '' && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  const operator = wide.operator ?? 'Equal';
  if (operator === 'Exists') return true;
  return operator === 'Equal' && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}

/**
 * Both lists without tolerations that another one covers; of equal ones the first stays.
 *
 * Tolerations that differ at most in their time, and in a value that is ignored, are a group. Only few groups can cover a
 * toleration, and of each of them the one with the longest time does: the work grows with the lists and not with their product.
 */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const groups = new Map<string, Group>();
  all.forEach((toleration, i) => {
    const name = groupOf(toleration.key, toleration.operator, toleration.effect, toleration.value);
    let group = groups.get(name);
    if (group === undefined) {
      group = new Group();
      groups.set(name, group);
    }
    group.add(toleration, i);
  });
  const merged: Toleration[] = [];
  const texts = new Set<string>();
  all.forEach((toleration, i) => {
    const text = textOf(toleration);
    if (texts.has(text)) return;
    for (const name of groupsThatCover(toleration)) if (groups.get(name)?.covers(toleration, i)) return;
    texts.add(text);
    merged.push(toleration);
    groups.get(groupOf(toleration.key, toleration.operator, toleration.effect, toleration.value))?.keep(toleration);
  });
  return merged;
}

class Group {
  private readonly members: Toleration[] = [];
  private readonly places: number[] = [];
  /** From each member on: the one of the longest time, and the longest of those that are not equal to it. */
  private longest: [Toleration, Toleration | undefined][] | undefined;
  /** The first member after the last queried position. */
  private next = 0;
  private keptToleration: Toleration | undefined;

  add(toleration: Toleration, place: number): void {
    this.members.push(toleration);
    this.places.push(place);
  }
  keep(toleration: Toleration): void {
    if (this.keptToleration === undefined || seconds(toleration) > seconds(this.keptToleration)) this.keptToleration = toleration;
  }
  /** Whether one that was kept covers it, or a later one that is not equal. Positions are queried in order. */
  covers(narrow: Toleration, place: number): boolean {
    if (this.keptToleration !== undefined && covers(this.keptToleration, narrow)) return true;
    while (this.next < this.places.length && (this.places[this.next] as number) <= place) this.next++;
    this.longest ??= this.fromTheEnd();
    const later = this.longest[this.next];
    if (later === undefined) return false;
    const wide = equal(later[0], narrow) ? later[1] : later[0];
    return wide !== undefined && covers(wide, narrow);
  }
  private fromTheEnd(): [Toleration, Toleration | undefined][] {
    const longest: [Toleration, Toleration | undefined][] = [];
    let best: Toleration | undefined;
    let second: Toleration | undefined;
    for (let i = this.members.length - 1; i >= 0; i--) {
      const member = this.members[i] as Toleration;
      if (best === undefined) best = member;
      else if (!equal(member, best)) {
        if (seconds(member) > seconds(best)) [best, second] = [member, best];
        else if (second === undefined || seconds(member) > seconds(second)) second = member;
      }
      longest[i] = [best, second];
    }
    return longest;
  }
}

function groupOf(key = '', operator = '', effect = '', value = ''): string {
  return JSON.stringify([key, operator, effect, operator === 'Exists' ? '' : value]);
}
/** Those of its key or of any, of its effect or of any, with its value or any. */
function groupsThatCover({ key = '', effect = '', value = '' }: Toleration): string[] {
  const names: string[] = [];
  for (const anEffect of effect === '' ? [''] : [effect, ''])
    for (const aKey of key === '' ? [''] : [key, '']) {
      names.push(groupOf(aKey, 'Exists', anEffect));
      if (aKey === key) names.push(groupOf(key, 'Equal', anEffect, value), groupOf(key, '', anEffect, value));
    }
  return names;
}
const seconds = ({ tolerationSeconds }: Toleration): Integer => tolerationSeconds ?? Number.POSITIVE_INFINITY;
const textOf = ({ key, operator, value, effect, tolerationSeconds }: Toleration): string =>
  jsonText([key, operator, value, effect, tolerationSeconds]);
