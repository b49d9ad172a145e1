/** Validation of the containers of a pod: regular, init and ephemeral ones. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, portName, portNumber } from '@plat-dev/meta/names';
import type { Container, ContainerPort, EphemeralContainer } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { Probe } from '../../core/schema/pods/probes.ts';
import type { KindEnv } from '../../kind.ts';
import { report, word } from '../field-checks.ts';
import { validateResourceRequirements } from '../resources.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { type Volumes, validateMounts } from './mounts.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateSecurityContext } from './security-context.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Calls back for every container of a pod, in the order of a stock server. */
export function eachContainer(spec: PodSpec, at: Path, visit: (container: Container, at: Path) => void): void {
  spec.initContainers?.forEach((container, i) => {
    visit(container, at.child('initContainers').index(i));
  });
  spec.containers?.forEach((container, i) => {
    visit(container, at.child('containers').index(i));
  });
  spec.ephemeralContainers?.forEach((container, i) => {
    visit(container, at.child('ephemeralContainers').index(i));
  });
}

/** Yields after each container: a pod may have thousands, and each of them a thousand resources. */
export function* validateAllContainers(spec: PodSpec, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const containers = spec.containers ?? [];
  const containersAt = at.child('containers');
  if (containers.length === 0) errors.required(containersAt);
  yield* validateEach(containers, volumes, containersAt, errors, env);
  validateHostPorts(containers, containersAt, errors);
  if (spec.initContainers !== undefined) yield* validateInitContainers(spec, volumes, at.child('initContainers'), errors, env);
  if (spec.ephemeralContainers !== undefined) validateEphemeralContainers(spec, volumes, at.child('ephemeralContainers'), errors, env);
}

function* validateEach(containers: readonly Container[], volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    validateContainer(containers[i] as Container, names, volumes, at.index(i), errors, env);
    yield;
  }
}

/** Fields that an init container must not have: it runs to completion. */
const servingFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function* validateInitContainers(spec: PodSpec, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const containers = spec.initContainers ?? [];
  yield* validateEach(containers, volumes, at, errors, env);
  // They run one after the other, so that ports collide only within each.
  for (const container of containers) validateHostPorts([container], at, errors);
  const names = new Set(spec.containers?.map((container) => container.name));
  containers.forEach((container, i) => {
    const here = at.index(i);
    if (names.has(container.name)) errors.duplicate(here.child('name'), container.name);
    else if (container.name !== '') names.add(container.name);
    for (const field of servingFields)
      if (container[field] !== undefined) errors.invalid(here.child(field), container[field], 'must not be set for init containers');
  });
}

/** Fields that an ephemeral container must not have: it is not part of the workload. */
const workloadFields = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const;
const notEphemeral = 'cannot be set for an Ephemeral Container';
const isSet = (value: unknown): boolean => value !== undefined && (Array.isArray(value) || Object.keys(value as object).length > 0);

function validateEphemeralContainers(spec: PodSpec, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  const others = new Set<string>();
  for (const container of spec.containers ?? []) others.add(container.name);
  for (const container of spec.initContainers ?? []) others.add(container.name);
  const names = new Set(others);
  spec.ephemeralContainers?.forEach((container: EphemeralContainer, i) => {
    const here = at.index(i);
    const target = container.targetContainerName ?? '';
    if (target !== '' && !others.has(target)) errors.notFound(here.child('targetContainerName'), target);
    if (container.name === '') {
      errors.required(here, 'ephemeralContainer requires a name');
      return;
    }
    // The common rules name a list of one container, as in a stock server.
    validateContainer(container, new Set(), volumes, here.index(0), errors, env);
    validateHostPorts([container], here, errors);
    validateImageText(container, here.index(0), errors);
    if (names.has(container.name)) errors.duplicate(here.child('name'), container.name);
    else names.add(container.name);
    for (const field of workloadFields) if (isSet(container[field])) errors.forbidden(here.child(field), notEphemeral);
    container.volumeMounts?.forEach((mount, j) => {
      const mountAt = here.child('volumeMounts').index(j);
      if (mount.subPath !== undefined) errors.forbidden(mountAt.child('subPath'), notEphemeral);
      if (mount.subPathExpr !== undefined) errors.forbidden(mountAt.child('subPathExpr'), notEphemeral);
    });
  });
}

/** Images must have no surrounding blanks in pods; templates may have them as placeholders. */
export function validateImageText(container: Pick<Container, 'image'>, at: Path, errors: FieldErrors): void {
  const { image } = container;
  if (image !== undefined && image !== image.trim())
    errors.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}

