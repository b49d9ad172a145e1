/** Deletes finished jobs after their `ttlSecondsAfterFinished`. */

import { unlessGone } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import type { Job } from '@plat-dev/kinds/batch/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { timeMillis } from '@plat-dev/meta/time';
import { builtin, type Controller } from './runtime/controller.ts';

type JobObject = Wire<Job>;

/** When a job is to be deleted, in milliseconds since 1970. Undefined if it has not finished or has no TTL. */
function endOfJob({ spec, status }: JobObject): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished;
  const finishedCondition = (status?.conditions ?? []).find(
    ({ type, status: holds }) => (type === 'Complete' || type === 'Failed') && holds === 'True',
  );
  if (seconds === undefined || seconds === null || finishedCondition?.lastTransitionTime == null) return undefined;
  return timeMillis(finishedCondition.lastTransitionTime) + seconds * 1000;
}

export const ttlAfterFinished: Controller = {
  name: 'ttl-after-finished',
  account: 'ttl-after-finished-controller',
  start({ informers, queue, client, identity, clock }) {
    const ref = builtin(identity, 'batch', 'v1', 'jobs');
    const jobs = informers.of<JobObject>(ref, { form: 'ends', keep, takesWritersObjects: true });
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const job = jobs.get(namespace, name);
        if (job === undefined || job.metadata.deletionTimestamp !== undefined) return;
        const remainingMs = (endOfJob(job) ?? Number.POSITIVE_INFINITY) - clock.now();
        if (remainingMs > 0) return Number.isFinite(remainingMs) ? remainingMs : undefined;
        // The TTL may have been extended.
        const live = await client.find<JobObject>(ref, namespace, name);
        const end = live?.metadata.uid === job.metadata.uid ? endOfJob(live as JobObject) : undefined;
        if (live === undefined || end === undefined) return;
        if (end > clock.now()) return end - clock.now();
        const { uid = '', resourceVersion = '' } = live.metadata;
        const choice = { preconditions: { uid, resourceVersion }, propagationPolicy: 'Foreground' as const };
        await client.delete(ref, namespace, name, choice).catch(unlessGone);
      },
      { after: [jobs.synced] },
    );
    jobs.onChange(({ type, object }) => {
      if (type !== 'deleted' && endOfJob(object) !== undefined) work.add(keyOf(object));
    });
  },
};

function keep({ metadata, spec, status }: JobObject): JobObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    ...(spec?.ttlSecondsAfterFinished !== undefined && { spec: { ttlSecondsAfterFinished: spec.ttlSecondsAfterFinished } }),
    ...(status?.conditions !== undefined && { status: { conditions: status.conditions } }),
  } as JobObject;
}
