/** The users, groups and service accounts that may do something. */
import { explain, explainKind } from '../../api/explain.ts';
import { useConsole } from '../../app/console.ts';
import { useLoaded } from '../../app/use.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { type AllowedSubject, attributesOf, type SubjectList, subjectsByPolicy } from './explanation.ts';
import { loadPolicy } from './load-policy.ts';
import { placeText } from './place-text.ts';
import { policyKinds } from './policy-kinds.ts';
import type { Action } from './rbac.ts';

const SHOWN = 100;

export function WhoCan({ action }: { readonly action: Action }) {
  const { api, discovery } = useConsole();
  const searcher = explainKind(discovery, 'subjectsearches');
  const kinds = policyKinds(discovery);
  const found = useLoaded(async (signal): Promise<SubjectList> => {
    if (searcher !== undefined) return explain<SubjectList>(api, searcher, attributesOf(action), signal);
    if (kinds === undefined) throw new Error('This server has no roles.');
    return subjectsByPolicy(await loadPolicy(api, kinds, 'path' in action ? '' : action.namespace, signal), action);
  }, []);
  return (
    <section aria-labelledby="who-title">
      <h2 id="who-title">Who can</h2>
      {found.phase === 'loading' && <Progress />}
      {found.phase === 'failed' && <ErrorBox error={found.error} />}
      {found.phase === 'ready' && <Subjects list={found.value} />}
    </section>
  );
}

function Subjects({ list: { subjects, incomplete } }: { readonly list: SubjectList }) {
  const all = subjects ?? [];
  return (
    <>
      {all.length === 0 && <p>Nobody, as far as you may see.</p>}
      <ul class="grants">
        {all.slice(0, SHOWN).map((one) => (
          <SubjectLine key={JSON.stringify(one)} allowed={one} />
        ))}
      </ul>
      {all.length > SHOWN && <p class="quiet">And {all.length - SHOWN} more.</p>}
      {incomplete != null && incomplete.length > 0 && <p class="quiet">Not complete: {visibleText(incomplete.join('; '))}.</p>}
    </>
  );
}

function SubjectLine({ allowed: { subject, binding, role } }: { readonly allowed: AllowedSubject }) {
  return (
    <li>
      <strong>{placeText(subject)}</strong>{' '}
      <span class="quiet">{binding == null || role == null ? 'may do everything' : `by ${placeText(binding)} of ${placeText(role)}`}</span>
    </li>
  );
}
