/** `plat set image`: changes the images of containers. */
import { FlagError } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { recordFlag } from '../edit/record.ts';
import { isStock } from '../program.ts';
import { withContainers, withPodSpec } from './pod-spec.ts';
import { setFlags, update } from './update-objects.ts';

export const image = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE --all | -f FILE  CONTAINER=IMAGE… [flags]',
  summary: 'Set the images of containers.',
  flags: setFlags({ record: recordFlag }),
  more: `
Examples:
  plat set image deployment/web web=nginx:1.25
  plat set image deployments,daemonsets --all '*=nginx:1.25'
  plat set image -f web.yaml web=nginx:1.25 --local -o yaml

An object that has these images already is not reported.
`,
  async run(line, io) {
    const at = line.args.findIndex((word) => word.includes('='));
    const args = at === -1 ? line.args : line.args.slice(0, at);
    const images = readImages(at === -1 ? [] : line.args.slice(at));
    return update(
      {
        name: 'image',
        verb: 'image updated',
        options: line.options,
        args,
        line,
        change: async (object) => withImages(object, images, !isStock(io)),
      },
      io,
    );
  },
});

type Images = ReadonlyMap<string, string>;

function readImages(words: readonly string[]): Images {
  const images = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    if (at <= 0 || at === word.length - 1)
      throw new FlagError(`${JSON.stringify(word)} is not of the form container=image; objects come before images`);
    images.set(word.slice(0, at), word.slice(at + 1));
  }
  if (images.size === 0) throw new FlagError('which image? For example: plat set image deployment/web web=nginx:1.25');
  if (images.size > 1 && images.has('*')) throw new FlagError('* stands for all containers: leave the others out');
  return images;
}

/** `isOwn`: as plat, an error says more. */
function withImages(object: Parameters<typeof withPodSpec>[0], images: Images, isOwn: boolean): ReturnType<typeof withPodSpec> {
  const missing = new Set(images.keys());
  const names: string[] = [];
  const changed = withPodSpec(object, (spec) =>
    withContainers(spec, (container) => {
      names.push(container.name);
      const name = images.has('*') ? '*' : container.name;
      const image = images.get(name);
      missing.delete(name);
      return image === undefined ? container : { ...container, image: image };
    }),
  );
  if (missing.size > 0) {
    const unknown = [...missing].map((name) => `unable to find container named ${JSON.stringify(name)}`).join(', ');
    throw new Error(isOwn ? `${unknown}: it has ${names.join(', ')}` : unknown);
  }
  return changed;
}
