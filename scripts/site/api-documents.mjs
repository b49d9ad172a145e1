/**
 * What the browser of the API shows: for each release the types of its OpenAPI document, in a form that a page can search. Kinds of
 * all groups are types; a field has its name, type, whether it is required, its default, and its description.
 */

/** Path below docs/public/ → content. */
export async function apiDocuments({ apiReleases, startTestServer }) {
  const releases = apiReleases.slice(apiReleases.indexOf('1.24'));
  const files = new Map([['api/releases.json', JSON.stringify(releases)]]);
  for (const apiRelease of releases) {
    const server = await startTestServer({ identity: 'kubernetes', apiRelease });
    const { status, body } = await server.request('GET', '/openapi/v2');
    await server.close();
    if (status !== 200) throw new Error(`/openapi/v2 of ${apiRelease}: ${status}`);
    files.set(`api/${apiRelease}.json`, JSON.stringify(typesOf(typeof body === 'string' ? JSON.parse(body) : body)));
  }
  return files;
}

function typesOf({ definitions }) {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [
      name,
      {
        ...(schema.description && { d: schema.description }),
        ...(schema['x-kubernetes-group-version-kind'] && {
          k: schema['x-kubernetes-group-version-kind'].map(({ group, version, kind }) => [group, version, kind]),
        }),
        f: Object.entries(schema.properties ?? {}).map(([field, property]) => [
          field,
          typeOf(property),
          (schema.required ?? []).includes(field) ? 1 : 0,
          property.description ?? '',
          ...(property.default === undefined ? [] : [JSON.stringify(property.default)]),
        ]),
      },
    ]),
  );
}

/** `#io.k8s.api.core.v1.Pod` names a type, `[]` begins a list, `{}` a map. */
function typeOf(property) {
  if (property.$ref !== undefined) return `#${property.$ref.slice('#/definitions/'.length)}`;
  if (property.type === 'array') return `[]${typeOf(property.items ?? {})}`;
  if (property.additionalProperties !== undefined) return `{}${typeOf(property.additionalProperties)}`;
  return property.format ?? property.type ?? 'any';
}
