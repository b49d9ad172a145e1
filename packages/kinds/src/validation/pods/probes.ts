/** Probes and life-cycle hooks of containers. */
import type { Integer } from '@plat-dev/lib/integers';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { httpHeaderName } from '@plat-dev/meta/names';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../../core/schema/pods/probes.ts';
import type { KindEnv } from '../../kind.ts';
import { notNegative, portOrName, report, required } from '../field-checks.ts';

const schemes = ['HTTP', 'HTTPS'];
const onlyOne = 'may not specify more than 1 handler type';

/** What the rules of handlers ask of their pod. */
interface HandlerScope {
  readonly spec: Pick<PodSpec, 'terminationGracePeriodSeconds' | 'os'>;
  readonly env: KindEnv;
}

function validateHandler(handler: LifecycleHandler & Pick<Probe, 'grpc'>, scope: HandlerScope, at: Path, errors: FieldErrors): void {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  let hasHandler = false;
  if (exec !== undefined) {
    hasHandler = true;
    if ((exec.command ?? []).length === 0) errors.required(at.child('exec').child('command'));
  }
  if (httpGet !== undefined) {
    if (hasHandler) errors.forbidden(at.child('httpGet'), onlyOne);
    else validateHttpGet(httpGet, at.child('httpGet'), errors);
    hasHandler = true;
  }
  if (tcpSocket !== undefined) {
    if (hasHandler) errors.forbidden(at.child('tcpSocket'), onlyOne);
    else portOrName(tcpSocket.port, at.child('tcpSocket').child('port'), errors);
    hasHandler = true;
  }
  if (grpc !== undefined) {
    if (hasHandler) errors.forbidden(at.child('grpc'), onlyOne);
    else portOrName(grpc.port, at.child('grpc').child('port'), errors);
    hasHandler = true;
  }
  if (sleep !== undefined) {
    if (hasHandler) errors.forbidden(at.child('sleep'), onlyOne);
    else validateSleep(sleep.seconds, scope, at.child('sleep'), errors);
    hasHandler = true;
  }
  if (!hasHandler) errors.required(at, 'must specify a handler type');
}

/** A sleep must fit into the time that the pod has for its end. */
function validateSleep(seconds: Integer, { spec, env }: HandlerScope, at: Path, errors: FieldErrors): void {
  const grace = spec.terminationGracePeriodSeconds;
  if (grace === undefined) return;
  const mayBeZero = env.feature('PodLifecycleSleepActionAllowZero');
  if (seconds <= grace && (seconds > 0 || (mayBeZero && seconds === 0))) return;
  const range = `${mayBeZero ? 'non-negative' : 'greater than 0'} and less than terminationGracePeriodSeconds (${grace})`;
  const hint = mayBeZero || !env.since('1.32') ? '' : '. Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.';
  errors.invalid(at, seconds, `must be ${range}${hint}`);
}

function validateHttpGet(get: HTTPGetAction, at: Path, errors: FieldErrors): void {
  required(get.path, at, 'path', errors);
  portOrName(get.port, at.child('port'), errors);
  const scheme = get.scheme ?? '';
  if (!schemes.includes(scheme)) errors.notSupported(at.child('scheme'), scheme, schemes);
  for (const { name } of get.httpHeaders ?? []) report(errors, at.child('httpHeaders'), name, httpHeaderName(name));
}

export function validateProbe(probe: Probe, scope: HandlerScope, at: Path, errors: FieldErrors): void {
  validateHandler(probe, scope, at, errors);
  notNegative(probe.initialDelaySeconds, at, 'initialDelaySeconds', errors);
  notNegative(probe.timeoutSeconds, at, 'timeoutSeconds', errors);
  notNegative(probe.periodSeconds, at, 'periodSeconds', errors);
  notNegative(probe.successThreshold, at, 'successThreshold', errors);
  notNegative(probe.failureThreshold, at, 'failureThreshold', errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) errors.invalid(at.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0');
}

export function validateLifecycle(lifecycle: Lifecycle, scope: HandlerScope, at: Path, errors: FieldErrors): void {
  const { postStart, preStop, stopSignal } = lifecycle;
  if (postStart !== undefined) validateHandler(postStart, scope, at.child('postStart'), errors);
  if (preStop !== undefined) validateHandler(preStop, scope, at.child('preStop'), errors);
  if (stopSignal !== undefined) validateStopSignal(stopSignal, scope, at.child('stopSignal'), errors);
}

const windowsSignals = ['SIGKILL', 'SIGTERM'];
const namedSignals =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT RTMAX RTMIN SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ';
/** Signals for real-time use have numbers from both ends of their range. */
const realTimeSignals = [
  ...Array.from({ length: 15 }, (_, i) => `RTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `RTMAX-${i + 1}`),
];
const linuxSignals = [...namedSignals.split(' '), ...realTimeSignals].map((name) => `SIG${name}`).sort();

function validateStopSignal(signal: string, { spec: { os } }: HandlerScope, at: Path, errors: FieldErrors): void {
  if (os === undefined) errors.forbidden(at, 'may not be set for containers with empty `spec.os.name`');
  else if (os.name === 'windows' && !windowsSignals.includes(signal)) errors.notSupported(at, signal, windowsSignals);
  else if (os.name === 'linux' && !linuxSignals.includes(signal)) errors.notSupported(at, signal, linuxSignals);
}
