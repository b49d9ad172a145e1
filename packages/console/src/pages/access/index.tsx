/** Who may do what: a matrix of verbs by kind, why an action is allowed or refused, and who else may do it. */
import { useConsole } from '../../app/console.ts';
import { useTitle } from '../../app/use.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { Answer } from './answer.tsx';
import { Matrix } from './matrix.tsx';
import { actionIn, personIn } from './question.ts';
import { QuestionForm } from './question-form.tsx';
import './access.css';

export default function Access() {
  const { location } = useConsole();
  useTitle('Access');
  const { namespace, query } = location.route.value;
  const person = personIn(query);
  const action = actionIn(query, namespace);
  const place = namespace === undefined ? 'in all namespaces' : `in ${visibleText(namespace)}`;
  return (
    <div class="access-page">
      <h1>Access {place}</h1>
      <QuestionForm key={query.toString()} />
      {action !== undefined && <Answer key={JSON.stringify([action, person])} action={action} person={person} />}
      <Matrix person={person} namespace={namespace} />
    </div>
  );
}
