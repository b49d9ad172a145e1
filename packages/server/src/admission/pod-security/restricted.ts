/** The restricted standard: hardening beyond the baseline. */
import type { Volume } from '@plat-dev/kinds/core/schema/volumes/volumes';
import { addedBeyond, seccompFine } from './baseline.ts';
import type { Check } from './checks.ts';
import { containersText, plural, quoted, setters, sortedQuoted } from './words.ts';

const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  since: [
    [
      8,
      ({ containers }) => {
        const by = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
        if (by.length === 0) return undefined;
        const detail = `${containersText(by)} must set securityContext.allowPrivilegeEscalation=false`;
        return { reason: 'allowPrivilegeEscalation != false', detail };
      },
    ],
  ],
};

const bindService = new Set(['NET_BIND_SERVICE']);

const capabilities: Check = {
  id: 'capabilities_restricted',
  replaces: ['capabilities_baseline'],
  since: [
    [
      22,
      (pod) => {
        const keeping = pod.containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
        const { names, by } = addedBeyond(pod, bindService);
        const parts = [
          ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
          ...(by.length > 0 ? [`${containersText(by)} must not include ${sortedQuoted(names)} in securityContext.capabilities.add`] : []),
        ];
        return parts.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: parts.join('; ') };
      },
    ],
  ],
};

const allowedVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
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

const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  since: [
    [
      0,
      ({ spec, containers }) => {
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
      },
    ],
  ],
};

const runAsUser: Check = {
  id: 'runAsUser',
  since: [
    [
      23,
      ({ spec, containers }) => {
        const by = setters(
          spec.securityContext?.runAsUser === 0,
          containers.filter(({ securityContext }) => securityContext?.runAsUser === 0),
        );
        return by === '' ? undefined : { reason: 'runAsUser=0', detail: `${by} must not set runAsUser=0` };
      },
    ],
  ],
};

const seccompProfile: Check = {
  id: 'seccompProfile_restricted',
  replaces: ['seccompProfile_baseline'],
  since: [
    [
      19,
      ({ spec, containers }) => {
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
      },
    ],
  ],
};

export const restricted: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfile,
];
