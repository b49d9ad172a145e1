/** Custom resource definitions. Their schema names its extensions after the identity. */
import type { Identity } from '../../identity.ts';
import { type Kind, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { type CustomResourceDefinition, customResourceDefinition } from './schema/v1.ts';

export const customResourceDefinitionKind = (identity: Identity): Kind =>
  kind<CustomResourceDefinition>({
    group: 'apiextensions',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    short: ['crd', 'crds'],
    categories: ['api-extensions'],
    scope: 'Cluster',
    versions: { v1: { schema: customResourceDefinition(identity.schemaExtensionPrefix) } },
    hub: 'v1',
    updateNeedsVersion: true,
    subresources: { status: status() },
  });
