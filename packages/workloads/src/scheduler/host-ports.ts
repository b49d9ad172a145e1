/** Ports of a node that its pods use, by address and protocol. */
import type { WorkloadPod } from '../shared/pods.ts';

export interface HostPort {
  readonly protocol: string;
  readonly port: number;
  readonly ip: string;
}

type Spec = NonNullable<WorkloadPod['spec']>;

const ANY_ADDRESS = '0.0.0.0';

/** Init containers do not hold ports: they are over when the others start. */
export function hostPorts({ containers }: Pick<Spec, 'containers'>): HostPort[] {
  return (containers ?? []).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }) =>
      hostPort <= 0 ? [] : [{ protocol, port: hostPort, ip: hostIP === '' ? ANY_ADDRESS : hostIP }],
    ),
  );
}

/** The same port of two addresses is free; that of all addresses conflicts with each. */
export class UsedPorts {
  private readonly used = new Map<string, Map<string, number>>();

  get size(): number {
    return this.used.size;
  }
  add({ protocol, port, ip }: HostPort): void {
    const key = `${protocol}/${port}`;
    let addresses = this.used.get(key);
    if (addresses === undefined) {
      addresses = new Map();
      this.used.set(key, addresses);
    }
    addresses.set(ip, (addresses.get(ip) ?? 0) + 1);
  }
  remove({ protocol, port, ip }: HostPort): void {
    const key = `${protocol}/${port}`;
    const addresses = this.used.get(key);
    const remaining = (addresses?.get(ip) ?? 0) - 1;
    if (remaining > 0) addresses?.set(ip, remaining);
    else addresses?.delete(ip);
    if (addresses?.size === 0) this.used.delete(key);
  }
  conflicts({ protocol, port, ip }: HostPort): boolean {
    const addresses = this.used.get(`${protocol}/${port}`);
    return addresses !== undefined && (ip === ANY_ADDRESS || addresses.has(ip) || addresses.has(ANY_ADDRESS));
  }
}
