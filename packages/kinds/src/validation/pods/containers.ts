/** Validation of the containers of a pod: regular, init and ephemeral ones. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, portName, portNumber } from '@plat-dev/meta/names';
import { isSidecar } from '../../core/pods/pod-amounts.ts';
import type { Container, ContainerPort, EphemeralContainer } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { Probe } from '../../core/schema/pods/probes.ts';
import type { KindEnv } from '../../kind.ts';
import { report, word } from '../field-checks.ts';
import { validateResourceRequirements } from '../resources.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { type Volumes, validateMounts } from './mounts.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateUsedClaims } from './resource-claims.ts';
import { validateInitResizePolicy, validateInitRestartPolicy, validateResizePolicy, validateRestartPolicy } from './restart-rules.ts';
import { validateSecurityContext } from './security-context.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** What the rules of a container ask of its pod. */
export interface ContainerScope {
  readonly spec: PodSpec;
  readonly volumes: Volumes;
  /** The names of the resource claims of the pod. */
  readonly claimNames: ReadonlySet<string>;
  readonly env: KindEnv;
}

/** Yields after each container: a pod may have thousands, and each of them a thousand resources. */
export function* validateAllContainers(scope: ContainerScope, at: Path, errors: FieldErrors): Work<void> {
  const { containers = [], initContainers, ephemeralContainers } = scope.spec;
  const containersAt = at.child('containers');
  if (containers.length === 0) errors.required(containersAt);
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i] as Container;
    validateContainer(container, names, scope, containersAt.index(i), errors);
    if (scope.env.since('1.25')) validateServing(container, scope, containersAt.index(i), errors);
    validateRestartPolicy(container, containersAt.index(i), errors, scope.env);
    yield;
  }
  validateHostPorts(containers, containersAt, errors);
  if (initContainers !== undefined) yield* validateInitContainers(initContainers, scope, at.child('initContainers'), errors);
  if (ephemeralContainers !== undefined) {
    if (scope.env.since('1.25')) validateEphemeralContainers(ephemeralContainers, scope, at.child('ephemeralContainers'), errors);
    else validateEphemeralAsLists(ephemeralContainers, scope, at.child('ephemeralContainers'), errors);
  }
}

/** Fields that an init container must not have which runs to completion. */
const servingFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function* validateInitContainers(containers: readonly Container[], scope: ContainerScope, at: Path, errors: FieldErrors): Work<void> {
  const { env, spec } = scope;
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    validateContainer(containers[i] as Container, names, scope, at.index(i), errors);
    yield;
  }
  // They run one after the other, so that ports collide only within each.
  for (const container of containers) validateHostPorts([container], at, errors);
  const allNames = new Set(spec.containers?.map(({ name }) => name));
  containers.forEach((container, i) => {
    const here = at.index(i);
    if (allNames.has(container.name)) errors.duplicate(here.child('name'), container.name);
    validateInitRestartPolicy(container, here, errors, env);
    if (isSidecar(container)) validateServing(container, scope, here, errors);
    else forbidServing(container, here, errors, env);
    validateInitResizePolicy(container, here, errors, env);
  });
}

function forbidServing(container: Container, at: Path, errors: FieldErrors, env: KindEnv): void {
  const detail = `may not be set for init containers${env.since('1.28') ? ' without restartPolicy=Always' : ''}`;
  for (const field of servingFields) {
    if (container[field] === undefined) continue;
    if (env.since('1.25')) errors.forbidden(at.child(field), detail);
    else errors.invalid(at.child(field), container[field], 'must not be set for init containers');
  }
}

// ---- ephemeral containers ----------------------------------------------------------------------------------------

