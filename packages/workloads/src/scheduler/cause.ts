/** What can keep a pod from a node, as far as different events change it. */
export const Cause = {
  /** Labels, taints and the mark of nodes that take no pods. */
  nodes: 1,
  resources: 2,
  ports: 4,
  podAffinity: 8,
  spread: 16,
  volumes: 32,
  /** A claim that is not there or not bound: no node was looked at, so that the next decision needs no delay. */
  claims: 64,
} as const;
