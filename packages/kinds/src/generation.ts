import { type Integer, nextInt64 } from '@plat-dev/lib/integers';

/** The generation after one more change. Clients set that of kinds whose changes are not counted, so that it may be any int64. */
export const nextGeneration = (generation: Integer = 0): number => nextInt64(generation) as number;
