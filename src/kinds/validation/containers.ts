/** Containers of a pod: those that make it up, those that run before them, and those that are added for a look inside. */
import type { FieldErrors, Path } from '../../meta/field.ts';
import { dns1123Label, portName, portNumber } from '../../meta/names.ts';
import type { Container, ContainerPort, EphemeralContainer } from '../core/schema/containers.ts';
import type { PodSpec } from '../core/schema/pod.ts';
import type { KindEnv } from '../kind.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { type Volumes, validateMounts } from './mounts.ts';
import { validateEndingProbe, validateLifecycle, validateReadinessProbe } from './probes.ts';
import { validateResourceRequirements } from './resources.ts';
import { complain, word } from './rules.ts';
import { validateSecurityContext } from './security-context.ts';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Calls back for every container of a pod, in the order in which the stock server walks them. */
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

export function validateAllContainers(spec: PodSpec, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  validateContainers(spec.containers ?? [], volumes, at.child('containers'), errors, env);
  if (spec.initContainers !== undefined) validateInitContainers(spec, volumes, at.child('initContainers'), errors, env);
  if (spec.ephemeralContainers !== undefined) validateEphemeralContainers(spec, volumes, at.child('ephemeralContainers'), errors, env);
}

function validateContainers(containers: readonly Container[], volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (containers.length === 0) errors.required(at);
  const names = new Set<string>();
  for (let i = 0; i < containers.length; i++) {
    const container = containers[i] as Container;
    const here = at.index(i);
    validateCommon(container, volumes, here, errors, env);
    if (names.has(container.name)) errors.duplicate(here.child('name'), container.name);
    else names.add(container.name);
    const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
    if (lifecycle !== undefined) validateLifecycle(lifecycle, here.child('lifecycle'), errors);
    if (livenessProbe !== undefined) validateEndingProbe(livenessProbe, here.child('livenessProbe'), errors);
    if (readinessProbe !== undefined) validateReadinessProbe(readinessProbe, here.child('readinessProbe'), errors);
    if (startupProbe !== undefined) validateEndingProbe(startupProbe, here.child('startupProbe'), errors);
  }
  validateHostPorts(containers, at, errors);
}

/** Fields that say how a container serves; one that runs once before the others has no use for them. */
const servingFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function validateInitContainers(spec: PodSpec, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  const names = new Set(spec.containers?.map((container) => container.name));
  spec.initContainers?.forEach((container, i) => {
    const here = at.index(i);
    validateCommon(container, volumes, here, errors, env);
    if (names.has(container.name)) errors.duplicate(here.child('name'), container.name);
    else if (container.name !== '') names.add(container.name);
    // They run one after the other, so that ports collide only within each.
    validateHostPorts([container], at, errors);
    for (const field of servingFields)
      if (container[field] !== undefined) errors.forbidden(here.child(field), 'may not be set for init containers');
  });
}

/** Fields that would make an added container part of the workload. */
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
    validateCommon(container, volumes, here, errors, env);
    validateImageText(container, here, errors);
    if (names.has(container.name)) errors.duplicate(here.child('name'), container.name);
    else names.add(container.name);
    const target = container.targetContainerName ?? '';
    if (target !== '' && !others.has(target)) errors.notFound(here.child('targetContainerName'), target);
    for (const field of workloadFields) if (isSet(container[field])) errors.forbidden(here.child(field), notEphemeral);
    container.volumeMounts?.forEach((mount, j) => {
      const mountAt = here.child('volumeMounts').index(j);
      if (mount.subPath !== undefined) errors.forbidden(mountAt.child('subPath'), notEphemeral);
      if (mount.subPathExpr !== undefined) errors.forbidden(mountAt.child('subPathExpr'), notEphemeral);
    });
  });
}

/** Pods are stricter about images than templates, where blanks have been used as marks. */
export function validateImageText(container: Pick<Container, 'image'>, at: Path, errors: FieldErrors): void {
  const { image } = container;
  if (image !== undefined && image !== image.trim())
    errors.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}

/** Rules that all containers share. */
function validateCommon(container: Container, volumes: Volumes, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { name, image, ports, env: vars, envFrom, securityContext } = container;
  if (name === '') errors.required(at.child('name'));
  else complain(errors, at.child('name'), name, dns1123Label(name));
  if (image === undefined || image === '') errors.required(at.child('image'));
  validateMessagePolicy(container.terminationMessagePolicy, at.child('terminationMessagePolicy'), errors);
  if (ports !== undefined) validatePorts(ports, at.child('ports'), errors);
  if (vars !== undefined) validateEnv(vars, at.child('env'), errors);
  if (envFrom !== undefined) validateEnvFrom(envFrom, at.child('envFrom'), errors);
  validateMounts(container, volumes, at, errors);
  word(container.imagePullPolicy, pullPolicies, at.child('imagePullPolicy'), errors);
  validateResourceRequirements(container.resources, at.child('resources'), errors, env.identity);
  if (securityContext !== undefined) validateSecurityContext(securityContext, at.child('securityContext'), errors, env);
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
      const complaints = portName(name);
      if (complaints.length > 0) complain(errors, here.child('name'), name, complaints);
      else if (names.has(name)) errors.duplicate(here.child('name'), name);
      else names.add(name);
    }
    if (containerPort === 0) errors.required(here.child('containerPort'));
    else complain(errors, here.child('containerPort'), containerPort, portNumber(containerPort));
    if (hostPort !== 0) complain(errors, here.child('hostPort'), hostPort, portNumber(hostPort));
    word(protocol, protocols, here.child('protocol'), errors);
  });
}

/** A port of the node goes to one container only. */
function validateHostPorts(containers: readonly Container[], at: Path, errors: FieldErrors): void {
  let taken: Set<string> | undefined;
  containers.forEach(({ ports }, i) => {
    ports?.forEach(({ hostPort = 0, hostIP = '', protocol = '' }, j) => {
      if (hostPort === 0) return;
      taken ??= new Set();
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) errors.duplicate(at.index(i).child('ports').index(j).child('hostPort'), key);
      else taken.add(key);
    });
  });
}
