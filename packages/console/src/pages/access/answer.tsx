/** Why the action of the URL is allowed or refused, what would allow it, and who may do it. */
import { asApiError } from '../../api/api-error.ts';
import { explainKind } from '../../api/explain.ts';
import { useConsole } from '../../app/console.ts';
import { useLoaded } from '../../app/use.ts';
import { Badge } from '../../parts/badge.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Text } from '../../parts/text.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { askExplanation, type Explanation, explainByPolicy, type Grant } from './explanation.ts';
import { loadPolicy } from './load-policy.ts';
import { placeText } from './place-text.ts';
import { policyKinds, roleVersionOf } from './policy-kinds.ts';
import { Proposal } from './proposal.tsx';
import { actionText } from './question.ts';
import { type Action, type Person, type PolicyRule, personOf } from './rbac.ts';
import { WhoCan } from './who-can.tsx';

export interface AnswerProps {
  readonly action: Action;
  readonly person: Person | undefined;
}

export function Answer({ action, person }: AnswerProps) {
  const { discovery } = useConsole();
  if (discovery.state.value.phase === 'loading') return <Progress />;
  return (
    <div class="answer">
      <Why action={action} person={person} />
      <WhoCan action={action} />
    </div>
  );
}

function Why({ action, person }: AnswerProps) {
  const { api, discovery, session } = useConsole();
  const explainer = explainKind(discovery, 'accessexplanations');
  const kinds = policyKinds(discovery);
  const own = session.details?.user;
  const explanation = useLoaded(async (signal): Promise<Explanation> => {
    if (explainer !== undefined) return askExplanation(api, explainer, action, person, signal);
    if (kinds === undefined) throw new Error('This server has no roles, and does not explain its decisions.');
    const policy = await loadPolicy(api, kinds, 'path' in action ? '' : action.namespace, signal);
    return explainByPolicy(policy, action, person ?? personOf(own?.name ?? '', own?.groups ?? []), roleVersionOf(kinds));
  }, []);
  const who = person === undefined ? 'You' : visibleText(person.name);
  return (
    <section aria-labelledby="why-title">
      <h2 id="why-title">
        {who}: {visibleText(actionText(action))}
      </h2>
      {explanation.phase === 'loading' && <Progress />}
      {explanation.phase === 'failed' && <Failure error={explanation.error} isServer={explainer !== undefined} />}
      {explanation.phase === 'ready' && <Reasons explanation={explanation.value} who={who} isServer={explainer !== undefined} />}
    </section>
  );
}

function Failure({ error, isServer }: { readonly error: unknown; readonly isServer: boolean }) {
  return (
    <>
      <ErrorBox error={error} />
      {!isServer && asApiError(error).code === 403 && (
        <p class="quiet">This server does not explain its decisions, and you may not list the roles and bindings from which they follow.</p>
      )}
    </>
  );
}

interface ReasonsProps {
  readonly explanation: Explanation;
  readonly who: string;
  readonly isServer: boolean;
}
function Reasons({ explanation: { allowed, authorizers, allowedBy, nearest, proposal }, who, isServer }: ReasonsProps) {
  const asked = (authorizers ?? []).map(({ name, decision }) => `${name}: ${decision}`).join(', ');
  return (
    <>
      <p class="verdict">
        <Badge text={allowed ? `${who} may` : `${who} may not`} tone={allowed ? 'good' : 'bad'} />
      </p>
      <p class="quiet">
        {isServer ? 'Authorizers asked' : 'As far as roles and bindings tell'}: {visibleText(asked)}
      </p>
      {(authorizers ?? []).map(
        ({ name, reason }) =>
          reason !== undefined &&
          reason !== '' && (
            <p key={name} class="quiet">
              <Text value={reason} />
            </p>
          ),
      )}
      <Grants title="Allowed by" grants={allowedBy ?? []} />
      <Grants title="Nearest bindings" grants={nearest ?? []} />
      {!allowed && (proposal == null ? <p>No role can allow it, or none that you may see.</p> : <Proposal proposal={proposal} />)}
    </>
  );
}

const lackTexts = new Map([
  ['subject', 'it is bound to others'],
  ['role', 'its role does not exist'],
  ['verb', 'its rule lacks the verb'],
  ['apiGroup', 'its rule is for another API group'],
  ['resource', 'its rule is for another resource'],
  ['resourceName', 'its rule is for other names'],
  ['path', 'its rule is for another path'],
]);

function Grants({ title, grants }: { readonly title: string; readonly grants: readonly Grant[] }) {
  if (grants.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="grants">
        {grants.map(({ binding, role, rule, lacks }) => (
          <li key={`${binding.kind} ${binding.name}`}>
            <strong>{placeText(binding)}</strong> of {placeText(role)}
            {lacks != null && lacks.length > 0 && `: ${lacks.map((lack) => lackTexts.get(lack) ?? lack).join(', ')}`}
            {rule != null && (
              <div class="quiet">
                <Text value={ruleText(rule)} longest={160} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function ruleText({ verbs, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const what = [...(resources ?? []), ...(nonResourceURLs ?? [])].join(', ');
  return `${verbs.join(', ')} on ${what}${resourceNames?.length ? ` named ${resourceNames.join(', ')}` : ''}`;
}
