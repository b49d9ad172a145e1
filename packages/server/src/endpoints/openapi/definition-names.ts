/**
 * Names of definitions.
 *
 *   core.v1.Pod              → io.k8s.api.core.v1.Pod
 *   meta.v1.ObjectMeta       → io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 *   Seed of garden.example.com/v1, a custom kind → com.example.garden.v1.Seed
 */
import { type DefinitionFamily, definitionPrefix, groupName, type Identity } from '@plat-dev/meta/identity';
import type { Resource } from '../../registry/catalog.ts';

/** Types without a group: `api.resource.Quantity`, `util.intstr.IntOrString`, `runtime.RawExtension`, `version.Info`. */
const machinery = new Set(['api', 'util', 'runtime', 'version']);

export class Names {
  private readonly identity: Identity;
  private readonly namesByType = new Map<string, string>();

  constructor(identity: Identity) {
    this.identity = identity;
  }

  /** By the name of a message: `apps.v1.Deployment`, `api.resource.Quantity`. */
  of(message: string): string {
    let name = this.namesByType.get(message);
    if (name === undefined) {
      name = this.make(message);
      this.namesByType.set(message, name);
    }
    return name;
  }
  ofResource(resource: Resource): string {
    return resource.custom ? this.custom(resource, resource.kind.kind) : this.of(resource.schema.name);
  }
  ofList(resource: Resource): string {
    return resource.custom ? this.custom(resource, resource.kind.listKind) : this.of(`${resource.schema.name}List`);
  }
  groupName(base: string): string {
    return groupName(this.identity, base);
  }

  private make(message: string): string {
    const head = message.slice(0, message.indexOf('.'));
    const prefix = (family: DefinitionFamily) => definitionPrefix(this.identity, family);
    if (head === 'meta') return `${prefix('machinery')}.apis.${message}`;
    if (machinery.has(head)) return `${prefix('machinery')}.${message}`;
    if (head === 'apiextensions') return `${prefix('extensions')}.${message}`;
    if (head === 'apiregistration') return `${prefix('aggregation')}.${message}`;
    return `${prefix('api')}.${message}`;
  }
  private custom(resource: Resource, kind: string): string {
    return `${resource.group.split('.').reverse().join('.')}.${resource.version}.${kind}`;
  }
}
