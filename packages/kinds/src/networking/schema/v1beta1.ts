/** The kinds of version 1beta1. */
import { inVersion } from '../../versions.ts';
import * as v1 from './ingress.ts';
import { ingressSchema } from './older.ts';

export const Ingress = ingressSchema('networking.v1beta1');
export const IngressClass = inVersion(v1.IngressClass, 'networking.v1beta1');
