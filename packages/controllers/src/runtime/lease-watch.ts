/**
 * Whether the leases of nodes are watched by a controller of this process, which believes each for as long as it says. Then nodes
 * that are simulated here renew theirs rarely; any other watcher expects the usual pace.
 */
import type { Informers } from './informers.ts';

export interface LeaseWatch {
  here: boolean;
}

export const leaseWatch = (informers: Informers): LeaseWatch => informers.share('watch of node leases', () => ({ here: false }));