/** Rules that all containers share, in the order of errors of a stock server. */
function validateContainer(container: Container, names: Set<string>, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { name, image, lifecycle, ports, env: vars, envFrom, securityContext } = container;
  if (name === '') errors.required(at.child('name'));
  else report(errors, at.child('name'), name, dns1123Label(name));
  if (names.has(name)) errors.duplicate(at.child('name'), name);
  else names.add(name);
  if (image === undefined || image === '') errors.required(at.child('image'));
  if (lifecycle !== undefined) validateLifecycle(lifecycle, at.child('lifecycle'), errors);
  validateEndingProbes(container, at, errors);
  validateMessagePolicy(container.terminationMessagePolicy, at.child('terminationMessagePolicy'), errors);
  if (container.readinessProbe !== undefined) validateProbe(container.readinessProbe, at.child('readinessProbe'), errors);
  if (ports !== undefined) validatePorts(ports, at.child('ports'), errors);
  if (vars !== undefined) validateEnv(vars, at.child('env'), errors, env);
  if (envFrom !== undefined) validateEnvFrom(envFrom, at.child('envFrom'), errors);
  validateMounts(container, volumes, at, errors);
  word(container.imagePullPolicy, pullPolicies, at.child('imagePullPolicy'), errors);
  validateResourceRequirements(container.resources, at.child('resources'), errors, env.identity);
  if (securityContext !== undefined) validateSecurityContext(securityContext, at.child('securityContext'), errors, env);
}

/** Probes whose failure ends the container: one success is enough. Errors of a startup probe are reported twice, as in a stock server. */
function validateEndingProbes({ livenessProbe, readinessProbe, startupProbe }: Container, at: Path, errors: FieldErrors): void {
  if (livenessProbe !== undefined) validateProbe(livenessProbe, at.child('livenessProbe'), errors);
  const grace = readinessProbe?.terminationGracePeriodSeconds;
  if (grace !== undefined)
    errors.invalid(at.child('readinessProbe').child('terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes');
  if (startupProbe !== undefined) validateProbe(startupProbe, at.child('startupProbe'), errors);
  if (livenessProbe !== undefined) validateOneSuccess(livenessProbe, at.child('livenessProbe'), errors);
  if (startupProbe === undefined) return;
  validateProbe(startupProbe, at.child('startupProbe'), errors);
  validateOneSuccess(startupProbe, at.child('startupProbe'), errors);
}
function validateOneSuccess({ successThreshold }: Probe, at: Path, errors: FieldErrors): void {
  if (successThreshold !== 1) errors.invalid(at.child('successThreshold'), successThreshold ?? 0, 'must be 1');
}

function validateMessagePolicy(policy: string | undefined, at: Path, errors: FieldErrors): void {
  if (policy === undefined) errors.required(at);
  else if (policy !== 'File' && policy !== 'FallbackToLogsOnError') errors.invalid(at, policy, "must be 'File' or 'FallbackToLogsOnError'");
}

// ---- ports -------------------------------------------------------------------------------------------------------

function validatePorts(ports: readonly ContainerPort[], at: Path, errors: FieldErrors): void {
  const names = new Set<string>();
  ports.forEach(({ name = '', containerPort, hostPort = 0, protocol = '' }, i) => {
    const here = at.index(i);
    if (name !== '') {
      const problems = portName(name);
      if (problems.length > 0) report(errors, here.child('name'), name, problems);
      else if (names.has(name)) errors.duplicate(here.child('name'), name);
      else names.add(name);
    }
    if (containerPort === 0) errors.required(here.child('containerPort'));
    else report(errors, here.child('containerPort'), containerPort, portNumber(containerPort));
    if (hostPort !== 0) report(errors, here.child('hostPort'), hostPort, portNumber(hostPort));
    word(protocol, protocols, here.child('protocol'), errors);
  });
}

/** A port of the node goes to one container only. */
function validateHostPorts(containers: readonly Container[], at: Path, errors: FieldErrors): void {
  let usedPorts: Set<string> | undefined;
  containers.forEach(({ ports }, i) => {
    ports?.forEach(({ hostPort = 0, hostIP = '', protocol = '' }, j) => {
      if (hostPort === 0) return;
      usedPorts ??= new Set();
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (usedPorts.has(key)) errors.duplicate(at.index(i).child('ports').index(j).child('hostPort'), key);
      else usedPorts.add(key);
    });
  });
}
