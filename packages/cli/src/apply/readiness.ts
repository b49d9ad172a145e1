/** Whether an object does what its spec says: all replicas available, a claim bound, a definition served. */
import { own } from '@plat-dev/lib/own';
import type { ApiItem } from '../output/print-objects.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What is missing: `1 of 3 replicas are available`. Empty when it is ready. */
  readonly why: string;
  /** It will not become ready: waiting is of no use. */
  readonly failed?: boolean;
}
const ready: Readiness = { ready: true, why: '' };
const waiting = (why: string): Readiness => ({ ready: false, why });
const failed = (why: string): Readiness => ({ ready: false, why, failed: true });

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}
type Numbers = Readonly<Record<string, number | undefined>>;
interface Watched extends ApiItem {
  readonly metadata?: ApiItem['metadata'] & { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly spec?: Numbers & { readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: Numbers } };
  readonly status?: Numbers & { readonly phase?: string; readonly conditions?: readonly Condition[]; readonly reason?: string };
}

/** `hasStatus`: whether the kind has a status that its controller writes; of custom kinds that is the Ready condition. */
export function readinessOf(object: ApiItem | undefined, hasStatus: boolean): Readiness {
  if (object === undefined) return waiting('it does not exist');
  const watched = object as Watched;
  if (watched.metadata?.deletionTimestamp !== undefined) return waiting('it is being deleted');
  const check = own(byKind, watched.kind ?? '');
  const observedGeneration = watched.status?.observedGeneration;
  if ((check !== undefined || hasStatus) && observedGeneration !== undefined && observedGeneration < (watched.metadata?.generation ?? 0)) {
    return waiting('its controller has not seen the latest change');
  }
  if (check !== undefined) return check(watched);
  return hasStatus ? byReadyCondition(watched) : ready;
}

const conditionOf = ({ status }: Watched, type: string): Condition | undefined => status?.conditions?.find((one) => one.type === type);
const isTrue = (object: Watched, type: string): boolean => conditionOf(object, type)?.status === 'True';
const conditionText = (condition: Condition | undefined): string =>
  condition === undefined ? '' : `: ${[condition.reason, condition.message].filter(Boolean).join(': ')}`;

/** `2 of 3 replicas are available` */
const countReadiness = (have: number, want: number, what: string): Readiness | undefined =>
  have < want ? waiting(`${have} of ${want} ${what}`) : undefined;
const number = (numbers: Numbers | undefined, field: string, otherwise = 0): number => own(numbers, field) ?? otherwise;

function byReadyCondition(object: Watched): Readiness {
  const condition = conditionOf(object, 'Ready');
  if (condition?.status === 'True') return ready;
  return waiting(
    condition === undefined ? 'it has no condition Ready' : `condition Ready is ${condition.status}${conditionText(condition)}`,
  );
}

const notSeen = (object: Watched): Readiness | undefined =>
  object.status?.observedGeneration === undefined ? waiting('its controller has not seen it') : undefined;

function deployment(object: Watched): Readiness {
  const progressing = conditionOf(object, 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') return failed(`its progress deadline exceeded${conditionText(progressing)}`);
  const want = number(object.spec, 'replicas', 1);
  const { status } = object;
  const old = number(status, 'replicas') - number(status, 'updatedReplicas');
  return (
    notSeen(object) ??
    countReadiness(number(status, 'updatedReplicas'), want, 'replicas are updated') ??
    (old > 0 ? waiting(`${old} old replicas are still there`) : undefined) ??
    countReadiness(number(status, 'availableReplicas'), want, 'replicas are available') ??
    ready
  );
}
function statefulSet(object: Watched): Readiness {
  const want = number(object.spec, 'replicas', 1);
  const { type = 'RollingUpdate', rollingUpdate } = object.spec?.updateStrategy ?? {};
  const updated = type === 'OnDelete' ? 0 : want - number(rollingUpdate, 'partition');
  return (
    notSeen(object) ??
    countReadiness(number(object.status, 'updatedReplicas'), updated, 'replicas are updated') ??
    countReadiness(number(object.status, 'readyReplicas'), want, 'replicas are ready') ??
    ready
  );
}
function daemonSet(object: Watched): Readiness {
  const { status } = object;
  const want = number(status, 'desiredNumberScheduled');
  const updated = object.spec?.updateStrategy?.type === 'OnDelete' ? 0 : want;
  return (
    notSeen(object) ??
    countReadiness(number(status, 'updatedNumberScheduled'), updated, 'pods are updated') ??
    countReadiness(number(status, 'numberAvailable'), want, 'pods are available') ??
    ready
  );
}
const replicas = (object: Watched): Readiness =>
  notSeen(object) ??
  countReadiness(number(object.status, 'availableReplicas'), number(object.spec, 'replicas', 1), 'replicas are available') ??
  ready;

function pod(object: Watched): Readiness {
  const { phase = 'Pending' } = object.status ?? {};
  if (phase === 'Succeeded' || isTrue(object, 'Ready')) return ready;
  if (phase === 'Failed') return failed(`it failed${object.status?.reason === undefined ? '' : `: ${object.status.reason}`}`);
  return waiting(`it is ${phase}${conditionText(conditionOf(object, 'Ready') ?? conditionOf(object, 'PodScheduled'))}`);
}
function job(object: Watched): Readiness {
  const failure = conditionOf(object, 'Failed');
  if (failure?.status === 'True') return failed(`it failed${conditionText(failure)}`);
  const done = number(object.status, 'succeeded');
  return isTrue(object, 'Complete') ? ready : waiting(`${done} of ${number(object.spec, 'completions', 1)} pods have succeeded`);
}
const byPhase =
  (wantedPhase: string) =>
  ({ status }: Watched): Readiness =>
    status?.phase === wantedPhase ? ready : waiting(`it is ${status?.phase ?? 'Pending'}`);
const byCondition =
  (type: string) =>
  (object: Watched): Readiness =>
    isTrue(object, type) ? ready : waiting(`it is not ${type}${conditionText(conditionOf(object, type))}`);

const byKind: Readonly<Record<string, (object: Watched) => Readiness>> = {
  APIService: byCondition('Available'),
  CustomResourceDefinition: byCondition('Established'),
  DaemonSet: daemonSet,
  Deployment: deployment,
  Job: job,
  Namespace: byPhase('Active'),
  PersistentVolumeClaim: byPhase('Bound'),
  Pod: pod,
  ReplicaSet: replicas,
  ReplicationController: replicas,
  StatefulSet: statefulSet,
};
