import { readGoal } from '@plat-dev/cli/objects/wait-args';

const pod = (phase: string) => ({ metadata: { name: 'web' }, status: { phase } });

// What `plat wait --for=…` waits for.
const goal = readGoal('jsonpath={.status.phase}=Running');
console.log(goal.met(pod('Pending')), goal.met(pod('Running')));
