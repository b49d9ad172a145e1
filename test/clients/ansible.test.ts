/** Ansible's modules of kubernetes.core (Debian's ansible): the tasks of a playbook. */
import { describe } from 'vitest';
import { ansibleMissing, scriptTests } from '../support/foreign-client.ts';

const missing = ansibleMissing();
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`Ansible (${missing ?? 'found'})`, () => {
  scriptTests('ansible', 'playbook.yaml', { identity: 'kubernetes', workloads }, [
    'k8s: an object is created',
    'k8s: the same again changes nothing',
    'k8s: in check mode nothing is stored',
    'k8s: patched',
    'k8s: apply with a wait until the deployment is available',
    'k8s: apply on the server, and its conflicts',
    'k8s: apply on the server by force',
    'k8s: a definition, with a wait until it is established',
    'k8s: an object of it',
    'k8s_info: by labels, by fields, with a wait',
    'k8s_info: what is not there is an empty list',
    'k8s_exec: a command in a pod',
    'k8s_exec: a command that fails',
    'k8s_log: of a deployment',
    'k8s_scale: up, from the number that is there',
    'k8s_json_patch: an image is changed',
    'k8s_rollback: to the image before',
    'k8s_drain: a node is drained',
    'k8s_drain: and takes pods again',
    'k8s: absent, with a wait',
  ]);
});
