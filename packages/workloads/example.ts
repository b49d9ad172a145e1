import { workloadControllers } from '@plat-dev/workloads';

const { controllers, others } = workloadControllers({
  parts: new Set(['controllers', 'scheduler']),
  simulatedNodes: 0,
  loadBalancerRange: [],
  feature: () => true,
});
console.log(controllers.map(({ name }) => name).includes('deployment'), others[0]?.name);
