/**
 * Sets of manifests in the manner of public charts, each in two releases. The second changes what upgrades usually change: images,
 * ports, environment, containers and volumes that come and go, rules, data; objects that only one of the releases has.
 */
export interface Values {
  /** The release of the chart. */
  readonly version: 1 | 2;
  readonly namespace: string;
  /** Where the admission webhook of the operator answers, and the CA of its certificate. */
  readonly webhook: { readonly url: string; readonly caBundle: string };
}

export interface Chart {
  readonly name: string;
  /** Custom kinds, which are there before anything else, and stay. */
  readonly definitions?: string;
  /** Manifests as YAML documents. */
  readonly manifests: (values: Values) => string;
}

/** The labels of all objects of a release, as charts have them; indented by so many blanks. */
export function labels(chart: string, values: Values, indent = 4): string {
  return [
    `app.kubernetes.io/name: ${chart}`,
    `app.kubernetes.io/instance: ${chart}`,
    `app.kubernetes.io/version: "${values.version}.4.0"`,
    `helm.sh/chart: ${chart}-${values.version}.0.0`,
  ]
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');
}

/** Lines for one of the releases only. */
export const only = (isThere: boolean, text: string): string => (isThere ? text.replace(/^\n/, '').trimEnd() : '');
