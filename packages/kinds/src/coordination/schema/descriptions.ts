import type { Descriptions } from '../../description-texts.ts';

export const coordination: Descriptions = {
  'coordination.Lease': {
    $: 'A lock with a holder that has to renew it, used for leader election and for node heartbeats.',
    spec: 'Who holds the lease and until when.',
  },
  'coordination.LeaseSpec': {
    $: 'The holder of a lease and the times of its hold.',
    holderIdentity: 'Identity of the present holder. Empty if it is not held.',
    leaseDurationSeconds: 'Seconds after renewTime at which others may take the lease. Must be positive.',
    acquireTime: 'When the present holder acquired the lease.',
    renewTime: 'When the present holder last renewed the lease.',
    leaseTransitions: 'How often the lease passed from one holder to another.',
    strategy: 'How the control plane chooses the holder among the candidates. Without it candidates agree among themselves.',
    preferredHolder: 'Who should hold the lease next: the present holder gives it up. Only allowed with a strategy.',
  },
};
