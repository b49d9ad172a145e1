/** The restricted standard: hardening beyond the baseline. */
import type { Volume } from '@plat-dev/kinds/core/schema/volumes/volumes';
import { addedBeyond, outsideUserNamespaces, procMounts, seccompFine } from './baseline.ts';
import type { Check, Rule } from './checks.ts';
import { containersText, plural, quoted, setters, sortedQuoted } from './words.ts';

/** What is not demanded of Windows pods, which cannot have these fields. */
const notOnWindows =
  (rule: Rule): Rule =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : rule(pod);

const allowPrivilegeEscalationRule: Rule = ({ containers }) => {
  const by = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (by.length === 0) return undefined;
  const detail = `${containersText(by)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
};

const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  since: [
    [8, allowPrivilegeEscalationRule],
    [25, notOnWindows(allowPrivilegeEscalationRule)],
  ],
};

const bindService = new Set(['NET_BIND_SERVICE']);

const capabilitiesRule: Rule = (pod) => {
  const keeping = pod.containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const { names, by } = addedBeyond(pod, bindService);
  const parts = [
    ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(by.length > 0 ? [`${containersText(by)} must not include ${sortedQuoted(names)} in securityContext.capabilities.add`] : []),
  ];
  return parts.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: parts.join('; ') };
};

const capabilities: Check = {
  id: 'capabilities_restricted',
  replaces: ['capabilities_baseline'],
  since: [
    [22, capabilitiesRule],
    [25, notOnWindows(capabilitiesRule)],
  ],
};

/** Also of pods in a user namespace. */
const procMount: Check = { id: 'procMount_restricted', replaces: ['procMount'], since: [[35, procMounts]] };

const allowedVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);
const typeOf = (volume: Volume): string =>
  Object.keys(volume).find((key) => key !== 'name' && volume[key as keyof Volume] !== undefined) ?? 'unknown';

const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  replaces: ['hostPathVolumes'],
  since: [
    [
      0,
      ({ spec }) => {
        const wrong = (spec.volumes ?? [])
          .map((volume) => ({ name: volume.name, type: typeOf(volume) }))
          .filter(({ type }) => !allowedVolumes.has(type));
        if (wrong.length === 0) return undefined;
        const types = new Set(wrong.map(({ type }) => type));
        const volumes = `${plural('volume', 'volumes', wrong.length)} ${quoted(wrong.map(({ name }) => name))}`;
        const use = `${plural('uses', 'use', wrong.length)} ${plural('restricted volume type', 'restricted volume types', types.size)}`;
        return { reason: 'restricted volume types', detail: `${volumes} ${use} ${sortedQuoted(types)}` };
      },
    ],
  ],
};

const runAsNonRootRule: Rule = ({ spec, containers }) => {
  const reason = 'runAsNonRoot != true';
  const ofPod = spec.securityContext?.runAsNonRoot;
  const by = setters(
    ofPod === false,
    containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  if (by !== '') return { reason, detail: `${by} must not set securityContext.runAsNonRoot=false` };
  const open = ofPod === true ? [] : containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (open.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(open)} must set securityContext.runAsNonRoot=true` };
};

const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  since: [
    [0, runAsNonRootRule],
    [35, outsideUserNamespaces(runAsNonRootRule)],
  ],
};

const runAsUserRule: Rule = ({ spec, containers }) => {
  const by = setters(
    spec.securityContext?.runAsUser === 0,
    containers.filter(({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return by === '' ? undefined : { reason: 'runAsUser=0', detail: `${by} must not set runAsUser=0` };
};

const runAsUser: Check = {
  id: 'runAsUser',
  since: [
    [23, runAsUserRule],
    [35, outsideUserNamespaces(runAsUserRule)],
  ],
};

const seccompProfileRule: Rule = ({ spec, containers }) => {
  const reason = 'seccompProfile';
  const values = new Set<string>();
  const wrong = (type: string | undefined): boolean => {
    if (type === undefined || seccompFine(type)) return false;
    values.add(type);
    return true;
  };
  const ofPod = spec.securityContext?.seccompProfile?.type;
  const by = setters(
    wrong(ofPod),
    containers.filter(({ securityContext }) => wrong(securityContext?.seccompProfile?.type)),
  );
  if (by !== '') return { reason, detail: `${by} must not set securityContext.seccompProfile.type to ${sortedQuoted(values)}` };
  const open = ofPod !== undefined ? [] : containers.filter(({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (open.length === 0) return undefined;
  const detail = `pod or ${containersText(open)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason, detail };
};

const seccompProfile: Check = {
  id: 'seccompProfile_restricted',
  replaces: ['seccompProfile_baseline'],
  since: [
    [19, seccompProfileRule],
    [25, notOnWindows(seccompProfileRule)],
  ],
};

export const restricted: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  procMount,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfile,
];