/** Fields that an ephemeral container must not have: it is not part of the workload. */
const workloadFields = [
  'ports',
  'resources',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const;
const notEphemeral = 'cannot be set for an Ephemeral Container';
const isSet = (value: unknown): boolean =>
  value !== undefined && (typeof value === 'string' || Array.isArray(value) || Object.keys(value as object).length > 0);

function validateEphemeralContainers(
  containers: readonly EphemeralContainer[],
  scope: ContainerScope,
  at: Path,
  errors: FieldErrors,
): void {
  const others = namesOfOthers(scope.spec);
  const names = new Set(others);
  containers.forEach((container, i) => {
    const here = at.index(i);
    validateContainer(container, new Set(), scope, here, errors);
    validateImageText(container, here, errors);
    validateEphemeralName(container, names, here, errors);
    validateTarget(container, others, here, errors);
    forbidWorkloadFields(container, here, errors);
  });
}

/** Before 1.25 the common rules named a list of one container. */
function validateEphemeralAsLists(containers: readonly EphemeralContainer[], scope: ContainerScope, at: Path, errors: FieldErrors): void {
  const others = namesOfOthers(scope.spec);
  const names = new Set(others);
  containers.forEach((container, i) => {
    const here = at.index(i);
    validateTarget(container, others, here, errors);
    if (container.name === '') {
      errors.required(here, 'ephemeralContainer requires a name');
      return;
    }
    validateContainer(container, new Set(), scope, here.index(0), errors);
    validateHostPorts([container], here, errors);
    validateImageText(container, here.index(0), errors);
    validateEphemeralName(container, names, here, errors);
    forbidWorkloadFields(container, here, errors);
  });
}

function namesOfOthers({ containers = [], initContainers = [] }: PodSpec): ReadonlySet<string> {
  return new Set([...containers, ...initContainers].map(({ name }) => name));
}
function validateTarget(
  { targetContainerName = '' }: EphemeralContainer,
  others: ReadonlySet<string>,
  at: Path,
  errors: FieldErrors,
): void {
  if (targetContainerName !== '' && !others.has(targetContainerName)) errors.notFound(at.child('targetContainerName'), targetContainerName);
}
function validateEphemeralName({ name }: EphemeralContainer, names: Set<string>, at: Path, errors: FieldErrors): void {
  if (names.has(name)) errors.duplicate(at.child('name'), name);
  else names.add(name);
}
function forbidWorkloadFields(container: EphemeralContainer, at: Path, errors: FieldErrors): void {
  for (const field of workloadFields) if (isSet(container[field])) errors.forbidden(at.child(field), notEphemeral);
  container.volumeMounts?.forEach((mount, j) => {
    const mountAt = at.child('volumeMounts').index(j);
    if (mount.subPath !== undefined) errors.forbidden(mountAt.child('subPath'), notEphemeral);
    if (mount.subPathExpr !== undefined) errors.forbidden(mountAt.child('subPathExpr'), notEphemeral);
  });
}

/** Images must have no surrounding blanks in pods; templates may have them as placeholders. */
export function validateImageText(container: Pick<Container, 'image'>, at: Path, errors: FieldErrors): void {
  const { image } = container;
  if (image !== undefined && image !== image.trim())
    errors.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}

// ---- all containers ----------------------------------------------------------------------------------------------

/** Rules that all containers share, in the order of errors of a stock server. */
function validateContainer(container: Container, names: Set<string>, scope: ContainerScope, at: Path, errors: FieldErrors): void {
  const { name, image, ports, env: vars, envFrom, resources, resizePolicy, securityContext } = container;
  const { env, spec, volumes } = scope;
  if (name === '') errors.required(at.child('name'));
  else report(errors, at.child('name'), name, dns1123Label(name));
  if (names.has(name)) errors.duplicate(at.child('name'), name);
  else names.add(name);
  if (image === undefined || image === '') errors.required(at.child('image'));
  if (!env.since('1.25')) validateServingFirst(container, scope, at, errors);
  validateMessagePolicy(container.terminationMessagePolicy, at.child('terminationMessagePolicy'), errors, env);
  if (!env.since('1.25') && container.readinessProbe !== undefined)
    validateProbe(container.readinessProbe, scope, at.child('readinessProbe'), errors);
  if (ports !== undefined) validatePorts(ports, at.child('ports'), errors);
  if (vars !== undefined) validateEnv(vars, at.child('env'), errors, env);
  if (envFrom !== undefined) validateEnvFrom(envFrom, at.child('envFrom'), errors, env);
  validateMounts(container, volumes, at, errors);
  word(container.imagePullPolicy, pullPolicies, at.child('imagePullPolicy'), errors);
  validateResourceRequirements(resources, at.child('resources'), errors, env);
  if (resources.claims !== undefined) validateUsedClaims(resources, scope.claimNames, at.child('resources').child('claims'), errors);
  if (resizePolicy !== undefined) validateResizePolicy(resizePolicy, spec.restartPolicy, at.child('resizePolicy'), errors);
  if (securityContext !== undefined)
    validateSecurityContext(securityContext, spec.hostUsers !== false, at.child('securityContext'), errors, env);
}

/** Life cycle and probes of a container that keeps running. */
function validateServing(container: Container, scope: ContainerScope, at: Path, errors: FieldErrors): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (lifecycle !== undefined) validateLifecycle(lifecycle, scope, at.child('lifecycle'), errors);
  if (livenessProbe !== undefined) validateEndingProbe(livenessProbe, scope, at.child('livenessProbe'), errors);
  if (readinessProbe !== undefined) {
    validateProbe(readinessProbe, scope, at.child('readinessProbe'), errors);
    forbidGrace(readinessProbe, at, errors);
  }
  if (startupProbe !== undefined) validateEndingProbe(startupProbe, scope, at.child('startupProbe'), errors);
}

/** The same before 1.25, when errors of a startup probe were reported twice, and those of a readiness probe later. */
function validateServingFirst(container: Container, scope: ContainerScope, at: Path, errors: FieldErrors): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (lifecycle !== undefined) validateLifecycle(lifecycle, scope, at.child('lifecycle'), errors);
  if (livenessProbe !== undefined) validateProbe(livenessProbe, scope, at.child('livenessProbe'), errors);
  if (readinessProbe !== undefined) forbidGrace(readinessProbe, at, errors);
  if (startupProbe !== undefined) validateProbe(startupProbe, scope, at.child('startupProbe'), errors);
  if (livenessProbe !== undefined) validateOneSuccess(livenessProbe, at.child('livenessProbe'), errors);
  if (startupProbe !== undefined) validateEndingProbe(startupProbe, scope, at.child('startupProbe'), errors);
}

/** A probe whose failure ends the container: one success is enough. */
function validateEndingProbe(probe: Probe, scope: ContainerScope, at: Path, errors: FieldErrors): void {
  validateProbe(probe, scope, at, errors);
  validateOneSuccess(probe, at, errors);
}
function validateOneSuccess({ successThreshold }: Probe, at: Path, errors: FieldErrors): void {
  if (successThreshold !== 1) errors.invalid(at.child('successThreshold'), successThreshold ?? 0, 'must be 1');
}
function forbidGrace({ terminationGracePeriodSeconds: grace }: Probe, at: Path, errors: FieldErrors): void {
  if (grace !== undefined)
    errors.invalid(at.child('readinessProbe').child('terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes');
}

const messagePolicies = ['File', 'FallbackToLogsOnError'];
function validateMessagePolicy(policy: string | undefined, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (policy === undefined) errors.required(at);
  else if (messagePolicies.includes(policy)) return;
  else if (env.since('1.25')) errors.notSupported(at, policy, messagePolicies);
  else errors.invalid(at, policy, "must be 'File' or 'FallbackToLogsOnError'");
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
