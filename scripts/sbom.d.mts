export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly externalReferences?: readonly { readonly type: string; readonly url: string }[];
}
export interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}
export function runTimePart(bom: Bom, manifest: { readonly name: string; readonly dependencies?: Readonly<Record<string, string>> }): Bom;
