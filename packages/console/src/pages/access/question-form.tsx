/** Asks: whose rights, and for which action. */
import { useConsole } from '../../app/console.ts';
import { matrixVerbs } from './matrix.ts';
import { actionQuery, targetText } from './question.ts';

const otherVerbs = ['history', 'explain', 'impersonate', 'bind', 'escalate', 'use', 'approve', 'sign'];

export function QuestionForm() {
  const { discovery, location } = useConsole();
  const { query } = location.route.value;
  const ask = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string): string => String(data.get(name) ?? '').trim();
    location.setQuery(
      {
        user: field('user'),
        groups: field('user') === '' ? '' : field('groups'),
        ...actionQuery(field('verb'), field('target'), field('name'), discovery.kinds.value),
      },
      {},
    );
  };
  return (
    <form class="question" onSubmit={ask}>
      <Field name="user" label="User" placeholder="yourself" value={query.get('user')} />
      <Field name="groups" label="Groups" placeholder="team, admins" value={query.get('groups')} />
      <label>
        Verb
        <input name="verb" list="verbs" autocomplete="off" placeholder="delete" value={query.get('verb') ?? ''} />
      </label>
      <label>
        Kind or path
        <input name="target" list="targets" autocomplete="off" placeholder="pods" value={targetText(query)} />
      </label>
      <Field name="name" label="Name" placeholder="any" value={query.get('name')} />
      <button type="submit" class="primary">
        Ask
      </button>
      <datalist id="verbs">
        {[...matrixVerbs, ...otherVerbs].map((verb) => (
          <option key={verb} value={verb} />
        ))}
      </datalist>
      <datalist id="targets">
        {discovery.kinds.value.map(({ group, resource }) => (
          <option key={`${resource}.${group}`} value={group === '' ? resource : `${resource}.${group}`} />
        ))}
      </datalist>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | null;
}
function Field({ name, label, placeholder, value }: FieldProps) {
  return (
    <label>
      {label}
      <input name={name} autocomplete="off" spellcheck={false} placeholder={placeholder} value={value ?? ''} />
    </label>
  );
}
