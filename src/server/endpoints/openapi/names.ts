/**
 * Names of definitions.
 *
 *   core.v1.Pod              → io.k8s.api.core.v1.Pod
 *   meta.v1.ObjectMeta       → io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 *   Seed of garden.example.com/v1, a custom kind → com.example.garden.v1.Seed
 */
import { definitionPrefix, groupName, type Identity } from '../../../identity.ts';
import type { Resource } from '../../../registry/catalog.ts';

/** Packages of types that live outside the groups. */
const machinery: Readonly<Record<string, string>> = {
  meta: 'apis.meta',
  resource: 'api.resource',
  intstr: 'util.intstr',
  runtime: 'runtime',
  version: 'version',
};

export class Names {
  private readonly identity: Identity;
  private readonly known = new Map<string, string>();

  constructor(identity: Identity) {
    this.identity = identity;
  }

  /** By the name of a message: `apps.v1.Deployment`, `resource.Quantity`. */
  of(message: string): string {
    let name = this.known.get(message);
    if (name === undefined) {
      name = this.make(message);
      this.known.set(message, name);
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
    const cut = message.indexOf('.');
    const head = message.slice(0, cut);
    const rest = message.slice(cut + 1);
    const general = machinery[head];
    if (general !== undefined) return `${definitionPrefix(this.identity, 'machinery')}.${general}.${rest}`;
    if (head === 'apiextensions') return `${definitionPrefix(this.identity, 'extensions')}.${message}`;
    if (head === 'apiregistration') return `${definitionPrefix(this.identity, 'aggregation')}.${message}`;
    return `${definitionPrefix(this.identity, 'api')}.${message}`;
  }
  private custom(resource: Resource, kind: string): string {
    return `${resource.group.split('.').reverse().join('.')}.${resource.version}.${kind}`;
  }
}
