/** The options of a test server, and the server options that follow from them. */

import { type WorkloadPart, workloadParts } from '@plat-dev/compose/config/flag-values';
import type { GivenOptions } from '@plat-dev/compose/config/server-options';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { ApiRelease } from '@plat-dev/lib/version';
import { pluginNames } from '@plat-dev/server/admission/plugin-names';
import type { ClockChoice } from './clock.ts';

/** Objects, texts with objects, or paths of files or directories with objects. */
export type Manifests = string | ManifestObject | readonly (string | ManifestObject)[];
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface TestServerOptions {
  /** The identity of the server: `kubernetes` for stock manifests. Default: `plat`. */
  readonly identity?: 'plat' | 'kubernetes' | (string & {}) | undefined;
  /** Release of the API that the server is, from `1.15` to `1.36`, or `latest`. Default: `1.24`. */
  readonly apiRelease?: ApiRelease | 'latest' | undefined;
  /** Whether it has a port (TLS, on loopback), for other programs and clients. Default: no. */
  readonly listen?: boolean | undefined;
  /**
   * Controllers to run: all, or those of these names. Default: none, so that only the test changes objects. Then admission
   * does not require service accounts either, since no controller creates them.
   */
  readonly controllers?: boolean | readonly string[] | undefined;
  /**
   * Workloads that live in the process of the test, without containers: all of it, or parts of it. Then the controllers of the
   * API run as well, unless `controllers` says otherwise. Default: none.
   */
  readonly workloads?: boolean | readonly WorkloadPart[] | undefined;
  /** Admission plug-ins to run in addition to the default ones, and not to run. */
  readonly admission?: { readonly enable?: readonly string[]; readonly disable?: readonly string[] } | undefined;
  /** Custom resource definitions: their kinds are served when the server has started. See `objects` for the forms. */
  readonly crds?: Manifests | undefined;
  /** Objects to start with: as objects, as text (YAML or JSON), or as the path of a file or directory. Namespaces are created first. */
  readonly objects?: Manifests | undefined;
  /** Any other option of a server, by the name of its flag in camel case. */
  readonly server?: Omit<GivenOptions, 'store' | 'dataDir'> | undefined;
  readonly random?: Random | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: ClockChoice | undefined;
  /** Default: nothing is logged. */
  readonly log?: Log | undefined;
}

/** The names of all options, complete by its type. */
const optionNames = Object.keys({
  identity: true,
  apiRelease: true,
  listen: true,
  controllers: true,
  workloads: true,
  admission: true,
  crds: true,
  objects: true,
  server: true,
  random: true,
  clock: true,
  log: true,
} satisfies Record<keyof TestServerOptions, true>);

/** Throws for unknown options and admission plug-ins. */
function checkTestOptions(testOptions: TestServerOptions): void {
  checkNames('option', Object.keys(testOptions), optionNames);
  const { admission = {}, workloads } = testOptions;
  if (typeof workloads === 'object') checkNames('part of workloads', workloads, workloadParts);
  checkNames('option of admission', Object.keys(admission), ['enable', 'disable']);
  for (const names of [admission.enable, admission.disable]) checkNames('admission plug-in', names ?? [], pluginNames);
}
function checkNames(what: string, names: readonly string[], knownNames: readonly string[]): void {
  for (const name of names) if (!knownNames.includes(name)) throw new TypeError(`unknown ${what} ${name}${didYouMean(name, knownNames)}`);
}

/** The plug-in that requires service accounts, which a controller creates in each namespace. */
const needsAccounts = 'ServiceAccount';

export function serverOptionsOf(testOptions: TestServerOptions): GivenOptions {
  checkTestOptions(testOptions);
  const { identity, apiRelease, admission } = testOptions;
  const workloads =
    testOptions.workloads === true
      ? workloadParts
      : testOptions.workloads === undefined || testOptions.workloads === false
        ? []
        : testOptions.workloads;
  const { controllers = workloads.length > 0 } = testOptions;
  const none = controllers === false || (controllers !== true && controllers.length === 0);
  const enable = admission?.enable ?? [];
  const disable = admission?.disable ?? [];
  const withoutAccounts = none && !enable.includes(needsAccounts) && !disable.includes(needsAccounts);
  return {
    securePort: 0,
    ...testOptions.server,
    store: 'memory',
    ...(identity !== undefined && { identity }),
    ...(apiRelease !== undefined && { apiRelease }),
    controllers: controllers === true ? ['*'] : none ? ['-*'] : [...(controllers as readonly string[])],
    workloads,
    enableAdmissionPlugins: enable,
    disableAdmissionPlugins: withoutAccounts ? [...disable, needsAccounts] : disable,
  };
}
