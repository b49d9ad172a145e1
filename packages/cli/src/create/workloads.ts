/** `plat create deployment`, `job` and `cronjob`. */
import { FlagError, flag, int, list, requiredFlag, text } from '@plat-dev/lib/flags';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { generateName } from '@plat-dev/meta/names';
import type { JsonObject } from '@plat-dev/schema/types';
import { parseTarget } from '../pods/select-pods.ts';
import { type Maker, maker, type World } from './maker.ts';

const usage = 'NAME [flags] [-- COMMAND [ARGUMENTS]]';
const imageFlag = text('', 'Image to run.', { value: 'IMAGE' });

/** A container without a command runs that of its image. */
const container = (name: string, image: string, command: readonly string[]): JsonObject => ({
  name,
  image,
  ...(command.length > 0 && { command: [...command] }),
});

/** The last part of the image without tag and digest. Where characters must be replaced, others may be the same: random ones follow. */
function containerName(image: string, { random }: World): string {
  const name = image.slice(image.lastIndexOf('/') + 1).split(/[:@]/)[0] as string;
  return /[_.]/.test(name) ? generateName(`${name.replace(/[_.]/g, '-')}-`, random.below) : name;
}

export const workloadMakers: readonly Maker[] = [
  maker({
    path: 'cronjob',
    aliases: ['cj'],
    summary: 'Create a cron job.',
    usage,
    examples: [
      "plat create cronjob tidy --image=busybox --schedule='*/5 * * * *'",
      "plat create cronjob tidy --image=busybox --schedule='0 3 * * *' -- rm -r /tmp/old",
      "plat create cj tidy --image=busybox --schedule='@daily' --restart=Never",
    ],
    group: 'batch',
    kind: 'CronJob',
    plural: 'cronjobs',
    flags: {
      image: imageFlag,
      schedule: text('', "When to run, in the format of cron: '*/5 * * * *'.", { value: 'SCHEDULE' }),
      restart: flag<string>('', 'Restart policy of the pods: OnFailure or Never.', 'POLICY', (t) => t, { defaultText: 'OnFailure' }),
    },
    make({ image, schedule, restart }, { name, command }) {
      if (image === '') throw new FlagError('which image? For example: --image=busybox');
      if (schedule === '') throw new FlagError("when? For example: --schedule='*/5 * * * *'");
      const pod = { spec: { containers: [container(name, image, command)], restartPolicy: restart === '' ? 'OnFailure' : restart } };
      return { spec: { jobTemplate: { metadata: { name }, spec: { template: pod } }, schedule } };
    },
  }),
  maker({
    path: 'deployment',
    aliases: ['deploy'],
    summary: 'Create a deployment.',
    usage,
    examples: [
      'plat create deployment web --image=nginx',
      'plat create deployment web --image=nginx --replicas=3 --port=80',
      'plat create deploy clock --image=busybox -- date',
    ],
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    flags: {
      image: list([], 'Images to run, one container each.', { value: 'IMAGE,…' }),
      port: int(-1, 'Port that the first container exposes.', { min: -1, max: 65535, defaultText: '' }),
      replicas: int(1, 'Number of replicas.', { short: 'r', max: 2 ** 31 - 1 }),
    },
    make({ image, port, replicas }, world) {
      const { name, command } = world;
      if (image.length === 0) throw new FlagError('which image? For example: --image=nginx', requiredFlag('image'));
      if (image.length > 1 && command.length > 0) throw new FlagError('a command needs a single --image');
      const containers = image.map((one) => container(containerName(one, world), one, command));
      if (port >= 0 && containers[0] !== undefined) containers[0] = { ...containers[0], ports: [{ containerPort: port }] };
      const labels = { app: name };
      return {
        metadata: { labels },
        spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      };
    },
  }),
  maker({
    path: 'job',
    summary: 'Create a job, of an image or from a cron job.',
    usage,
    examples: [
      'plat create job once --image=busybox',
      'plat create job once --image=busybox -- date',
      'plat create job now --from=cronjob/tidy',
    ],
    group: 'batch',
    kind: 'Job',
    plural: 'jobs',
    needsServer: ({ image, from }) => image === '' && from !== '',
    flags: { image: imageFlag, from: text('', 'Cron job to take the job from: cronjob/tidy.', { value: 'cronjob/NAME' }) },
    async make({ image, from }, world) {
      const { name, command } = world;
      if ((image === '') === (from === '')) throw new FlagError('which job? Name either an --image or a cron job with --from=cronjob/NAME');
      if (from === '') return { spec: { template: { spec: { containers: [container(name, image, command)], restartPolicy: 'Never' } } } };
      if (command.length > 0) throw new FlagError('--from and a command exclude each other: the cron job has one');
      return fromCronJob(from, world);
    },
  }),
];

interface CronJob {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: {
    readonly jobTemplate: { readonly metadata?: { labels?: JsonObject; annotations?: JsonObject }; readonly spec: JsonObject };
  };
}
async function fromCronJob(from: string, world: World): Promise<JsonObject> {
  const work = world.work();
  const { type, name } = parseTarget(from);
  const resource = await work.discovery.find(type);
  if (resource.kind !== 'CronJob') throw new FlagError(`--from: ${JSON.stringify(from)} is not a cron job: cronjob/NAME`);
  const { metadata, spec } = await work.get<CronJob>({ resource, namespace: work.namespace, name });
  const { labels, annotations = {} } = spec.jobTemplate.metadata ?? {};
  return {
    metadata: {
      annotations: { [domainName(world.identity as Identity, 'instantiate', 'cronjob')]: 'manual', ...annotations },
      ...(labels !== undefined && { labels }),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid }],
    },
    spec: spec.jobTemplate.spec,
  };
}
