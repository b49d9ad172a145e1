/** `plat rollout`: manages the rollouts of deployments, daemon sets and stateful sets. */
import type { CommandEntry } from '../command.ts';
import { commandGroup } from '../command-group.ts';

const changes = () => import('./change.ts');

const commands: readonly CommandEntry[] = [
  { name: 'history', summary: 'Show the revisions of workloads.', load: async () => (await import('./history.ts')).history },
  { name: 'pause', summary: 'Pause the rollout of deployments.', load: async () => (await changes()).pause },
  { name: 'restart', summary: 'Restart the pods of workloads.', load: async () => (await changes()).restart },
  { name: 'resume', summary: 'Resume a paused rollout.', load: async () => (await changes()).resume },
  { name: 'status', summary: 'Show the status of a rollout.', load: async () => (await import('./status.ts')).status },
  { name: 'undo', summary: 'Roll back to an earlier revision.', load: async () => (await import('./undo.ts')).undo },
];

export const rollout = commandGroup('rollout', 'Manage rollouts of deployments, daemon sets and stateful sets.', commands, [
  'plat rollout status deployment/web --timeout=2m',
  'plat rollout restart deployment -l app=web',
  'plat rollout undo deployment/web --to-revision=3',
]);
