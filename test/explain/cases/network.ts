/** Services and ingresses that lead nowhere. */
import type { Loose } from '../../support/server.ts';
import { type Case, pod, type Question, type World } from '../world.ts';
import { core, labels, node, podOn, ready, running, waiting } from './objects.ts';

export const service = (spec: object = {}): Loose => ({
  metadata: { name: 'web' },
  spec: { selector: labels, ports: [{ port: 80 }], ...spec },
});
const ingress = (port: object, more: object = {}): Loose => ({
  metadata: { name: 'web' },
  spec: { defaultBackend: { service: { name: 'web', port } }, ...more },
});
const ingressQuestion = (world: World): Question => ({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  namespace: world.ns,
  name: 'web',
});

export const networkCases: readonly Case[] = [
  {
    title: 'a service whose selector matches no pods',
    make: async (world) => {
      await world.put('services', service());
      await world.put('pods', pod('other', {}, { labels: { app: 'other' } }));
      return core(world, 'services', 'web');
    },
    reason: 'SelectorMatchesNothing',
    message: /^No pods have the labels of its selector \(app=web\).$/,
    command: /^get pods -n \S+ --show-labels$/,
  },
  {
    title: 'a service whose port the pods do not have',
    make: async (world) => {
      await world.put('services', service({ ports: [{ port: 80, targetPort: 'http' }] }));
      await world.put('pods', podOn('web', [running({ ready: true })], { status: { conditions: ready } }));
      return core(world, 'services', 'web');
    },
    reason: 'PortMissing',
    message: /^Its port leads to the container port http, which its pods do not have.$/,
    command: /./,
  },
  {
    title: 'an ingress whose service does not exist',
    make: async (world) => {
      await world.put('ingresses', ingress({ number: 80 }));
      return ingressQuestion(world);
    },
    reason: 'ServiceMissing',
    message: /^Its service web does not exist.$/,
    command: /^get services -n /,
  },
  {
    title: 'an ingress whose service has another port',
    make: async (world) => {
      await world.put('services', service());
      await world.put('ingresses', ingress({ number: 8080 }));
      return ingressQuestion(world);
    },
    reason: 'ServicePortMissing',
    message: /^Its service web has no port 8080.$/,
    command: /^describe services\/web -n /,
  },
  {
    title: 'an ingress whose service has pods that crash',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      await world.put('services', service());
      await world.put('ingresses', ingress({ number: 80 }));
      await world.put('pods', podOn('web', [waiting('CrashLoopBackOff')]));
      return ingressQuestion(world);
    },
    reason: 'Crash',
    message: /^The container main ends.$/,
    command: /^logs web /,
    chain: 'ingresses/web → services/web → pods/web',
  },
  {
    title: 'a service that waits for its load balancer',
    make: async (world) => {
      await world.put('services', service({ type: 'LoadBalancer' }));
      await world.put('pods', podOn('web', [running({ ready: true })], { status: { conditions: ready } }));
      return core(world, 'services', 'web');
    },
    reason: 'LoadBalancerPending',
    message: /^It waits for the address of its load balancer.$/,
    command: /^describe services\/web -n /,
  },
  {
    title: 'an ingress whose class does not exist',
    make: async (world) => {
      await world.put('ingresses', ingress({ number: 80 }, { ingressClassName: 'edge' }));
      return ingressQuestion(world);
    },
    reason: 'IngressClassMissing',
    message: /^Its ingress class edge does not exist.$/,
    command: /^get ingressclasses$/,
    also: 'ServiceMissing',
  },
  {
    title: 'an ingress whose certificate is missing',
    make: async (world) => {
      await world.put('services', service({ selector: {} }));
      await world.put('ingresses', ingress({ number: 80 }, { tls: [{ secretName: 'certificate' }] }));
      return ingressQuestion(world);
    },
    reason: 'SecretMissing',
    message: /^The secret certificate of its TLS settings does not exist.$/,
    command: /^get secrets -n /,
  },
];
