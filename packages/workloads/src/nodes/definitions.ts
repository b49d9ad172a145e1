/** The kinds that configure simulated nodes, as definitions of custom resources: NodePool and PodLifecycle. */
import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { approvalAnnotation, groupName, type Identity, simulationGroup } from '@plat-dev/meta/identity';
import { STAGES_LIMIT, stageNames } from './lifecycle/lifecycle.ts';
import { MESSAGE_BYTES } from './lifecycle/termination-message.ts';
import { MAX_NODES } from './settings.ts';

export type Definition = Wire<CustomResourceDefinition>;
export const VERSION = 'v1alpha1';

const text = { type: 'string' };
const texts = { type: 'object', additionalProperties: text };
/** Checks a pool for what its nodes would be refused for. Names of labels cannot be checked by a schema. */
const labelValue = { type: 'string', maxLength: 63, pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$' };
const labelName = {
  type: 'string',
  maxLength: 317,
  pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
};
const quantity = { type: 'string', pattern: '^[0-9]+([.][0-9]*)?([numk]|[KMGTPE]i?|[eE][0-9]+)?$' };
/** Each part at most some decades, so that they are a duration together. */
const part = (digits: number, unit: string): string => `[0-9]{1,${digits}}(\\.[0-9]{1,9})?${unit}`;
const duration = { type: 'string', pattern: `^(${part(5, 'h')}|${part(7, 'm')}|${part(9, 's')}|${part(12, 'ms')}){1,8}$|^0$` };

const poolSchema = {
  type: 'object',
  description: 'Simulated nodes that are alike, named after the pool: NAME-0, NAME-1, … A pool of the name node is ignored.',
  properties: {
    spec: {
      type: 'object',
      required: ['count'],
      properties: {
        count: { type: 'integer', minimum: 0, maximum: MAX_NODES, description: 'Number of nodes.' },
        labels: {
          type: 'object',
          additionalProperties: labelValue,
          description: 'Labels of the nodes, besides those that every node has.',
        },
        taints: {
          type: 'array',
          description: 'Taints of the nodes.',
          items: {
            type: 'object',
            required: ['key', 'effect'],
            properties: {
              key: labelName,
              value: labelValue,
              effect: { type: 'string', enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
            },
          },
        },
        capacity: {
          type: 'object',
          additionalProperties: quantity,
          description: 'Capacity by resource, such as cpu, memory and pods. Absent ones have the usual amount.',
        },
        zones: { type: 'array', items: labelValue, description: 'Zones that the nodes are spread over, in turn.' },
        region: { ...labelValue, description: 'Region of the nodes.' },
      },
    },
    status: {
      type: 'object',
      properties: {
        nodes: { type: 'integer' },
        ready: { type: 'integer' },
        observedGeneration: { type: 'integer', format: 'int64' },
        message: { type: 'string', description: 'Why there are fewer nodes than wanted.' },
      },
    },
  },
};

const lifecycleSchema = {
  type: 'object',
  description: 'How pods on simulated nodes start, run and stop. Of several that select a pod, the first by name is used.',
  properties: {
    spec: {
      type: 'object',
      required: ['stages'],
      properties: {
        selector: {
          type: 'object',
          description: 'Pods by their labels. Absent: all.',
          properties: {
            matchLabels: texts,
            matchExpressions: {
              type: 'array',
              items: {
                type: 'object',
                required: ['key', 'operator'],
                properties: { key: text, operator: text, values: { type: 'array', items: text } },
              },
            },
          },
        },
        namespaces: { type: 'array', items: text, description: 'Namespaces of the pods. Absent: all.' },
        images: {
          type: 'array',
          items: text,
          description: 'Names of images, with * for any text: pods that have such a container. Absent: all.',
        },
        stages: {
          type: 'array',
          maxItems: STAGES_LIMIT,
          description:
            'What differs from the usual life cycle, in which every stage takes no time and containers run until they are stopped.',
          items: {
            type: 'object',
            required: ['stage'],
            properties: {
              stage: {
                type: 'string',
                enum: [...stageNames],
                description:
                  'pull: before containers start. init: how long each init container runs. ready: from the start of a container until it is ready. live: from its start until liveness probes fail. exit: from its start until it exits. terminate: from the deletion until containers are stopped.',
              },
              containers: {
                type: 'array',
                maxItems: STAGES_LIMIT,
                items: text,
                description: 'Names of the containers that the stage is about, with * for any text. Absent: all.',
              },
              delay: { ...duration, description: 'How long the stage takes, such as 500ms or 1m30s.' },
              jitter: { ...duration, description: 'Up to so much is added to the delay.' },
              fails: { type: 'boolean', description: 'Of pull: the image cannot be pulled.' },
              never: {
                type: 'boolean',
                description: 'Of ready: containers are never ready. Of exit and init: they never exit by themselves.',
              },
              probes: {
                type: 'boolean',
                description:
                  'Of ready: true: all probes count, with their delays; false: none does. Absent: those of readiness do, at once.',
              },
              exitCode: { type: 'integer', minimum: 0, maximum: 255, description: 'Of exit and init.' },
              reason: { type: 'string', description: 'Of exit and init: Completed, Error or OOMKilled.' },
              message: {
                type: 'string',
                maxLength: MESSAGE_BYTES,
                description: 'Of exit and init: the termination message. Alone it does not say when the container exits.',
              },
            },
          },
        },
      },
    },
  },
};

export function definitionsOf(identity: Identity): Definition[] {
  const columns = [
    { name: 'Nodes', type: 'integer', jsonPath: '.spec.count' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];
  return [
    definition(identity, 'NodePool', 'nodepools', poolSchema, { additionalPrinterColumns: columns, subresources: { status: {} } }),
    definition(identity, 'PodLifecycle', 'podlifecycles', lifecycleSchema, {}),
  ];
}

function definition(identity: Identity, kind: string, plural: string, schema: object, more: object): Definition {
  const group = simulationGroup(identity);
  return {
    apiVersion: joinApiVersion(groupName(identity, 'apiextensions'), 'v1'),
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { [approvalAnnotation(identity)]: 'unapproved, part of the simulation of nodes' },
    },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Cluster',
      versions: [{ name: VERSION, served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  } as unknown as Definition;
}
