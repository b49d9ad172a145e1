import type { Chart } from '../chart.ts';
import { backup } from './backup.ts';
import { database } from './database.ts';
import { identityProvider } from './identity-provider.ts';
import { ingressController } from './ingress-controller.ts';
import { messageQueue } from './message-queue.ts';
import { monitoring } from './monitoring.ts';
import { operator } from './operator.ts';
import { pipelines } from './pipelines.ts';
import { serviceMesh } from './service-mesh.ts';
import { storageDriver } from './storage-driver.ts';

export const charts: readonly Chart[] = [
  ingressController,
  operator,
  database,
  monitoring,
  messageQueue,
  pipelines,
  serviceMesh,
  backup,
  identityProvider,
  storageDriver,
];
