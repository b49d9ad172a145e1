/**
 * Checks the expressions of validating policies against the types of the kinds that they are for, and writes what it finds into their
 * status. Each generation of a policy is checked once.
 */
import { unlessGone } from '@plat-dev/client/http';
import { type Informer, splitKey } from '@plat-dev/client/informer';
import { builtinKinds } from '@plat-dev/kinds';
import type { MatchResources, ValidatingAdmissionPolicy } from '@plat-dev/kinds/admissionregistration/schema/policies';
import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import { admissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { CheckedKind, ExpressionWarning, KindSchema } from '@plat-dev/kinds/expressions/type-check';
import { serve } from '@plat-dev/kinds/served-kind';
import { inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { Identity } from '@plat-dev/meta/identity';
import { builtin, type Controller } from './runtime/controller.ts';

const NAME = 'validatingadmissionpolicy-status-controller';
/** Most kinds of one policy that are looked at. */
const MAX_KINDS = 10;

/** The version of policies that all releases from one on have. */
const versionIn = (release: ApiRelease): string =>
  isAtLeast(release, '1.30') ? 'v1' : isAtLeast(release, '1.28') ? 'v1beta1' : 'v1alpha1';

export const policyTypeChecking = (release: ApiRelease): Controller => ({
  name: NAME,
  account: NAME,
  needs: { group: 'admissionregistration', plural: 'validatingadmissionpolicies' },
  start({ informers, queue, client, identity }) {
    const ref = builtin(identity, 'admissionregistration', versionIn(release), 'validatingadmissionpolicies', false);
    const policies = informers.of<ValidatingAdmissionPolicy>(ref);
    const definitions = informers.of<CustomResourceDefinition>(
      builtin(identity, 'apiextensions', 'v1', 'customresourcedefinitions', false),
    );
    const schemas = new Schemas(identity, release, definitions);
    const work = queue(
      async (key) => {
        const policy = policies.get('', splitKey(key).name);
        if (policy === undefined || isChecked(policy)) return;
        const expressionWarnings = await inSlices(warningsOf(policy, schemas, release), new Slices());
        const typeChecking = { expressionWarnings: expressionWarnings.length === 0 ? null : expressionWarnings };
        const status = { observedGeneration: policy.metadata.generation, typeChecking };
        await client.patchBriefly(ref, '', policy.metadata.name ?? '', { status }, 'status').catch(unlessGone);
      },
      { after: [policies.synced, definitions.synced], workers: 1 },
    );
    policies.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(`/${object.metadata.name ?? ''}`);
    });
  },
});

const isChecked = ({ metadata, status }: ValidatingAdmissionPolicy): boolean =>
  Number(status?.observedGeneration ?? 0) >= Number(metadata.generation ?? 1);

function* warningsOf(policy: ValidatingAdmissionPolicy, schemas: Schemas, release: ApiRelease): Work<ExpressionWarning[]> {
  const { typeWarnings } = yield* admissionExpressions();
  const { matchConstraints, paramKind } = policy.spec;
  const { group, version } = splitApiVersion(paramKind?.apiVersion ?? '');
  const params = paramKind && schemas.find((one) => one.group === group && one.version === version && one.kind === paramKind.kind)?.schema;
  return yield* typeWarnings(policy, schemas.kindsOf(matchConstraints), params, release);
}

interface Known {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema: KindSchema;
}

/** What is known of built-in and custom kinds. */
class Schemas {
  private readonly identity: Identity;
  private readonly builtins: readonly Known[];
  private readonly definitions: Informer<CustomResourceDefinition>;

  constructor(identity: Identity, release: ApiRelease, definitions: Informer<CustomResourceDefinition>) {
    this.identity = identity;
    this.definitions = definitions;
    this.builtins = builtinKinds(identity, release).flatMap((kind) =>
      serve(kind, identity, { release }).map(({ group, version, schema }) => ({
        group,
        version,
        kind: kind.kind,
        plural: kind.plural,
        schema: { message: schema },
      })),
    );
  }

  find(isWanted: (known: Known) => boolean): Known | undefined {
    return this.builtins.find(isWanted) ?? this.customs().find(isWanted);
  }
  private customs(): Known[] {
    const extensionPrefix = this.identity.schemaExtensionPrefix;
    return [...this.definitions.list()].flatMap(({ spec: { group, names, versions } }) =>
      (versions ?? []).flatMap(({ name, schema }) => {
        const root = schema?.openAPIV3Schema;
        const known = { group, version: name, kind: names.kind, plural: names.plural };
        return root === undefined ? [] : [{ ...known, schema: { schema: root, extensionPrefix } }];
      }),
    );
  }

  /** The kinds that rules name, in order. Rules with wildcards could be for anything: they are not looked at, nor are subresources. */
  kindsOf(constraints: MatchResources | undefined): CheckedKind[] {
    const found = new Map<string, CheckedKind>();
    for (const { apiGroups = [], apiVersions = [], resources = [] } of constraints?.resourceRules ?? []) {
      if ([...apiGroups, ...apiVersions].includes('*')) continue;
      const plurals = new Set(resources.filter((name) => !/[*/]/.test(name)));
      for (const group of apiGroups)
        for (const version of apiVersions)
          for (const plural of plurals) {
            if (found.size >= MAX_KINDS) break;
            const known = this.find((one) => one.group === group && one.version === version && one.plural === plural);
            const name = `${group}/${version}, Kind=${known?.kind ?? ''}`;
            if (known !== undefined) found.set(name, { name, schema: known.schema });
          }
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
