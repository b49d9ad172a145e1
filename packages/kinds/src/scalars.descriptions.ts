import type { Descriptions } from './description-texts.ts';

const schemaOr = 'A schema, or ';

/** Types that only the published documents name: scalars with a form of their own, choices, the answer of `/version`. */
export const scalars: Descriptions = {
  'meta.Patch': { $: 'A change to an object: a list of operations or a partial object, according to the media type of the request.' },
  'meta.Time': { $: 'A point in time as RFC 3339 writes it, in whole seconds, such as 2024-05-01T12:00:00Z.' },
  'meta.MicroTime': { $: 'A point in time as RFC 3339 writes it, with microseconds, such as 2024-05-01T12:00:00.000000Z.' },
  'meta.Duration': { $: 'A length of time as a number with a unit, such as 300ms, 1.5h or 2h45m.' },
  'meta.FieldsV1': {
    $: 'A set of fields as a tree: f:<name> stands for a field, k:<keys> for a list item by its keys, v:<value> for one by its value, and "." for the item itself.',
  },
  'api.resource.Quantity': {
    $: 'An amount as a decimal number with an optional suffix: m for thousandths, k M G T P E for powers of 1000, Ki Mi Gi Ti Pi Ei for powers of 1024. Examples are 500m, 1.5 and 2Gi.',
  },
  'util.intstr.IntOrString': { $: 'A number or a text: a port by number or by name, an amount by count or as a percentage such as 25%.' },
  'runtime.RawExtension': { $: 'An object of any kind, kept as it was sent.' },
  'apiextensions.JSON': { $: 'Any JSON value: a text, a number, true, false, null, a list or an object.' },
  'apiextensions.JSONSchemaPropsOrArray': { $: `${schemaOr}a list of schemas.` },
  'apiextensions.JSONSchemaPropsOrBool': { $: `${schemaOr}true where anything is allowed, false where nothing is.` },
  'apiextensions.JSONSchemaPropsOrStringArray': { $: `${schemaOr}a list of field names.` },
  'version.Info': {
    $: 'The version of the running server, and how it was built.',
    major: 'The major version of the API that the server implements, such as 1.',
    minor: 'The minor version of the API that the server implements, such as 24.',
    gitVersion: 'The full version, such as v1.24.17, with the build of the server after a plus sign.',
    gitCommit: 'The commit that the server was built from, if it is known.',
    gitTreeState: 'Whether the source tree had uncommitted changes at the build: clean or dirty.',
    buildDate: 'When the server was built, in the form of RFC 3339.',
    goVersion: 'The runtime that the server runs on; clients expect the field under this name.',
    compiler: 'The compiler or engine that runs the code of the server.',
    platform: 'Operating system and processor architecture, such as linux/amd64.',
  },
};
