/** What the reference of the site is made from: the tables that the program itself uses. */
import { connectFlags } from '../../packages/cli/src/global-flags.ts';
import { commands } from '../../packages/cli/src/index.ts';
import { serverFlags } from '../../packages/compose/src/config/flags.ts';
import { gatesIn } from '../../packages/kinds/src/feature-gates.ts';
import { Metrics } from '../../packages/lib/src/metrics.ts';
import { apiReleases } from '../../packages/lib/src/version.ts';
import { failureReasons } from '../../packages/meta/src/errors.ts';
import { causeReasons } from '../../packages/meta/src/field.ts';
import { startTestServer } from '../../packages/testing/src/index.ts';

export const tables = {
  apiReleases,
  causeReasons,
  commands,
  connectFlags,
  failureReasons,
  gatesIn,
  Metrics,
  serverFlags,
  startTestServer,
};
