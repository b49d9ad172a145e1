/** `plat set resources`: changes requests and limits of containers. */
import { FlagError, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { recordFlag } from '../edit/record.ts';
import { resourceList } from '../objects/resource-list.ts';
import { containersFlag } from './containers-flag.ts';
import { nameMatches, withContainers, withPodSpec } from './pod-spec.ts';
import { setFlags, update } from './update-objects.ts';

export const resources = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE --all | -f FILE  --limits LIST | --requests LIST [flags]',
  summary: 'Set requests and limits of containers.',
  flags: setFlags({
    containers: containersFlag,
    limits: text('', 'Limits: cpu=500m,memory=1Gi.', { value: 'RESOURCE=QUANTITY,…' }),
    requests: text('', 'Requests: cpu=100m,memory=256Mi.', { value: 'RESOURCE=QUANTITY,…' }),
    record: recordFlag,
  }),
  more: `
Examples:
  plat set resources deployment web --limits=cpu=500m,memory=1Gi
  plat set resources deployment/web -c web --requests=cpu=100m
  plat set resources -f web.yaml --limits=cpu=0,memory=0 --local -o yaml
`,
  async run(line, io) {
    const { options, args } = line;
    if (options.limits === '' && options.requests === '') throw new FlagError('which resources? For example: --limits=cpu=500m,memory=1Gi');
    const limits = options.limits === '' ? undefined : resourceList('limits', options.limits);
    const requests = options.requests === '' ? undefined : resourceList('requests', options.requests);
    const change = async (object: JsonObject): Promise<JsonObject> => {
      let isContainerFound = false;
      const changed = withPodSpec(object, (spec) =>
        withContainers(spec, (container) => {
          if (!nameMatches(container.name, options.containers)) return container;
          isContainerFound = true;
          const currentResources = (container.resources ?? {}) as { limits?: JsonObject; requests?: JsonObject };
          return {
            ...container,
            resources: {
              ...currentResources,
              ...(limits !== undefined && { limits: { ...currentResources.limits, ...limits } }),
              ...(requests !== undefined && { requests: { ...currentResources.requests, ...requests } }),
            },
          };
        }),
      );
      if (!isContainerFound) throw new Error(`unable to find container named ${options.containers}`);
      return changed;
    };
    return update({ name: 'resources', verb: 'resource requirements updated', options, args, line, change }, io);
  },
});
