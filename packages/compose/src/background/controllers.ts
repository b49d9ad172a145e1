/** The controllers within the process of a server: as their own service accounts, through the server's own pipeline. */

import { errorFrom } from '@plat-dev/client/http';
import { allControllers, type ControllerSettings } from '@plat-dev/controllers';
import { signingAuthorities } from '@plat-dev/controllers/certificates/authorities';
import type { Controller, ControllerUser } from '@plat-dev/controllers/runtime/controller';
import { controllerMetrics } from '@plat-dev/controllers/runtime/controller-metrics';
import { clientFor, type ManagerOptions, managerName, type Running, startControllers } from '@plat-dev/controllers/runtime/manager';
import type { ServedResource } from '@plat-dev/controllers/runtime/resources';
import { selectControllers } from '@plat-dev/controllers/runtime/select';
import { workloadControllerNames } from '@plat-dev/controllers/runtime/workload-names';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { whenTurnHasTime } from '@plat-dev/lib/slices';
import type { Identity } from '@plat-dev/meta/identity';
import { serviceAccountGroups, serviceAccountName } from '@plat-dev/server/auth/authn/users';
import { type User, wellKnown } from '@plat-dev/server/auth/types';
import type { Incoming, Outgoing } from '@plat-dev/server/exchange';
import { inProcess, OpenAnswers } from '@plat-dev/server/in-process';
import type { workloadControllers } from '@plat-dev/workloads';
import type { Base } from '../base.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { storesVersions } from '../credentials/server-identity.ts';
import { elect, electionTimes } from './election.ts';
import { nameserverOf, simulatedNodesUser } from './simulated-nodes.ts';

export interface ControllersOptions {
  readonly credentials: Credentials;
  /** Signs the tokens that Secrets hold. */
  readonly signToken: ControllerSettings['signToken'];
  /** The pipeline for requests from within. */
  readonly handle: (req: Incoming, res: Outgoing) => void;
  /** Other servers may share the store. */
  readonly shared: boolean;
  /** Whether some version of a built-in kind is served, by the base name of its group. */
  readonly serves: (group: string, plural: string) => boolean;
  /** The controllers of workloads; undefined where none run. */
  readonly workloads: typeof workloadControllers | undefined;
  /** Built-in kinds that may be stored and are not served. */
  readonly unserved: readonly ServedKind[];
}

/** The user that the roles of the first start name. */
const schedulerName = 'kube-scheduler';
/** Time that servers which share a store are given to hear of each other's writes. */
const SHARED_STORE_DELAY_MS = 5000;

/** Answers how to start them; throws where the options are wrong. */
export function composeControllers(base: Base, controllersOptions: ControllersOptions): () => Running {
  const answers = new OpenAnswers();
  const { options, identity, clock, objectClock, random, log } = base;
  const { credentials, handle, shared } = controllersOptions;
  const feature = (name: string): boolean => options.features.isOn(name);
  const workloadParts = controllersOptions.workloads?.({
    parts: new Set(options.workloads),
    simulatedNodes: options.simulatedNodes,
    loadBalancerRange: options.loadBalancerRange,
    release: options.apiRelease,
    nameserver: nameserverOf(options),
    feature,
    disks: base.disks,
  });
  const selectedControllers = selectControllers(
    [
      ...allControllers({
        rootCertificates: credentials.rootCertificates,
        signToken: controllersOptions.signToken,
        signing: { authorityOf: signingAuthorities(options, identity, credentials.authority), durationMs: options.clusterSigningDuration },
        namespaceDelayMs: shared ? SHARED_STORE_DELAY_MS : 0,
        // Changes arrive in the order of the store.
        orphanDelayMs: 0,
        bootstrapTokens: options.enableBootstrapTokenAuth,
        storageVersions: storesVersions(base) === 'served',
        release: options.apiRelease,
        feature,
      }),
      ...(workloadParts?.controllers ?? []),
    ],
    options.controllers,
    { names: options.workloads.includes('controllers') ? [] : workloadControllerNames, needs: '--workloads=controllers' },
  );
  const controllers = [...selectedControllers, ...(workloadParts?.others ?? [])].map((controller) =>
    withNeeds(controller, controllersOptions.serves),
  );
  if (controllers.length === 0) return () => ({ stop: async () => {} });
  const metrics = controllerMetrics(base.metrics);
  const objectTime = { clock: objectClock, factor: options.timeFactor };
  // However many requests controllers have at a time, others have their turns in between.
  const paced: typeof handle = (request, response) =>
    whenTurnHasTime(() => {
      if (!response.destroyed) handle(request, response);
    });
  const connect: ManagerOptions['connect'] = (account, user) => inProcess(paced, userOf(identity, account, user), errorFrom, answers);
  const unserved = controllersOptions.unserved.flatMap(unservedVersions);
  const start = (): Running => startControllers({ controllers, identity, connect, clock, objectTime, random, log, metrics, unserved });
  const ending = (running: Running): Running => ({
    stop: async () => {
      await running.stop();
      answers.end();
    },
    isBusy: (retryMs) => running.isBusy?.(retryMs) === true,
  });
  if (!(options.leaderElect ?? shared)) return () => ending(start());
  const times = electionTimes(options);
  return () => ending(elect({ times, identity, client: clientFor(identity, connect(undefined)), start, clock, random, metrics, log }));
}

/** A release of the API may not have the kind that a controller is about. */
function withNeeds(controller: Controller, serves: ControllersOptions['serves']): Controller {
  const { needs } = controller;
  if (needs === undefined || serves(needs.group, needs.plural)) return controller;
  return { ...controller, unavailable: `${needs.plural} are not served` };
}

/** Owner references may name any version of a kind; requests from within use the most preferred one, in which it is given. */
function unservedVersions({
  group,
  version: preferred,
  kind: { plural, kind, namespaced, verbs, versions },
}: ServedKind): ServedResource[] {
  return Object.keys(versions).map((version) => ({
    group,
    version,
    name: plural,
    kind,
    namespaced,
    verbs,
    preferred: version === preferred,
  }));
}

/** The accounts that the roles of the first start are bound to, and the manager who reads for all of them. */
function userOf(identity: Identity, account: string | undefined, user: ControllerUser | undefined): User {
  if (user === 'scheduler') return { name: `system:${schedulerName}`, groups: [wellKnown.authenticated] };
  if (user === 'nodes') return simulatedNodesUser;
  if (account === undefined) return { name: `system:${managerName}`, groups: [wellKnown.authenticated] };
  const { system } = identity.namespaces;
  return { name: serviceAccountName(system, account), groups: [...serviceAccountGroups(system), wellKnown.authenticated] };
}
