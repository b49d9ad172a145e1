/** networking/v1beta1. */
import { version } from '../kind.ts';
import { hubDefaults, type OlderVersions } from '../older.ts';
import { IngressClassKind } from './ingress-class.ts';
import { ingressFromHub, ingressToHub } from './older-backends.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const olderNetworking: readonly OlderVersions[] = [
  {
    group: 'networking',
    plural: 'ingresses',
    versions: {
      v1beta1: version({
        schema: v1beta1.Ingress,
        toHub: ingressToHub,
        fromHub: ingressFromHub,
      }),
    },
  },
  {
    group: 'networking',
    plural: 'ingressclasses',
    versions: {
      v1beta1: {
        schema: v1beta1.IngressClass,
        defaults: hubDefaults(IngressClassKind),
      },
    },
  },
];
