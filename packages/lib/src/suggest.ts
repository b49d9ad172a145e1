/** The known word nearest to a mistyped one. */

/** Edit distance: insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let secondLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (secondLast[j - 2] as number) + 1);
      row.push(least);
    }
    secondLast = last;
    last = row;
  }
  return last[b.length] as number;
}

/** The known word nearest to a given one, or undefined when none is near. Case and the kind of dash do not matter. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 100) return undefined;
  const plain = (text: string): string => text.toLowerCase().replace(/_/g, '-');
  const plainWord = plain(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(plainWord, plain(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** ` (did you mean X?)`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>, prefix = ''): string {
  const suggestion = nearest(word, candidates);
  return suggestion === undefined ? '' : ` (did you mean ${prefix}${suggestion}?)`;
}
