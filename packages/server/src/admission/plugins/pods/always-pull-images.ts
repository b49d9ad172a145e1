/** AlwaysPullImages: every start of a container pulls its image, so that the registry checks the credentials of the pod each time. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { eachContainer, oldPodOf, podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

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

/** An update without new images is not changed: existing pods can still be updated. */
function concerned(request: AdmissionRequest): Pod | undefined {
  const pod = podOf(request);
  const old = oldPodOf(request);
  if (pod === undefined || old === undefined) return pod;
  const oldImages = new Set<string | undefined>();
  eachContainer(old.spec, ({ image }) => oldImages.add(image));
  let fresh = false;
  eachContainer(pod.spec, ({ image }) => {
    if (!oldImages.has(image)) fresh = true;
  });
  return fresh ? pod : undefined;
}
