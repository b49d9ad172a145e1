/** Every function and operator, by name. */
import { conversions } from './conversions.ts';
import { ipFunctions } from './ip.ts';
import { listFunctions } from './lists.ts';
import { operators } from './operators.ts';
import { lazyOptionalFunctions, optionalFunctions } from './optionals.ts';
import { quantityFunctions } from './quantity.ts';
import { regexFunctions } from './regex.ts';
import type { Overload } from './signature.ts';
import { stringFunctions } from './strings.ts';
import { timeFunctions } from './time.ts';
import { urlFunctions } from './url.ts';

const all: readonly Overload[] = [
  ...operators,
  ...conversions,
  ...stringFunctions,
  ...timeFunctions,
  ...listFunctions,
  ...regexFunctions,
  ...urlFunctions,
  ...quantityFunctions,
  ...ipFunctions,
  ...optionalFunctions,
  ...lazyOptionalFunctions,
];

export const functions: ReadonlyMap<string, readonly Overload[]> = new Map(
  [...new Set(all.map(({ name }) => name))].map((name) => [name, all.filter((one) => one.name === name)]),
);
