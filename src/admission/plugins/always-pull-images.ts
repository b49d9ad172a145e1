/** AlwaysPullImages: whoever runs an image proves to the registry that they may, because it is pulled anew every time. */
import type { Pod } from '../../kinds/core/schema/pod.ts';
import { kinds, type MakePlugin } from '../plugin.ts';
import { eachContainer, oldPodOf, podOf } from '../pods.ts';
import { refusal } from '../refusal.ts';
import type { AdmissionRequest } from '../types.ts';

export const alwaysPullImages: MakePlugin = () => ({
  name: 'AlwaysPullImages',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  concerns: kinds('pods'),
  admit(request) {
    const pod = concerned(request);
    if (pod === undefined) return;
    eachContainer(pod.spec, (container) => {
      container.imagePullPolicy = 'Always';
    });
  },
  validate(request) {
    const pod = concerned(request);
    if (pod === undefined) return;
    const wrong: string[] = [];
    eachContainer(pod.spec, ({ imagePullPolicy }, path) => {
      if (imagePullPolicy !== 'Always')
        wrong.push(`${path}.imagePullPolicy: Unsupported value: ${JSON.stringify(imagePullPolicy ?? '')}: supported values: "Always"`);
    });
    if (wrong.length > 0) throw refusal(request, wrong.length === 1 ? (wrong[0] as string) : `[${wrong.join(', ')}]`);
  },
});

/** An update that brings no new image is left alone: the pods that were there before stay changeable. */
function concerned(request: AdmissionRequest): Pod | undefined {
  const pod = podOf(request);
  const old = oldPodOf(request);
  if (pod === undefined || old === undefined) return pod;
  const known = new Set<string | undefined>();
  eachContainer(old.spec, ({ image }) => known.add(image));
  let fresh = false;
  eachContainer(pod.spec, ({ image }) => {
    if (!known.has(image)) fresh = true;
  });
  return fresh ? pod : undefined;
}
