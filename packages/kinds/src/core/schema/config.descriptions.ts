import type { Descriptions } from '../../description-texts.ts';

const keys = 'Keys consist of letters, digits, dashes, underscores and dots';

export const config: Descriptions = {
  'core.ConfigMap': {
    $: 'Configuration data for pods to consume, as environment variables or files. All of it has at most 1 MiB.',
    immutable: 'If true, neither the data nor this field can be changed again; only metadata can. Defaults to false.',
    data: `Entries with text values. ${keys}, and must not repeat those of binaryData.`,
    binaryData: `Entries with arbitrary bytes, in base64. ${keys}, and must not repeat those of data.`,
  },
  'core.Secret': {
    $: 'Confidential data such as passwords, tokens and keys. All of it has at most 1 MiB.',
    immutable: 'If true, neither the data nor this field can be changed again; only metadata can. Defaults to false.',
    data: `Entries with arbitrary bytes, in base64. ${keys}.`,
    stringData: 'Entries as plain text, for convenience: they are merged into data, where they win, and are never returned.',
    type: 'Type of the secret, which decides about required keys. Cannot be changed. Defaults to Opaque.',
  },
  'core.ServiceAccount': {
    $: 'An identity for processes in pods that use the API.',
    secrets: 'Secrets that pods of this service account may use. The list only matters to admission that enforces it.',
    imagePullSecrets: 'Secrets with registry credentials that pods of this service account get, if they name none themselves.',
    automountServiceAccountToken: 'Whether pods of this service account get a token mounted. A pod may say otherwise. Defaults to true.',
  },
};
