/** Probes and life-cycle hooks of containers. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { httpHeaderName } from '@plat-dev/meta/names';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../../core/schema/pods/probes.ts';
import { notNegative, portOrName, report, required } from '../field-checks.ts';

const schemes = ['HTTP', 'HTTPS'];
const onlyOne = 'may not specify more than 1 handler type';

function validateHandler(handler: LifecycleHandler & Pick<Probe, 'grpc'>, at: Path, errors: FieldErrors): void {
  const { exec, httpGet, tcpSocket, grpc } = handler;
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
  if (!hasHandler) errors.required(at, 'must specify a handler type');
}

function validateHttpGet(get: HTTPGetAction, at: Path, errors: FieldErrors): void {
  required(get.path, at, 'path', errors);
  portOrName(get.port, at.child('port'), errors);
  const scheme = get.scheme ?? '';
  if (!schemes.includes(scheme)) errors.notSupported(at.child('scheme'), scheme, schemes);
  for (const { name } of get.httpHeaders ?? []) report(errors, at.child('httpHeaders'), name, httpHeaderName(name));
}

export function validateProbe(probe: Probe, at: Path, errors: FieldErrors): void {
  validateHandler(probe, at, errors);
  notNegative(probe.initialDelaySeconds, at, 'initialDelaySeconds', errors);
  notNegative(probe.timeoutSeconds, at, 'timeoutSeconds', errors);
  notNegative(probe.periodSeconds, at, 'periodSeconds', errors);
  notNegative(probe.successThreshold, at, 'successThreshold', errors);
  notNegative(probe.failureThreshold, at, 'failureThreshold', errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) errors.invalid(at.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0');
}

export function validateLifecycle(lifecycle: Lifecycle, at: Path, errors: FieldErrors): void {
  if (lifecycle.postStart !== undefined) validateHandler(lifecycle.postStart, at.child('postStart'), errors);
  if (lifecycle.preStop !== undefined) validateHandler(lifecycle.preStop, at.child('preStop'), errors);
}
