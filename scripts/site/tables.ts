/** What the reference of the site is made from: the tables that the program itself uses. */

export { connectFlags } from '../../packages/cli/src/global-flags.ts';
export { commands } from '../../packages/cli/src/index.ts';
export { serverFlags } from '../../packages/compose/src/config/flags.ts';
export { gatesIn } from '../../packages/kinds/src/feature-gates.ts';
export { Metrics } from '../../packages/lib/src/metrics.ts';
export { apiReleases } from '../../packages/lib/src/version.ts';
export { failureReasons } from '../../packages/meta/src/errors.ts';
export { causeReasons } from '../../packages/meta/src/field.ts';
export { startTestServer } from '../../packages/testing/src/index.ts';
