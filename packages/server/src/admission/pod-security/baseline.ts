/** The baseline standard: prevents known privilege escalations. */
import { own } from '@plat-dev/lib/own';
import { safeSysctls } from '../sysctls.ts';
import type { Check, Examined, Rule } from './checks.ts';
import { containersText, plural, quoted, setters, sortedQuoted, type Violation } from './words.ts';

const appArmorTypes = new Set(['RuntimeDefault', 'Localhost']);

const appArmorProfile: Check = {
  id: 'appArmorProfile',
  since: [
    [
      0,
      ({ annotations, identity, spec, containers, release }) => {
        const prefix = `container.apparmor.security.beta.${identity.domain}/`;
        const wrong = Object.entries(annotations)
          .filter(
            ([name, value]) => name.startsWith(prefix) && !(value === '' || value === 'runtime/default' || value.startsWith('localhost/')),
          )
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .sort();
        const types = new Set<string>();
        const isWrong = ({ securityContext }: Pick<Examined['spec'], 'securityContext'>): boolean => {
          const type = securityContext?.appArmorProfile?.type;
          if (type === undefined || appArmorTypes.has(type)) return false;
          types.add(type);
          return true;
        };
        const by = setters(
          isWrong(spec),
          containers.filter((container) => isWrong(container as never)),
        );
        const values = [...[...types].sort(), ...wrong];
        if (values.length === 0) return undefined;
        const reason = plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length);
        // Before 1.30 there were annotations only.
        if (release < 30) return { reason, detail: wrong.join(', ') };
        const all = [...(by === '' ? [] : [by]), ...(wrong.length === 0 ? [] : [plural('annotation', 'annotations', wrong.length)])];
        return { reason, detail: `${all.join(' and ')} must not set AppArmor profile type to ${quoted(values)}` };
      },
    ],
  ],
};

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

/** Containers that add other capabilities than the allowed ones, and those capabilities. */
export function addedBeyond({ containers }: Examined, allowed: ReadonlySet<string>): { names: Set<string>; by: Examined['containers'] } {
  const names = new Set<string>();
  const by = containers.filter(({ securityContext }) => {
    const wrong = (securityContext?.capabilities?.add ?? []).filter((name) => !allowed.has(name));
    for (const name of wrong) names.add(name);
    return wrong.length > 0;
  });
  return { names, by };
}

const capabilities: Check = {
  id: 'capabilities_baseline',
  since: [
    [
      0,
      (pod) => {
        const { names, by } = addedBeyond(pod, defaultCapabilities);
        if (by.length === 0) return undefined;
        const detail = `${containersText(by)} must not include ${sortedQuoted(names)} in securityContext.capabilities.add`;
        return { reason: 'non-default capabilities', detail };
      },
    ],
  ],
};

