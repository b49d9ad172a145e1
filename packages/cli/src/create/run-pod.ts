/** The pod, and the service, that the flags of `plat run` describe. */
import { FlagError, readInteger, requiredFlag } from '@plat-dev/lib/flags';
import { environmentVariableName } from '@plat-dev/meta/names';
import type { JsonObject } from '@plat-dev/schema/types';
import { labelList } from '../labels/label-list.ts';

export interface PodOptions {
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly annotations: readonly string[];
  readonly env: readonly string[];
  readonly labels: string;
  readonly port: string;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly leaveStdinOpen: boolean;
  readonly restart: string;
  readonly command: boolean;
  readonly privileged: boolean;
}

/** `registry:5000/team/name:tag@sha256:…` */
/** `registry.example.com:5000/team/web:1.2@sha256:…`: only the host may have capital letters. */
const host = '[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*(?:\\.[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*)*(?::\\d+)?';
const part = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const imageForm = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::\\w[\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** `args`: after the name of the pod. Throws FlagError. */
export function podOf(name: string, args: readonly string[], options: PodOptions): JsonObject {
  const { image, stdin, tty } = options;
  if (image === '') throw new FlagError('which image? For example: --image=nginx', requiredFlag('image'));
  if (!imageForm.test(image)) throw new Error(`Invalid image name ${JSON.stringify(image)}: invalid reference format`);
  if (!restartPolicies.has(options.restart))
    throw new FlagError(`--restart: ${JSON.stringify(options.restart)} is not one of Always, OnFailure, Never`);
  if (!pullPolicies.has(options.imagePullPolicy)) {
    throw new FlagError(`--image-pull-policy: ${JSON.stringify(options.imagePullPolicy)} is not one of Always, IfNotPresent, Never`);
  }
  const env = options.env.map(variable);
  const container = {
    name,
    image,
    ...(args.length > 0 && { [options.command ? 'command' : 'args']: [...args] }),
    ...(env.length > 0 && { env }),
    ...(options.imagePullPolicy !== '' && { imagePullPolicy: options.imagePullPolicy }),
    ...(options.port !== '' && { ports: [{ containerPort: portOf(options.port) }] }),
    ...(options.privileged && { securityContext: { privileged: true } }),
    ...(stdin && { stdin: true }),
    ...(stdin && !options.leaveStdinOpen && { stdinOnce: true }),
    ...(tty && { tty: true }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: labelsOf(name, options.labels), ...annotationsOf(options.annotations) },
    spec: { containers: [container], dnsPolicy: 'ClusterFirst', restartPolicy: options.restart },
  };
}
const restartPolicies: ReadonlySet<string> = new Set(['Always', 'OnFailure', 'Never']);
const pullPolicies: ReadonlySet<string> = new Set(['', 'Always', 'IfNotPresent', 'Never']);

const labelsOf = (name: string, labels: string): Record<string, string> => (labels === '' ? { run: name } : labelList('labels', labels));

function annotationsOf(pairs: readonly string[]): { annotations?: Record<string, string> } {
  const annotations = pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at <= 0) throw new FlagError(`--annotations: ${JSON.stringify(pair)} is not of the form key=value`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) };
}
function variable(pair: string): JsonObject {
  const at = pair.indexOf('=');
  const name = pair.slice(0, Math.max(at, 0));
  const [complaint] = environmentVariableName(name);
  if (complaint !== undefined) throw new FlagError(`--env: ${JSON.stringify(pair)} is not of the form NAME=value: ${complaint}`);
  const value = pair.slice(at + 1);
  return { name, ...(value !== '' && { value }) };
}
function portOf(text: string): number {
  try {
    return readInteger(text, 1, 65535);
  } catch (error) {
    throw new FlagError(`--port: ${(error as Error).message}`);
  }
}

/** The service of --expose: it selects the labels of the pod. */
export function serviceOf(name: string, { port, labels }: Pick<PodOptions, 'port' | 'labels'>): JsonObject {
  if (port === '') throw new FlagError('--expose needs --port');
  const number = portOf(port);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(labels !== '' && { labels: labelList('labels', labels) }) },
    spec: { ports: [{ port: number, protocol: 'TCP', targetPort: number }], selector: labelsOf(name, labels) },
  };
}
