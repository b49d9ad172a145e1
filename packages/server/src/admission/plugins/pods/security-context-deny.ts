/** SecurityContextDeny: denies pods that set the user, the groups or the SELinux label of a container. */
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';
import { refusal } from '../../refusal.ts';

export const securityContextDeny: MakePlugin = () => ({
  name: 'SecurityContextDeny',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  concerns: kinds('pods'),
  validate(request) {
    const pod = podOf(request);
    if (pod === undefined) return;
    const deny = (field: string, value: unknown): void => {
      if (value !== undefined) throw refusal(request, `${field} is forbidden`);
    };
    const { securityContext, containers, initContainers } = pod.spec;
    deny('pod.Spec.SecurityContext.SupplementalGroups', securityContext?.supplementalGroups);
    deny('pod.Spec.SecurityContext.SELinuxOptions', securityContext?.seLinuxOptions);
    deny('pod.Spec.SecurityContext.RunAsUser', securityContext?.runAsUser);
    deny('pod.Spec.SecurityContext.FSGroup', securityContext?.fsGroup);
    for (const container of [...(initContainers ?? []), ...(containers ?? [])]) {
      deny('SecurityContext.SELinuxOptions', container.securityContext?.seLinuxOptions);
      deny('SecurityContext.RunAsUser', container.securityContext?.runAsUser);
    }
  },
});
