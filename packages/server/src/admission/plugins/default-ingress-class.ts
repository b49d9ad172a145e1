/** DefaultIngressClass: an ingress without a class gets the default class. */

import type { Ingress } from '@plat-dev/kinds/networking/schema/ingress';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { defaultOf } from './default-class.ts';

export const defaultIngressClass: MakePlugin = ({ identity, live }) => {
  const marks = [domainName(identity, 'is-default-class', 'ingressclass')];
  const oldAnnotation = domainName(identity, 'ingress.class');
  const several = (count: number): string => `${count} default IngressClasses were found, only 1 allowed`;
  const defaultClass = defaultOf(live('networking', 'ingressclasses'), marks, several);
  return {
    name: 'DefaultIngressClass',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('networking/ingresses'),
    admit(request) {
      if (request.subresource !== '') return;
      const ingress = request.object as unknown as Ingress;
      if (ingress.spec.ingressClassName !== undefined || ingress.metadata.annotations?.[oldAnnotation] !== undefined) return;
      try {
        const name = defaultClass();
        if (name !== undefined) ingress.spec.ingressClassName = name;
      } catch (error) {
        throw refusal(request, (error as Error).message);
      }
    },
  };
};
