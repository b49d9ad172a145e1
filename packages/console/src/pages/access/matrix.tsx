/** Verbs by kind. A cell leads to its explanation; the form above does the same for the keyboard. */
import { useState } from 'preact/hooks';
import { builtInKind, explain } from '../../api/explain.ts';
import { useConsole } from '../../app/console.ts';
import { withQueryParts } from '../../app/routes.ts';
import { useLoaded } from '../../app/use.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Progress } from '../../parts/progress.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { loadPolicy } from './load-policy.ts';
import { type Cell, type MatrixRow, matrixRows, matrixVerbs } from './matrix.ts';
import { policyKinds } from './policy-kinds.ts';
import { type Person, type PolicyRule, rulesOfPerson } from './rbac.ts';

export interface MatrixProps {
  readonly person: Person | undefined;
  readonly namespace: string | undefined;
}

export function Matrix({ person, namespace }: MatrixProps) {
  const { discovery } = useConsole();
  const key = JSON.stringify([person, namespace]);
  return discovery.state.value.phase === 'loading' ? <Progress /> : <LoadedMatrix key={key} person={person} namespace={namespace} />;
}

interface Rules {
  readonly rules: readonly PolicyRule[];
  readonly isIncomplete: boolean;
}
/** No namespace has this name: bindings of the whole cluster are left. */
const NO_NAMESPACE = '*';

function LoadedMatrix({ person, namespace }: MatrixProps) {
  const { api, discovery } = useConsole();
  const [text, setText] = useState('');
  const review = builtInKind(discovery, 'authorization', 'v1', 'selfsubjectrulesreviews');
  const kinds = policyKinds(discovery);
  const loaded = useLoaded(async (signal): Promise<Rules> => {
    if (person === undefined && review !== undefined) {
      const status = await explain<RulesStatus>(api, review, { namespace: namespace ?? NO_NAMESPACE }, signal);
      return { rules: [...(status.resourceRules ?? [])], isIncomplete: status.incomplete === true };
    }
    if (person === undefined || kinds === undefined) throw new Error('This server has no roles from which rights could be told.');
    return { rules: rulesOfPerson(await loadPolicy(api, kinds, namespace ?? '', signal), person, namespace ?? ''), isIncomplete: false };
  }, []);
  const title = person === undefined ? 'What you may do' : `What ${visibleText(person.name)} may do by roles`;
  return (
    <section aria-labelledby="matrix-title">
      <div class="matrix-head">
        <h2 id="matrix-title">{title}</h2>
        <input
          type="search"
          aria-label="Filter kinds"
          placeholder="Filter kinds"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <p class="quiet">
        {namespace === undefined && 'In every namespace. Choose a namespace at the top to see what is allowed there. '}✓ yes · ◐ objects of
        certain names · – no: choose it to see why
      </p>
      {loaded.phase === 'loading' && <Progress />}
      {loaded.phase === 'failed' && <ErrorBox error={loaded.error} />}
      {loaded.phase === 'ready' && (
        <>
          {loaded.value.isIncomplete && <p class="quiet">The server says that this is not all: not every authorizer lists its rules.</p>}
          <MatrixTable rows={matrixRows(loaded.value.rules, discovery.kinds.value, text, namespace)} />
        </>
      )}
    </section>
  );
}
interface RulesStatus {
  readonly resourceRules?: readonly PolicyRule[] | null;
  readonly incomplete?: boolean;
}

function MatrixTable({ rows }: { readonly rows: readonly MatrixRow[] }) {
  if (rows.length === 0) return <p>No kind fits the filter.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="matrix" aria-label="Verbs by kind" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {matrixVerbs.map((verb) => (
              <th key={verb} scope="col">
                {verb === 'deletecollection' ? 'delete all' : verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <MatrixLine key={`${row.kind.group}/${row.kind.resource}`} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const marks: Readonly<Record<Cell, string>> = { yes: '✓', some: '◐', no: '–', absent: '' };
const words: Readonly<Record<Cell, string>> = { yes: 'yes', some: 'some', no: 'no', absent: 'not a verb of this kind' };

function MatrixLine({ row: { kind, cells } }: { readonly row: MatrixRow }) {
  const { location } = useConsole();
  const { query } = location.route.value;
  const { group, resource } = kind;
  const name = group === '' ? resource : `${resource}.${group}`;
  const href = (verb: string): string =>
    withQueryParts(window.location.pathname, query, { verb, group, resource, subresource: '', name: '', path: '' });
  return (
    <tr>
      <th scope="row">
        {visibleText(resource)} {group !== '' && <span class="quiet">{visibleText(group)}</span>}
      </th>
      {cells.map((cell, index) => {
        const verb = matrixVerbs[index] as string;
        return (
          <td key={verb} class={`cell-${cell}`}>
            {cell !== 'absent' && (
              <a href={href(verb)} tabIndex={-1} aria-label={`${verb} ${name}: ${words[cell]}`}>
                {marks[cell]}
              </a>
            )}
          </td>
        );
      })}
    </tr>
  );
}