const hostNamespaces: Check = {
  id: 'hostNamespaces',
  since: [
    [
      0,
      ({ spec }) => {
        const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
        return used.length === 0 ? undefined : { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
      },
    ],
  ],
};

const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  since: [
    [
      0,
      ({ spec }) => {
        const names = (spec.volumes ?? []).filter((volume) => volume.hostPath !== undefined).map(({ name }) => name);
        if (names.length === 0) return undefined;
        return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` };
      },
    ],
  ],
};

const hostPorts: Check = {
  id: 'hostPorts',
  since: [
    [
      0,
      ({ containers }) => {
        const ports = new Set<string>();
        const by = containers.filter((container) => {
          const used = (container.ports ?? []).filter(({ hostPort }) => (hostPort ?? 0) !== 0);
          for (const { hostPort } of used) ports.add(String(hostPort));
          return used.length > 0;
        });
        if (by.length === 0) return undefined;
        const uses = `${plural('uses', 'use', by.length)} ${plural('hostPort', 'hostPorts', ports.size)}`;
        return { reason: 'hostPort', detail: `${containersText(by)} ${uses} ${[...ports].sort().join(', ')}` };
      },
    ],
  ],
};

/** Requests of a node agent to other hosts. */
const hostProbes: Check = {
  id: 'hostProbesAndHostLifecycle',
  since: [
    [
      34,
      ({ containers }) => {
        const hosts = new Set<string>();
        const by = containers.filter((container) => {
          const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
          const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
          const named = handlers.flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? '']);
          const used = named.filter((host) => host !== '');
          for (const host of used) hosts.add(host);
          return used.length > 0;
        });
        if (by.length === 0) return undefined;
        const reason = 'probe or lifecycle host';
        const names = by.map(({ name }) => name);
        const uses = `${plural('uses', 'use', by.length)} ${plural(reason, 'probe or lifecycle hosts', hosts.size)}`;
        return { reason, detail: `${plural('container', 'containers', by.length)} ${sortedQuoted(names)} ${uses} ${sortedQuoted(hosts)}` };
      },
    ],
  ],
};

const privileged: Check = {
  id: 'privileged',
  since: [
    [
      0,
      ({ containers }) => {
        const by = containers.filter(({ securityContext }) => securityContext?.privileged === true);
        if (by.length === 0) return undefined;
        return { reason: 'privileged', detail: `${containersText(by)} must not set securityContext.privileged=true` };
      },
    ],
  ],
};

export function procMounts({ containers }: Examined): Violation | undefined {
  const by = containers.filter(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default');
  if (by.length === 0) return undefined;
  const types = sortedQuoted(by.map(({ securityContext }) => securityContext?.procMount as string));
  return { reason: 'procMount', detail: `${containersText(by)} must not set securityContext.procMount to ${types}` };
}
/** A pod in a user namespace of its own has no rights on the node, whatever its users are. */
export const outsideUserNamespaces =
  (rule: Rule): Rule =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : rule(pod);

const procMount: Check = {
  id: 'procMount',
  since: [
    [0, procMounts],
    [35, outsideUserNamespaces(procMounts)],
  ],
};

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);
const seLinuxTypesLater = new Set([...seLinuxTypes, 'container_engine_t']);

const seLinuxRule =
  (allowedTypes: ReadonlySet<string>): Rule =>
  ({ spec, containers }) => {
    const types = new Set<string>();
    let user = false;
    let role = false;
    const wrong = ({ securityContext }: Pick<Examined['spec'], 'securityContext'>): boolean => {
      const options = securityContext?.seLinuxOptions;
      if (options === undefined) return false;
      const badType = !allowedTypes.has(options.type ?? '');
      const badUser = (options.user ?? '') !== '';
      const badRole = (options.role ?? '') !== '';
      if (badType) types.add(options.type as string);
      user ||= badUser;
      role ||= badRole;
      return badType || badUser || badRole;
    };
    const by = setters(
      wrong(spec),
      containers.filter((container) => wrong(container as never)),
    );
    if (by === '') return undefined;
    const what = [
      ...(types.size > 0 ? [`${plural('type', 'types', types.size)} ${sortedQuoted(types)}`] : []),
      ...(user ? ['user may not be set'] : []),
      ...(role ? ['role may not be set'] : []),
    ];
    return { reason: 'seLinuxOptions', detail: `${by} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}` };
  };

const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  since: [
    [0, seLinuxRule(seLinuxTypes)],
    [31, seLinuxRule(seLinuxTypesLater)],
  ],
};

const seccompTypes = new Set(['RuntimeDefault', 'Localhost']);
export const seccompFine = (type: string): boolean => seccompTypes.has(type);

/** Before the field existed, annotations were used. */
function seccompAnnotations({ annotations, containers, identity }: Examined): Violation | undefined {
  const fine = (value: string): boolean => value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
  const names = [
    `seccomp.security.alpha.${identity.domain}/pod`,
    ...containers.map(({ name }) => `container.seccomp.security.alpha.${identity.domain}/${name}`),
  ];
  const wrong = new Set<string>();
  for (const name of names) {
    const value = own(annotations, name);
    if (value !== undefined && !fine(value)) wrong.add(`${name}=${JSON.stringify(value)}`);
  }
  if (wrong.size === 0) return undefined;
  const detail = `forbidden ${plural('annotation', 'annotations', wrong.size)} ${[...wrong].sort().join(', ')}`;
  return { reason: 'seccompProfile', detail };
}

function seccompFields({ spec, containers }: Examined): Violation | undefined {
  const values = new Set<string>();
  const wrong = (type: string | undefined): boolean => {
    if (type === undefined || seccompFine(type)) return false;
    values.add(type);
    return true;
  };
  const by = setters(
    wrong(spec.securityContext?.seccompProfile?.type),
    containers.filter(({ securityContext }) => wrong(securityContext?.seccompProfile?.type)),
  );
  if (by === '') return undefined;
  return { reason: 'seccompProfile', detail: `${by} must not set securityContext.seccompProfile.type to ${sortedQuoted(values)}` };
}

const seccompProfile: Check = {
  id: 'seccompProfile_baseline',
  since: [
    [0, seccompAnnotations],
    [19, seccompFields],
  ],
};

const sysctlRule =
  (safe: ReadonlySet<string>): Rule =>
  ({ spec }) => {
    const wrong = (spec.securityContext?.sysctls ?? []).filter(({ name }) => !safe.has(name)).map(({ name }) => name);
    return wrong.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: wrong.join(', ') };
  };
/** Settings that a pod can change safely since a release. */
const laterSysctls: readonly (readonly [release: number, names: readonly string[]])[] = [
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes']],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];
const safeSysctlsIn = (release: number): ReadonlySet<string> =>
  new Set([...safeSysctls, ...laterSysctls.filter(([since]) => since <= release).flatMap(([, names]) => names)]);

const sysctls: Check = {
  id: 'sysctls',
  since: [[0, sysctlRule(safeSysctls)], ...laterSysctls.map(([release]) => [release, sysctlRule(safeSysctlsIn(release))] as const)],
};

const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  since: [
    [
      0,
      ({ spec, containers }) => {
        const by = setters(
          spec.securityContext?.windowsOptions?.hostProcess === true,
          containers.filter(({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true),
        );
        if (by === '') return undefined;
        return { reason: 'hostProcess', detail: `${by} must not set securityContext.windowsOptions.hostProcess=true` };
      },
    ],
  ],
};

export const baseline: readonly Check[] = [
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfile,
  sysctls,
  windowsHostProcess,
];
