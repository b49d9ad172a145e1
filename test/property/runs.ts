import { rounds } from '../../packages/lib/src/testing/seed.testing.ts';

/** How long the property is tried: `PROPERTY_RUNS=50000 TEST_SEED=random npx vitest run test/property` is a long run. */
export type IdentityName = 'kubernetes' | 'plat';
export const IS_LONG: boolean = process.env.PROPERTY_RUNS !== undefined;
/** Requests to each server. */
export const RUNS: number = Number(process.env.PROPERTY_RUNS ?? rounds(400));
/** A file to write every fault to; without it the first one ends the run. */
export const GO_ON: string | undefined = process.env.PROPERTY_FAULTS;
