/** The controllers, by the names of the stock controller manager. */
import { garbageCollector } from './garbage/controller.ts';
import { namespaceController } from './namespace/controller.ts';
import { rootCAPublisher } from './root-ca-publisher.ts';
import type { Controller } from './runtime/controller.ts';
import { serviceAccountController } from './service-account.ts';

export interface ControllerSettings {
  /** PEM of the authorities that clients within the cluster trust this server by. */
  readonly rootCertificates: string;
  /** How long a namespace is left alone after its deletion began. */
  readonly namespaceDelayMs: number;
  /** How long an object that leaves its dependents behind is left alone. */
  readonly orphanDelayMs: number;
}

export function allControllers(settings: ControllerSettings): readonly Controller[] {
  return [
    namespaceController({ delayMs: settings.namespaceDelayMs }),
    garbageCollector({ settleMs: settings.orphanDelayMs }),
    serviceAccountController,
    rootCAPublisher(settings.rootCertificates),
  ];
}
