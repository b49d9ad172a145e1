/** Every function and operator, by the release of the environment that has it. */
import { CIDR_TYPE, DURATION, IP_TYPE, optionalOf, parameter, QUANTITY, SEMVER, TIMESTAMP, URL_TYPE } from '../types.ts';
import { addressConversions, conversions, quantityConversions } from './conversions.ts';
import { ipFunctions } from './ip.ts';
import { listFunctions, newerListFunctions, setFunctions } from './lists.ts';
import { crossTypeComparisons, dynamicComparisons, operators } from './operators.ts';
import { lazyOptionalFunctions, newerOptionalFunctions, optionalFunctions } from './optionals.ts';
import { moreQuantityFunctions, quantityFunctions } from './quantity.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import type { Library } from './signature.ts';
import { localFormat, moreStringFunctions, newerStringFunctions, stringFunctions } from './strings.ts';
import { timeFunctions } from './time.ts';
import { urlFunctions } from './url.ts';

export const libraries: readonly Library[] = [
  {
    functions: [...operators, ...conversions, ...stringFunctions, ...timeFunctions, ...listFunctions, ...regexFunctions, ...urlFunctions],
    types: [TIMESTAMP, DURATION, URL_TYPE],
  },
  { until: '1.27', functions: dynamicComparisons },
  { since: '1.28', functions: crossTypeComparisons },
  {
    since: '1.28',
    functions: [...quantityFunctions, ...optionalFunctions, ...lazyOptionalFunctions],
    types: [QUANTITY, optionalOf(parameter('V'))],
  },
  { since: '1.28', serverSince: '1.33', functions: newerOptionalFunctions },
  { since: '1.29', functions: [...newerStringFunctions, ...setFunctions] },
  { since: '1.29', until: '1.36', functions: localFormat },
  { since: '1.30', functions: [...ipFunctions, ...addressConversions], types: [IP_TYPE, CIDR_TYPE] },
  { since: '1.33', functions: semverFunctions, types: [SEMVER] },
  { since: '1.34', functions: newerListFunctions },
];
/** What no stock server has. */
export const moreFunctions = [...moreStringFunctions, ...moreQuantityFunctions, ...quantityConversions];
